//! Bounds: body size before and after decompression, requests and bytes in flight, connections, slow clients.

use std::time::Duration;

use blackbar::pipeline::Reply;
use blackbar::receive::settings::LimitSettings;
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tonic::Code;

use crate::receive_support::*;

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_body_over_the_limit_over_http() {
    let server = start(accept()).await;
    let zeros = vec![0; 65 * MIB];
    let cases = [
        ("identity", zeros.clone()),
        ("gzip", gzip(&zeros)),
        ("zstd", zstd(&zeros)),
        ("deflate", zlib(&zeros)),
    ];
    for (coding, body) in cases {
        let headers = format!("{PROTOBUF}content-encoding: {coding}\r\n");
        // The client writes everything before it reads: it must still see the answer.
        let got = exchange(server.addr, &post("/v1/traces", &headers, &body)).await;
        assert_eq!((got.status, got.status_body().0), (413, 8), "{coding}");
        assert_eq!(got.header("retry-after"), None);
    }
    let chunked =
        format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\n{PROTOBUF}transfer-encoding: chunked\r\n\r\n");
    let mut stream = connect(server.addr, chunked.as_bytes()).await;
    stream.write_all(format!("{:x}\r\n", zeros.len()).as_bytes()).await.unwrap();
    stream.write_all(&zeros).await.unwrap();
    stream.write_all(b"\r\n0\r\n\r\n").await.unwrap();
    assert_eq!(soon(read_response(&mut stream)).await.status, 413);
    // The connection is still good.
    stream.write_all(&post("/v1/traces", PROTOBUF, b"")).await.unwrap();
    assert_eq!(soon(read_response(&mut stream)).await.status, 200);
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_over_grpc() {
    let server = start(accept()).await;
    let zeros = vec![0; 65 * MIB];
    let cases = [
        ("identity", frame(0, &zeros)),
        ("gzip", frame(1, &gzip(&zeros))),
        ("zstd", frame(1, &zstd(&zeros))),
    ];
    for (coding, body) in cases {
        let got = grpc(server.addr, TRACES, &[("grpc-encoding", coding)], body).await;
        let status = tonic::Status::from_header_map(&got.headers).unwrap();
        assert_eq!(status.code(), Code::ResourceExhausted, "{coding}");
        assert!(status.details().is_empty(), "no RetryInfo");
    }
    // Said, not sent.
    let got = grpc(server.addr, TRACES, &[], b"\0\xff\xff\xff\xff".to_vec()).await;
    assert_eq!(got.grpc_status(), i32::from(Code::ResourceExhausted));
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn the_limit_itself_is_allowed() {
    let mut server = start_with(1000, LimitSettings::default(), accept()).await;
    let full = vec![7; 1000];
    for (coding, body) in [("identity", full.clone()), ("gzip", gzip(&full)), ("zstd", zstd(&full))] {
        let headers = format!("{PROTOBUF}content-encoding: {coding}\r\n");
        assert_eq!(exchange(server.addr, &post("/v1/traces", &headers, &body)).await.status, 200);
        assert_eq!(soon(server.seen.recv()).await.unwrap().payload.as_bytes(), &full);
    }
    assert_eq!(grpc(server.addr, TRACES, &[], frame(0, &full)).await.grpc_status(), 0);
    let over = vec![7; 1001];
    for (coding, body) in [("identity", over.clone()), ("gzip", gzip(&over)), ("zstd", zstd(&over))] {
        let headers = format!("{PROTOBUF}content-encoding: {coding}\r\n");
        assert_eq!(exchange(server.addr, &post("/v1/traces", &headers, &body)).await.status, 413);
    }
    let got = grpc(server.addr, TRACES, &[], frame(0, &over)).await;
    assert_eq!(got.grpc_status(), i32::from(Code::ResourceExhausted));
}

#[tokio::test]
async fn a_bomb_stops_at_the_limit() {
    // 1 GiB of zeros in 1 MiB of gzip, and no more room than for the limit.
    let limits = LimitSettings { max_in_flight_bytes: 4 * MIB, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let bomb = gzip(&vec![0; MIB]).repeat(200);
    let headers = format!("{PROTOBUF}content-encoding: gzip\r\n");
    assert_eq!(exchange(server.addr, &post("/v1/traces", &headers, &bomb)).await.status, 413);
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn json_that_grows_in_protobuf_is_bounded_too() {
    let server = start_with(1000, LimitSettings::default(), accept()).await;
    let counts = vec!["1"; 400].join(",");
    let json = format!(
        r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{"histogram":{{"dataPoints":[{{"bucketCounts":[{counts}]}}]}}}}]}}]}}]}}"#
    );
    assert!(json.len() < 1000);
    assert_eq!(exchange(server.addr, &post("/v1/metrics", JSON, json.as_bytes())).await.status, 413);
}

#[tokio::test]
async fn too_many_requests_in_flight() {
    let limits = LimitSettings { max_in_flight_requests: 1, ..LimitSettings::default() };
    let release = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let mut server = start_with(MIB, limits, {
        let release = std::sync::Arc::clone(&release);
        move || {
            let release = std::sync::Arc::clone(&release);
            Box::pin(async move {
                release.acquire().await.unwrap().forget();
                Ok(Reply::default())
            })
        }
    })
    .await;
    let mut first = connect(server.addr, &post("/v1/traces", PROTOBUF, b"first")).await;
    soon(server.seen.recv()).await.unwrap();

    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, b"second")).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
    let got = grpc(server.addr, TRACES, &[], frame(0, b"third")).await;
    assert_eq!(got.grpc_status(), i32::from(Code::Unavailable));
    let status = tonic::Status::from_header_map(&got.headers).unwrap();
    assert!(!status.details().is_empty(), "RetryInfo");

    release.add_permits(2);
    assert_eq!(soon(read_response(&mut first)).await.status, 200);
    assert_eq!(exchange(server.addr, &post("/v1/traces", PROTOBUF, b"fourth")).await.status, 200);
}

#[tokio::test]
async fn too_many_bytes_in_flight() {
    let limits = LimitSettings { max_in_flight_bytes: 1000, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    assert_eq!(exchange(server.addr, &post("/v1/traces", PROTOBUF, &[0; 1000])).await.status, 200);
    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, &[0; 1001])).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
    let got = grpc(server.addr, TRACES, &[], frame(0, &[0; 2000])).await;
    assert_eq!(got.grpc_status(), i32::from(Code::Unavailable));
    // What it decompresses to counts too.
    let headers = format!("{PROTOBUF}content-encoding: gzip\r\n");
    let got = exchange(server.addr, &post("/v1/traces", &headers, &gzip(&[0; 100_000]))).await;
    assert_eq!(got.status, 503);
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn announced_bytes_are_charged_before_they_come() {
    let mut server = start_with(MIB, LimitSettings::default(), accept()).await;
    let request = post("/v1/traces", PROTOBUF, &[0; 1000]);
    let (head, last) = request.split_at(request.len() - 1);
    let mut stream = connect(server.addr, head).await;
    soon(async {
        while server.limits.bytes_in_flight() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!((server.limits.bytes_in_flight(), server.limits.requests_in_flight()), (1000, 1));
    stream.write_all(last).await.unwrap();
    soon(server.seen.recv()).await.unwrap();
    assert_eq!(soon(read_response(&mut stream)).await.status, 200);
    assert_eq!((server.limits.bytes_in_flight(), server.limits.requests_in_flight()), (0, 0));
}

#[tokio::test]
async fn a_body_that_stalls_times_out() {
    let limits = LimitSettings { body_idle_timeout: SHORT, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let request = post("/v1/traces", JSON, b"{ }");
    let mut stream = connect(server.addr, &request[..request.len() - 1]).await;
    let got = soon(read_response(&mut stream)).await;
    assert_eq!((got.status, got.status_body().0), (408, 4));

    let got = stalled_grpc(&server, &[]).await;
    assert_eq!(got, i32::from(Code::DeadlineExceeded));
    assert_eq!(server.limits.requests_in_flight(), 0);
}

#[tokio::test]
async fn a_body_that_trickles_times_out() {
    let limits = LimitSettings { request_timeout: SHORT, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let request = post("/v1/traces", PROTOBUF, &[0; 100_000]);
    let mut stream = connect(server.addr, &request[..200]).await;
    let (mut read, mut write) = stream.split();
    let trickle = async {
        loop {
            tokio::task::yield_now().await;
            if write.write_all(b"\0").await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut first = [0; 12];
    let answer = async { read.read_exact(&mut first).await.unwrap() };
    tokio::select! {
        _ = soon(answer) => {}
        () = trickle => {}
    }
    assert_eq!(&first, b"HTTP/1.1 408");
}

#[tokio::test]
async fn a_client_deadline_ends_a_stalled_body() {
    let server = start(accept()).await;
    let got = stalled_grpc(&server, &[("grpc-timeout", "50m")]).await;
    assert_eq!(got, i32::from(Code::DeadlineExceeded));
}

/// A gRPC request whose message never comes to its end.
async fn stalled_grpc(server: &Served, headers: &[(&str, &str)]) -> i32 {
    let stream = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(
        hyper_util::rt::TokioExecutor::new(),
        hyper_util::rt::TokioIo::new(stream),
    )
    .await
    .unwrap();
    tokio::spawn(connection);
    let pieces = futures_util::stream::once(async {
        Ok::<_, std::convert::Infallible>(hyper::body::Frame::data(Bytes::from_static(b"\0\0\0\0\x09part")))
    });
    let pieces = futures_util::StreamExt::chain(pieces, futures_util::stream::pending());
    let mut request =
        http::Request::post(format!("http://x{TRACES}")).header("content-type", "application/grpc");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = http_body_util::BodyExt::boxed_unsync(http_body_util::StreamBody::new(pieces));
    let response = soon(sender.send_request(request.body(body).unwrap())).await.unwrap();
    response.headers()["grpc-status"].to_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_client_that_sends_no_request_is_dropped() {
    let limits = LimitSettings { header_timeout: SHORT, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [&preface[..], b"\0\0\0\x04\0\0\0\0\0"].concat();
    for stall in [&b""[..], b"P", b"PRI * HT", b"POST /v1/traces HTTP/1.1\r\nhost:", preface, &settings] {
        let mut stream = connect(server.addr, stall).await;
        assert!(closed(&mut stream).await, "{:?}", String::from_utf8_lossy(stall));
    }
}

#[tokio::test]
async fn a_second_head_has_a_time_limit_but_a_pause_has_not() {
    let limits = LimitSettings { header_timeout: SHORT, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let mut idle = connect(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(soon(read_response(&mut idle)).await.status, 200);

    let mut stalled = connect(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(soon(read_response(&mut stalled)).await.status, 200);
    stalled.write_all(b"POST /v1/traces HTT").await.unwrap();
    assert!(closed(&mut stalled).await);

    // By now the other has been idle for longer than a head may take.
    idle.write_all(&post("/v1/traces", PROTOBUF, b"")).await.unwrap();
    assert_eq!(soon(read_response(&mut idle)).await.status, 200);
}

/// Whether the server ends the connection; what it says before (GOAWAY, settings) does not matter.
async fn closed(stream: &mut tokio::net::TcpStream) -> bool {
    let mut rest = Vec::new();
    let end = soon(stream.read_to_end(&mut rest)).await;
    end.is_ok() || end.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
}

#[tokio::test]
async fn connections_are_bounded() {
    let limits = LimitSettings { max_connections: 1, ..LimitSettings::default() };
    let server = start_with(MIB, limits, accept()).await;
    let mut first = connect(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(soon(read_response(&mut first)).await.status, 200);
    let mut second = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    assert!(closed(&mut second).await);
    first.write_all(&post("/v1/traces", PROTOBUF, b"")).await.unwrap();
    assert_eq!(soon(read_response(&mut first)).await.status, 200);
}

#[tokio::test]
async fn headers_are_bounded() {
    let server = start(accept()).await;
    let headers = format!("{PROTOBUF}x-large: {}\r\n", "a".repeat(200_000));
    let got = exchange(server.addr, &post("/v1/traces", &headers, b"")).await;
    assert_eq!(got.status, 431);
    let large = "a".repeat(40_000);
    let headers = [("content-type", "application/x-protobuf"), ("x-large", &*large)];
    let got = over_h2(&mut h2c(server.addr).await, "/v1/traces", &headers, Bytes::new()).await;
    assert_eq!(got.status, 431);
}

#[tokio::test]
async fn streams_that_are_opened_only_to_be_reset_end_the_connection() {
    let server = start(accept()).await;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    for stream in (1..1000u32).step_by(2) {
        // HEADERS (POST, http, /) with END_HEADERS, then RST_STREAM (CANCEL).
        bytes.extend_from_slice(&[0, 0, 3, 1, 4]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(&[0x83, 0x86, 0x84]);
        bytes.extend_from_slice(&[0, 0, 4, 3, 0]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(&[0, 0, 0, 8]);
    }
    let mut flood = connect(server.addr, &bytes).await;
    let mut said = Vec::new();
    let end = soon(flood.read_to_end(&mut said)).await;
    let goaway = said.windows(4).any(|window| window == [0, 0, 0, 11]);
    assert!(end.is_err() || goaway, "ENHANCE_YOUR_CALM");
    assert_eq!(exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await.status, 200);
}
