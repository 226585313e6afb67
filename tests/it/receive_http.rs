//! OTLP/HTTP at the door: paths, methods, types, codings, broken bodies.

use blackbar::otlp::{Encoding, Protocol, Signal};
use blackbar::pipeline::Reply;
use blackbar::receive::settings::LimitSettings;
use bytes::Bytes;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::receive_support::*;

#[tokio::test]
async fn every_signal_under_any_prefix() {
    let mut server = start(accept()).await;
    for signal in Signal::ALL {
        for prefix in ["", "/api/public/otel", "/otel"] {
            let path = format!("{prefix}{}", signal.http_path());
            let got = exchange(server.addr, &post(&path, PROTOBUF, b"body")).await;
            assert_eq!((got.status, got.header("content-type")), (200, Some("application/x-protobuf")));
            assert_eq!(got.header("server"), None);
            let request = soon(server.seen.recv()).await.unwrap();
            assert_eq!((request.signal, request.protocol), (signal, Protocol::Http));
            assert_eq!(request.payload.as_bytes(), &b"body"[..]);
        }
    }
}

#[tokio::test]
async fn the_reply_is_passed_on_unchanged() {
    let message = Bytes::from_static(b"\x0a\x06\x08\x03\x12\x02no");
    let server = start(always(Ok(Reply { message: message.clone() }))).await;

    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(got.body, message);

    let got = exchange(server.addr, &post("/v1/traces", JSON, b"{}")).await;
    let json: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert_eq!(json["partialSuccess"]["errorMessage"], "no");
}

#[tokio::test]
async fn json_arrives_as_protobuf() {
    let mut server = start(accept()).await;
    let json = br#"{"resourceSpans":[{"schemaUrl":"x"}],"unknown":[1,{}]}"#;
    let content_type = "Content-Type: Application/JSON; charset=utf-8\r\n";
    let got = exchange(server.addr, &post("/v1/traces", content_type, json)).await;
    assert_eq!((got.status, &got.body[..]), (200, &b"{}"[..]));
    let request = soon(server.seen.recv()).await.unwrap();
    assert_eq!(request.encoding, Encoding::Json);
    assert_eq!(request.payload.as_bytes(), &b"\x0a\x03\x1a\x01x"[..]);
}

#[tokio::test]
async fn large_json_is_transcoded_too() {
    let mut server = start(accept()).await;
    let spans = vec![r#"{"schemaUrl":"0123456789"}"#; 20_000].join(",");
    let json = format!(r#"{{"resourceSpans":[{spans}]}}"#);
    let got = exchange(server.addr, &post("/v1/traces", JSON, json.as_bytes())).await;
    assert_eq!(got.status, 200);
    let request = soon(server.seen.recv()).await.unwrap();
    assert_eq!(request.payload.as_bytes().len(), 20_000 * 14);
}

#[tokio::test]
async fn an_empty_request_succeeds() {
    let server = start(accept()).await;
    let got = exchange(server.addr, &post("/v1/logs", PROTOBUF, b"")).await;
    assert_eq!((got.status, got.body.len()), (200, 0));
    let got = exchange(server.addr, &post("/v1/logs", JSON, b"{}")).await;
    assert_eq!((got.status, &got.body[..]), (200, &b"{}"[..]));
}

#[tokio::test]
async fn what_is_not_otlp_is_refused() {
    let server = start(accept()).await;
    let put = |line: &str, headers: &str| format!("{line} HTTP/1.1\r\nhost: x\r\n{headers}\r\n").into_bytes();
    let cases = [
        (put("GET /v1/traces", ""), 405),
        (put("PUT /v1/traces", JSON), 405),
        (put("GET /", ""), 404),
        (post("/v1/trace", PROTOBUF, b""), 404),
        (post("/v1/traces/", PROTOBUF, b""), 404),
        (post("/xv1/traces", PROTOBUF, b""), 404),
        (post(TRACES, PROTOBUF, b""), 404),
        (post("/v1/traces", "", b""), 415),
        (post("/v1/traces", "content-type: text/plain\r\n", b""), 415),
        (post("/v1/traces", "content-type: application/x-protobufs\r\n", b""), 415),
        (post("/v1/traces", "content-type: application/grpc-web+proto\r\n", b""), 415),
        (post("/v1/traces", "content-type: application/grpc\r\n", b""), 415),
        (post(TRACES, "content-type: application/grpc\r\n", b""), 404),
        (post("/v1/traces", &format!("{PROTOBUF}content-encoding: br\r\n"), b""), 415),
        (post("/v1/traces", &format!("{PROTOBUF}content-encoding: gzip, gzip\r\n"), b""), 415),
        (post("/v1/traces", JSON, b""), 400),
        (post("/v1/traces", JSON, b"{"), 400),
        (post("/v1/traces", JSON, b"\xff"), 400),
    ];
    for (request, expected) in cases {
        let got = exchange(server.addr, &request).await;
        let shown = String::from_utf8_lossy(&request).into_owned();
        assert_eq!(got.status, expected, "{shown}");
        assert!(!got.status_body().1.is_empty(), "{shown}");
        assert_eq!(got.header("allow"), (expected == 405).then_some("POST"), "{shown}");
        let json = shown.contains("application/json");
        assert_eq!(got.header("content-type") == Some("application/json"), json, "{shown}");
    }
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn every_coding() {
    let mut server = start(accept()).await;
    let body = b"0123456789".repeat(10_000);
    let empty_member = gzip(b"");
    let cases = [
        ("identity", body.clone()),
        ("gzip", gzip(&body)),
        ("GZip", gzip(&body)),
        ("x-gzip", gzip(&body)),
        ("identity, gzip", gzip(&body)),
        ("gzip", [gzip(&body[..7]), empty_member.clone(), gzip(&body[7..]), empty_member].concat()),
        ("deflate", zlib(&body)),
        ("deflate", raw_deflate(&body)),
        ("zstd", zstd(&body)),
        ("zstd", [zstd(&body[..7]), zstd(b""), zstd(&body[7..])].concat()),
    ];
    for (coding, coded) in cases {
        let headers = format!("{PROTOBUF}content-encoding: {coding}\r\n");
        let got = exchange(server.addr, &post("/v1/traces", &headers, &coded)).await;
        assert_eq!(got.status, 200, "{coding}");
        let request = soon(server.seen.recv()).await.unwrap();
        assert!(request.payload.as_bytes() == &body[..], "{coding}");
    }
}

#[tokio::test]
async fn a_broken_coding_is_malformed() {
    let server = start(accept()).await;
    let body = b"0123456789".repeat(100);
    let cut = |coded: Vec<u8>, by: usize| coded[..coded.len() - by].to_vec();
    let flip = |mut coded: Vec<u8>, at: usize| {
        coded[at] ^= 0x55;
        coded
    };
    let crc = gzip(&body).len() - 8;
    let cases = [
        ("gzip", b"".to_vec()),
        ("gzip", b"not gzip".to_vec()),
        ("gzip", cut(gzip(&body), 1)),
        ("gzip", cut(gzip(&body), 9)),
        ("gzip", flip(gzip(&body), crc)),
        ("gzip", [gzip(&body), b"garbage".to_vec()].concat()),
        ("gzip", [gzip(&body), cut(gzip(&body), 20)].concat()),
        ("gzip", [gzip(&body), vec![0]].concat()),
        ("deflate", b"".to_vec()),
        ("deflate", b"\x78".to_vec()),
        ("deflate", cut(zlib(&body), 1)),
        ("deflate", [zlib(&body), vec![0]].concat()),
        ("deflate", cut(raw_deflate(&body), 1)),
        ("deflate", [raw_deflate(&body), vec![0]].concat()),
        ("zstd", b"".to_vec()),
        ("zstd", b"not zstd".to_vec()),
        ("zstd", cut(zstd(&body), 1)),
        ("zstd", [zstd(&body), b"garbage".to_vec()].concat()),
        ("zstd", [zstd(&body), zstd(&body)[..3].to_vec()].concat()),
    ];
    for (case, (coding, coded)) in cases.into_iter().enumerate() {
        let headers = format!("{PROTOBUF}content-encoding: {coding}\r\n");
        let got = exchange(server.addr, &post("/v1/traces", &headers, &coded)).await;
        assert_eq!((got.status, got.status_body().0), (400, 3), "case {case}: {coding}");
    }
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However a body is cut into pieces, and whatever its coding, what arrives is what was sent.
    #[test]
    fn pieces_do_not_matter(
        body in proptest::collection::vec(any::<u8>(), 1..40_000),
        coding in 0usize..5,
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
    ) {
        let (name, coded) = match coding {
            0 => ("identity", body.clone()),
            1 => ("gzip", gzip(&body)),
            2 => ("deflate", zlib(&body)),
            3 => ("deflate", raw_deflate(&body)),
            _ => ("zstd", zstd(&body)),
        };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(coded.len())).collect();
        cuts.extend([0, coded.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(1).build().unwrap().block_on(async {
            let mut server = start(accept()).await;
            let head = format!(
                "POST /v1/traces HTTP/1.1\r\nhost: x\r\n{PROTOBUF}content-encoding: {name}\r\n\
                 transfer-encoding: chunked\r\n\r\n"
            );
            let mut stream = connect(server.addr, head.as_bytes()).await;
            stream.set_nodelay(true).unwrap();
            for pair in cuts.windows(2) {
                let chunk = &coded[pair[0]..pair[1]];
                stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await.unwrap();
                stream.write_all(chunk).await.unwrap();
                stream.write_all(b"\r\n").await.unwrap();
            }
            stream.write_all(b"0\r\n\r\n").await.unwrap();
            assert_eq!(soon(read_response(&mut stream)).await.status, 200);
            let request = soon(server.seen.recv()).await.unwrap();
            assert!(request.payload.as_bytes() == &body[..]);
        });
    }
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let mut server = start(accept()).await;
    let mut stream = connect(server.addr, b"").await;
    for number in 0..5u8 {
        stream.write_all(&post("/v1/traces", PROTOBUF, &[number])).await.unwrap();
        assert_eq!(soon(read_response(&mut stream)).await.status, 200);
        let request = soon(server.seen.recv()).await.unwrap();
        assert_eq!(request.payload.as_bytes(), &[number][..]);
    }
}

#[tokio::test]
async fn expect_continue_is_answered_only_where_the_body_is_wanted() {
    let server = start_with(100, Default::default(), accept()).await;
    let head = |length: usize| {
        format!(
            "POST /v1/traces HTTP/1.1\r\nhost: x\r\n{PROTOBUF}expect: 100-continue\r\n\
             content-length: {length}\r\n\r\n"
        )
    };
    let mut stream = connect(server.addr, head(4).as_bytes()).await;
    let mut interim = [0; 25];
    soon(stream.read_exact(&mut interim)).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"body").await.unwrap();
    assert_eq!(soon(read_response(&mut stream)).await.status, 200);

    let got = exchange(server.addr, head(101).as_bytes()).await;
    assert_eq!(got.status, 413);
}

#[tokio::test]
async fn http2_without_tls_and_both_protocols_on_one_connection() {
    let mut server = start(accept()).await;
    let mut sender = h2c(server.addr).await;
    let protobuf = [("content-type", "application/x-protobuf; a=b")];
    let got = over_h2(&mut sender, "/v1/metrics", &protobuf, Bytes::from_static(b"a")).await;
    assert_eq!(got.status, 200);
    let json = [("content-type", "application/json")];
    let got = over_h2(&mut sender, "/v1/metrics", &json, Bytes::from_static(b"{}")).await;
    assert_eq!((got.status, &got.body[..]), (200, &b"{}"[..]));
    let grpc = [("content-type", "application/grpc"), ("te", "trailers")];
    let got = over_h2(&mut sender, TRACES, &grpc, frame(0, b"b").into()).await;
    assert_eq!((got.status, got.grpc_status()), (200, 0));
    let protocols = [Protocol::Http, Protocol::Http, Protocol::Grpc];
    for protocol in protocols {
        assert_eq!(soon(server.seen.recv()).await.unwrap().protocol, protocol);
    }
}

#[tokio::test]
async fn headers_reach_the_handler() {
    let mut server = start(accept()).await;
    let headers = format!("{PROTOBUF}x-api-key: abc\r\n");
    exchange(server.addr, &post("/v1/traces", &headers, b"")).await;
    let request = soon(server.seen.recv()).await.unwrap();
    assert_eq!(request.headers["x-api-key"], "abc");
}

#[tokio::test]
async fn refusals_at_the_door_are_counted() {
    let server = start_with(10, LimitSettings::default(), accept()).await;
    exchange(server.addr, &post("/v1/logs", PROTOBUF, &[0; 11])).await;
    grpc(server.addr, TRACES, &[], frame(0, &[0; 11])).await;
    let shown = server.metrics.render();
    for (signal, protocol) in [("logs", "http"), ("traces", "grpc")] {
        let line = shown.lines().find(|line| {
            line.starts_with("blackbar_requests_total")
                && [signal, protocol, "rejected"].iter().all(|label| line.contains(&format!("\"{label}\"")))
        });
        assert!(line.is_some_and(|line| line.ends_with(" 1")), "{shown}");
    }
}
