//! The error table and the mapping between protocols, through the whole process: each client protocol against each
//! backend protocol, for every kind of answer. What the doors and the exporters do alone is tested on their own.

use std::time::Duration;

use blackbar::otlp::{Encoding, Signal, reply};
use prost::Message;
use tonic_types::StatusExt;

use crate::receive_support::{JSON, MIB, PROTOBUF, TRACES, connect, exchange, frame, grpc, gzip, post};
use crate::receive_support::{read_response, soon};
use crate::support::backend::{Answer, Backend};
use crate::support::backend_answer::ExportResponse;
use crate::support::client::{self, Client, Via};
use crate::support::config;
use crate::support::process::Process;

/// The backend's words: for the client, never for the log.
const WORDS: &str = "echo of s3cr3t-in-the-words \u{e9}";

/// What a client must be told.
#[derive(Debug, Clone, Copy)]
enum Told {
    Accepted,
    Partly {
        rejected: i64,
    },
    /// HTTP status, gRPC code, seconds to wait, whether in the backend's words.
    Refused(u16, i32, Option<u64>, bool),
}
use Told::{Accepted, Partly, Refused};

/// What speaks the backend's protocol, as the exporter's settings say it.
const EXPORTERS: [(&str, &str); 4] = [
    ("otlp_grpc", ""),
    ("otlp_http", ", encoding: proto"),
    ("otlp_http", ", encoding: json"),
    ("otlp_grpc", ", compression: gzip"),
];

fn http(status: u16, retry_after: Option<&str>) -> Answer {
    Answer::Http { status, retry_after: retry_after.map(str::to_owned), message: WORDS }
}

fn status(code: i32, retry: Option<u64>) -> Answer {
    Answer::Grpc { code, message: WORDS, retry_after: retry.map(Duration::from_secs) }
}

/// Answers that mean the same in both protocols.
fn common() -> Vec<(Answer, Told)> {
    vec![
        (Answer::Success, Accepted),
        (Answer::PartialSuccess { rejected: 3, message: WORDS }, Partly { rejected: 3 }),
        // A warning: everything was accepted.
        (Answer::PartialSuccess { rejected: 0, message: WORDS }, Partly { rejected: 0 }),
        (Answer::Garbage, Refused(500, 13, None, false)),
        (Answer::Reset, Refused(503, 14, Some(1), false)),
        (Answer::CloseMidBody, Refused(503, 14, Some(1), false)),
    ]
}

fn of_http_backend() -> Vec<(Answer, Told)> {
    let mut rows = common();
    rows.extend([
        (Answer::EmptySuccess, Accepted),
        (http(429, Some("7")), Refused(503, 14, Some(7), true)),
        (http(429, None), Refused(503, 14, Some(1), true)),
        (http(502, None), Refused(503, 14, Some(1), true)),
        (http(503, Some("2")), Refused(503, 14, Some(2), true)),
        (http(503, Some("garbage")), Refused(503, 14, Some(1), true)),
        (http(504, None), Refused(503, 14, Some(1), true)),
        (http(400, None), Refused(400, 3, None, true)),
        // A wait that comes with a final refusal is no reason to try again.
        (http(400, Some("5")), Refused(400, 3, None, true)),
        (http(401, None), Refused(401, 16, None, true)),
        (http(403, None), Refused(403, 7, None, true)),
        (http(404, None), Refused(404, 5, None, true)),
        (http(413, None), Refused(413, 8, None, true)),
        (http(422, None), Refused(422, 13, None, true)),
        (http(500, None), Refused(500, 13, None, true)),
        (http(501, None), Refused(501, 13, None, true)),
        (http(302, None), Refused(500, 13, None, true)),
    ]);
    rows
}

fn of_grpc_backend() -> Vec<(Answer, Told)> {
    let mut rows = common();
    // UNAVAILABLE, CANCELLED, ABORTED, OUT_OF_RANGE, DATA_LOSS
    for code in [14, 1, 10, 11, 15] {
        rows.push((status(code, None), Refused(503, 14, Some(1), true)));
        rows.push((status(code, Some(4)), Refused(503, 14, Some(4), true)));
    }
    rows.extend([
        (status(4, None), Refused(504, 14, Some(1), true)),
        (status(8, Some(3)), Refused(503, 14, Some(3), true)),
        (status(8, None), Refused(413, 8, None, true)),
        (status(3, None), Refused(400, 3, None, true)),
        (status(3, Some(3)), Refused(400, 3, None, true)),
        (status(16, None), Refused(401, 16, None, true)),
        (status(7, None), Refused(403, 7, None, true)),
        (status(5, None), Refused(404, 5, None, true)),
        (status(12, None), Refused(404, 12, None, true)),
        (status(2, None), Refused(500, 2, None, true)),
        (status(6, None), Refused(500, 6, None, true)),
        (status(9, None), Refused(500, 9, None, true)),
        (status(13, None), Refused(500, 13, None, true)),
        // What stands before the backend speaks HTTP.
        (http(503, Some("9")), Refused(503, 14, Some(9), false)),
        (http(429, None), Refused(503, 14, Some(1), false)),
        (http(401, None), Refused(401, 16, None, false)),
        (http(413, None), Refused(413, 8, None, false)),
    ]);
    // Headers that say OK count for nothing where the rest is no gRPC answer.
    for (http_status, content_type, body) in
        [(500, "application/grpc", &b""[..]), (200, "text/html", b""), (200, "application/grpc", b"<html>")]
    {
        let headers = vec![("content-type", content_type.to_owned()), ("grpc-status", "0".to_owned())];
        let answer = Answer::Raw { status: http_status, headers, body: body.to_vec() };
        rows.push((answer, Refused(500, 13, None, false)));
    }
    rows
}

/// A `blackbar` before a backend at `url`, with one attempt a request.
async fn blackbar(name: &str, url: &str, more: &str) -> Process {
    let exporter = format!("{name}: {{endpoint: '{url}', retry_on_failure: {{enabled: false}}{more}}}");
    Process::run(&config(&exporter)).await
}

async fn send(client: &Client, process: &Process, via: Via, signal: Signal) -> client::Answer {
    // Any door takes any protocol.
    let door = if via == Via::Json { "otlp/grpc" } else { "otlp/http" };
    client.export(&process.url(door), signal, via, &[]).await
}

fn check(answer: &client::Answer, via: Via, signal: Signal, told: Told, case: &str) {
    let (encoding, content_type) = match via {
        Via::Grpc => (Encoding::Protobuf, "application/grpc"),
        Via::Protobuf => (Encoding::Protobuf, "application/x-protobuf"),
        Via::Json => (Encoding::Json, "application/json"),
    };
    assert_eq!(answer.headers.get_all("content-type").iter().collect::<Vec<_>>(), [content_type], "{case}");
    let grpc = (via == Via::Grpc).then(|| tonic::Status::from_header_map(&answer.headers).unwrap());
    let Refused(http, code, retry, in_its_words) = told else {
        assert_eq!((answer.status, answer.grpc_status().unwrap_or(0)), (200, 0), "{case}");
        let message = reply::read_response(signal, encoding, answer.body.clone()).unwrap();
        let partial = ExportResponse::decode(message).unwrap().partial_success;
        let got = partial.map(|partial| (partial.rejected, partial.error_message));
        let wanted = match told {
            Partly { rejected } => Some((rejected, WORDS.to_owned())),
            _ => None,
        };
        assert_eq!(got, wanted, "{case}");
        return;
    };
    let (got, message, wait) = match grpc {
        Some(status) => {
            assert_eq!(answer.status, 200, "{case}");
            let wait = status.get_details_retry_info().and_then(|info| info.retry_delay);
            (i32::from(status.code()), status.message().to_owned(), wait)
        }
        None => {
            assert_eq!(answer.status, http, "{case}");
            let header =
                answer.headers.get("retry-after").map(|value| value.to_str().unwrap().parse().unwrap());
            assert_eq!(header, retry, "{case}");
            let status = reply::Status::decode(encoding, &answer.body).unwrap();
            (status.code(), status.message().to_owned(), status.retry_after())
        }
    };
    assert_eq!(got, code, "{case}");
    // A backend's own details are passed on with a final refusal, RetryInfo among them where it put one.
    if retry.is_some() || via != Via::Grpc {
        assert_eq!(wait, retry.map(Duration::from_secs), "{case}");
    }
    assert_eq!(message == WORDS, in_its_words, "{case}: {message}");
    assert!(!message.is_empty(), "{case}");
}

#[tokio::test]
async fn every_answer_of_a_backend_reaches_every_client() {
    for (name, more) in EXPORTERS {
        let backend = Backend::start().await;
        let process = blackbar(name, &backend.grpc_url(), more).await;
        let client = Client::new();
        let rows = if name == "otlp_grpc" { of_grpc_backend() } else { of_http_backend() };
        let mut sent = 0;
        for (number, (answer, told)) in rows.into_iter().enumerate() {
            for via in Via::ALL {
                let signal = Signal::ALL[number % Signal::ALL.len()];
                let case = format!("{name}{more}, {via:?}, {signal}: {answer:?}");
                backend.script([answer.clone()]);
                check(&send(&client, &process, via, signal).await, via, signal, told, &case);
                sent += 1;
                assert_eq!(backend.requests().len(), sent, "one attempt: {case}");
            }
        }
        assert!(!process.log().contains("s3cr3t"), "{}", process.log());
    }
}

#[tokio::test]
async fn a_backend_that_is_down_or_slow_is_a_reason_to_retry() {
    let slow = Backend::start().await;
    slow.script(std::iter::repeat_n(Answer::Slow, 64));
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for (name, more) in EXPORTERS {
        for url in [&closed, &slow.grpc_url()] {
            let process = blackbar(name, url, &format!("{more}, timeout: 200ms")).await;
            let client = Client::new();
            for via in Via::ALL {
                let answer = send(&client, &process, via, Signal::Logs).await;
                check(&answer, via, Signal::Logs, Refused(503, 14, Some(1), false), &format!("{name} {url}"));
            }
        }
    }
}

#[tokio::test]
async fn a_backend_that_closes_its_connections_costs_no_request() {
    for (name, more) in EXPORTERS {
        let backend = Backend::start().await;
        let retry = "retry_on_failure: {initial_interval: 5ms}";
        let exporter = format!("{name}: {{endpoint: '{}', {retry}{more}}}", backend.grpc_url());
        let process = Process::run(&config(&exporter)).await;
        let client = Client::new();
        for round in 0..20 {
            for via in Via::ALL {
                let answer = send(&client, &process, via, Signal::Metrics).await;
                check(
                    &answer,
                    via,
                    Signal::Metrics,
                    Accepted,
                    &format!("{name}{more}, round {round}, {via:?}"),
                );
                backend.close_connections();
            }
        }
        assert!(backend.requests().len() >= 60);
    }
}

type Headers<'a> = &'a [(&'static str, &'a str)];

#[tokio::test]
async fn what_the_doors_refuse() {
    let backend = Backend::start().await;
    let settings = format!(
        "{}  limits: {{body_idle_timeout: 200ms}}\n",
        config(&format!("otlp_http: {{endpoint: '{}'}}", backend.http_url()))
    );
    let process = Process::run(&settings).await;
    let address = process.address("otlp/http");
    let bomb = gzip(&vec![0; 65 * MIB]);
    let cut = gzip(b"some text that is longer than the part that is left of it");
    let cut = &cut[..cut.len() - 9];
    let large = vec![0; 65 * MIB];
    // The first attribute's value is a token whose field is cut off.
    let malformed = b"\x0a\x7fs3cr3t";
    const GZIP: &str = "content-type: application/x-protobuf\r\ncontent-encoding: gzip\r\n";
    const JSON_GZIP: &str = "content-type: application/json\r\ncontent-encoding: gzip\r\n";

    let rows: [(&str, &str, &[u8], u16, i32); 12] = [
        ("/v1/traces", PROTOBUF, malformed, 400, 3),
        ("/v1/traces", JSON, b"{\"resourceSpans\": \"s3cr3t", 400, 3),
        ("/v1/traces", JSON, b"{\"resourceSpans\": [{\"s3cr3t\": 1}, s3cr3t]}", 400, 3),
        ("/v1/traces", GZIP, cut, 400, 3),
        ("/v1/traces", JSON_GZIP, cut, 400, 3),
        ("/v1/traces", GZIP, &bomb, 413, 8),
        ("/v1/traces", JSON_GZIP, &bomb, 413, 8),
        ("/v1/traces", PROTOBUF, &large, 413, 8),
        ("/v1/traces", JSON, &large, 413, 8),
        ("/v1/s3cr3t", PROTOBUF, b"", 404, 12),
        ("/v1/traces", "content-type: text/s3cr3t\r\n", b"", 415, 12),
        ("/v1/traces", "content-type: application/json\r\ncontent-encoding: s3cr3t\r\n", b"", 415, 12),
    ];
    for (path, headers, body, http, code) in rows {
        let got = exchange(address, &post(path, headers, body)).await;
        let case = format!("{path} {headers} of {} bytes", body.len());
        assert_eq!((got.status, got.status_body().0), (http, code), "{case}");
        assert_eq!(got.header("retry-after"), None, "{case}");
        let json = headers.contains("json");
        let wanted = if json { "application/json" } else { "application/x-protobuf" };
        assert_eq!(got.header("content-type"), Some(wanted), "{case}");
        assert!(!got.status_body().1.contains("s3cr3t"), "{case}");
    }
    let got = exchange(address, b"GET /v1/traces HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));

    let coded: Headers<'_> = &[("grpc-encoding", "gzip")];
    let rows: [(&str, Headers<'_>, Vec<u8>, i32); 9] = [
        (TRACES, &[], frame(0, malformed), 3),
        (TRACES, coded, frame(1, cut), 3),
        (TRACES, coded, frame(1, &bomb), 8),
        (TRACES, &[], frame(0, &large), 8),
        (TRACES, &[], frame(1, b"s3cr3t"), 3),
        (TRACES, &[], [frame(0, b""), frame(0, b"")].concat(), 3),
        (TRACES, &[("grpc-encoding", "s3cr3t")], frame(0, b""), 12),
        ("/s3cr3t/Export", &[], frame(0, b""), 12),
        (TRACES, &[("content-type", "application/grpc+s3cr3t")], frame(0, b""), 12),
    ];
    for (path, headers, body, code) in rows {
        let case = format!("{path} {headers:?} of {} bytes", body.len());
        let got = grpc(address, path, headers, body).await;
        let status = tonic::Status::from_header_map(&got.headers).unwrap();
        assert_eq!(i32::from(status.code()), code, "{case}");
        assert!(status.get_details_retry_info().is_none(), "{case}");
        assert!(!status.message().contains("s3cr3t"), "{case}");
    }

    // A client that stalls in its body is told so, and one that goes on politely meanwhile is served.
    let head = format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\n{PROTOBUF}content-length: 9\r\n\r\ns3cr3t");
    let mut stalled = connect(address, head.as_bytes()).await;
    let polite = exchange(address, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(polite.status, 200);
    let got = soon(read_response(&mut stalled)).await;
    assert_eq!((got.status, got.status_body().0), (408, 4));

    assert!(backend.requests().len() == 1, "nothing refused was forwarded");
    assert!(!process.log().contains("s3cr3t"), "{}", process.log());
}
