//! The life of the whole process: start, what it warns of, what it passes on and never logs, and its end.

use std::process::Stdio;

use blackbar::otlp::Signal;
use bytes::Bytes;

use crate::receive_support::{PROTOBUF, TRACES, exchange, frame, grpc, post, read_response, soon};
use crate::support::backend::{Answer, Backend};
use crate::support::client::{Client, Via};
use crate::support::config;
use crate::support::process::Process;

/// A `blackbar` before this backend, with short times for its end.
async fn before(backend: &Backend, quiet: &str) -> Process {
    let exporter = format!("otlp_http: {{endpoint: '{}', timeout: 60s}}", backend.http_url());
    let shutdown = format!("  shutdown: {{quiet: {quiet}, linger: 60s, drain: 60s}}\n");
    Process::run(&(config(&exporter) + &shutdown)).await
}

async fn page(process: &Process, path: &str) -> u16 {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    exchange(process.address("health_check"), request.as_bytes()).await.status
}

#[tokio::test]
async fn the_first_signal_drains() {
    let backend = Backend::start().await;
    backend.script([Answer::Slow]);
    let process = before(&backend, "100ms").await;
    assert_eq!((page(&process, "/readyz").await, page(&process, "/healthz").await), (200, 200));
    let url = process.url("otlp/grpc");
    let in_flight =
        tokio::spawn(async move { Client::new().export(&url, Signal::Traces, Via::Grpc, &[]).await });
    backend.received(1).await;

    process.signal("TERM").await;
    soon(async { while page(&process, "/readyz").await == 200 {} }).await;
    assert_eq!((page(&process, "/readyz").await, page(&process, "/healthz").await), (503, 200));
    // Clients outlive a sidecar's SIGTERM: new connections are still served.
    for via in Via::ALL {
        assert!(Client::new().export(&process.url("otlp/http"), Signal::Logs, via, &[]).await.is_ok());
    }
    assert!(!in_flight.is_finished());
    backend.release();
    assert!(in_flight.await.unwrap().is_ok());
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("stopped"), "{log}");
}

#[tokio::test]
async fn the_second_signal_ends_at_once() {
    let backend = Backend::start().await;
    backend.script([Answer::Slow]);
    let process = before(&backend, "60s").await;
    let url = process.url("otlp/http");
    let in_flight = tokio::spawn(async move {
        let mut stream = tokio::net::TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, &post("/v1/traces", PROTOBUF, b"")).await.unwrap();
        let mut all = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut all).await;
        all
    });
    backend.received(1).await;
    process.signal("INT").await;
    soon(async { while page(&process, "/readyz").await == 200 {} }).await;
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(1), "{log}");
    assert_eq!(
        soon(in_flight).await.unwrap(),
        b"",
        "a request that was cut is not told that it was accepted"
    );
}

#[tokio::test]
async fn a_port_that_is_taken_stops_the_start() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (flag, name) in [("--grpc-endpoint", "otlp/grpc"), ("--http-endpoint", "otlp/http")] {
        let other = if flag == "--grpc-endpoint" { "--http-endpoint" } else { "--grpc-endpoint" };
        let args = ["run", "--exporter", "stdout", flag, &address, other, "127.0.0.1:0"];
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_blackbar"))
            .args(args)
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = soon(output).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code().is_some_and(|code| code != 0), "{said}");
        assert!(said.contains(&format!("cannot listen on {address} ({name})")), "{said}");
    }
}

#[tokio::test]
async fn a_request_that_goes_in_circles_is_refused() {
    let backend = Backend::start().await;
    let process = before(&backend, "0s").await;
    let address = process.address("otlp/http");
    for (hops, http, code) in [("7", 200, 0), ("8", 508, 9), ("4294967295", 508, 9)] {
        let headers = format!("{PROTOBUF}blackbar-hops: {hops}\r\n");
        let got = exchange(address, &post("/v1/traces", &headers, b"")).await;
        assert_eq!(got.status, http, "{hops}");
        let got = grpc(address, TRACES, &[("blackbar-hops", hops)], frame(0, b"")).await;
        assert_eq!(got.grpc_status(), code, "{hops}");
    }
    let passed = backend.requests();
    assert_eq!(passed.len(), 2);
    assert!(passed.iter().all(|request| request.header("blackbar-hops") == "8"));
}

#[tokio::test]
async fn a_pipeline_that_does_not_scrub_is_warned_of_at_each_start() {
    let backend = Backend::start().await;
    let exporter = format!("otlp_http: {{endpoint: '{}'}}", backend.http_url());
    let unsafe_traces = config(&exporter).replace("traces: {", "traces: {unsafe_no_scrub: true, ");
    for (config, warned) in [(config(&exporter), false), (unsafe_traces, true)] {
        let log = Process::run(&config).await.log();
        let found = log.lines().any(|line| line.contains("unsafe_no_scrub") && line.contains("WARN"));
        assert_eq!(found, warned, "{log}");
    }
}

/// What a client sends as its own credentials, and what may become of it.
const HEADERS: [(&str, &str); 6] = [
    ("authorization", "Bearer s3cr3t-one"),
    ("x-api-key", "s3cr3t-two"),
    ("x-s3cr3t-name", "s3cr3t-three"),
    ("cookie", "s3cr3t=four"),
    ("baggage", "s3cr3t=five"),
    ("proxy-authorization", "Basic s3cr3t-six"),
];

#[tokio::test]
async fn a_clients_headers_go_where_they_may_and_never_into_the_log() {
    let backend = Backend::start().await;
    let url = backend.http_url();
    let from_environment = Process::spawn(
        &["run", "--grpc-endpoint", "127.0.0.1:0", "--http-endpoint", "127.0.0.1:0"],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &url),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-own=s3cr3t-own"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("BLACKBAR__EXTENSIONS__HEALTH_CHECK__ENDPOINT", "127.0.0.1:0"),
        ],
    )
    .await;
    let from_file = Process::run(&config(&format!("otlp_http: {{endpoint: '{url}'}}"))).await;
    let named = format!("otlp_http: {{endpoint: '{url}', forward_headers: [x-api-key]}}");
    let from_file_named = Process::run(&config(&named)).await;

    let passing: [(&Process, &[&str]); 3] = [
        (&from_environment, &["authorization", "x-api-key", "x-s3cr3t-name"]),
        (&from_file, &[]),
        (&from_file_named, &["x-api-key"]),
    ];
    for (process, wanted) in passing {
        let client = Client::new();
        for (path, content_type, body) in [
            ("/s3cr3t/v1/traces?key=s3cr3t", "application/x-protobuf", Bytes::new()),
            (TRACES, "application/grpc", frame(0, b"").into()),
        ] {
            let mut headers = vec![("content-type", content_type), ("te", "trailers")];
            headers.extend(HEADERS);
            let url = format!("{}{path}", process.url("otlp/http"));
            assert!(client.send(&url, &headers, body).await.is_ok());
            let got = backend.last();
            for (name, value) in HEADERS {
                assert_eq!(got.header(name), if wanted.contains(&name) { value } else { "" }, "{name}");
            }
            assert!(!got.path.contains("s3cr3t"), "a client's path is not the backend's");
        }
        let address = process.address("otlp/http");
        let mut stream =
            crate::receive_support::connect(address, b"GET /s3cr3t?s3cr3t HTTP/9.9\r\n\r\n").await;
        assert_eq!(soon(read_response(&mut stream)).await.status, 400);
        let metrics = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let page = exchange(process.address("health_check"), metrics).await;
        assert!(!String::from_utf8_lossy(&page.body).contains("s3cr3t"));
        assert!(!process.log().contains("s3cr3t"), "{}", process.log());
    }
}
