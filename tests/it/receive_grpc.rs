//! OTLP/gRPC at the door: framing, compression, deadlines, health; by raw frames and by tonic's client.

use std::time::Instant;

use blackbar::otlp::{Encoding, Protocol, Signal};
use blackbar::pipeline::Reply;
use bytes::Bytes;
use tonic::Code;
use tonic::codec::{CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::receive_support::*;

#[tokio::test]
async fn every_service() {
    let message = Bytes::from_static(b"\x0a\x06\x08\x03\x12\x02no");
    let mut server = start(always(Ok(Reply { message: message.clone() }))).await;
    for signal in Signal::ALL {
        for content_type in ["application/grpc", "application/grpc+proto", "Application/gRPC; a=b"] {
            let headers = [("content-type", content_type)];
            let got = grpc(server.addr, signal.grpc_path(), &headers, frame(0, b"body")).await;
            assert_eq!(got.grpc_status(), 0);
            assert_eq!(unframe(got.body.clone()), message);
            let plus_proto = content_type.ends_with("+proto");
            assert_eq!(got.header("content-type").unwrap().ends_with("+proto"), plus_proto);
            assert!(got.header("grpc-accept-encoding").unwrap().contains("gzip"));
            assert_eq!(got.header("content-length"), None, "it would hide the trailers from some clients");
            let request = soon(server.seen.recv()).await.unwrap();
            assert_eq!((request.signal, request.protocol), (signal, Protocol::Grpc));
            assert_eq!(request.encoding, Encoding::Protobuf);
            assert_eq!(request.payload.as_bytes(), &b"body"[..]);
        }
    }
}

#[tokio::test]
async fn an_empty_message_succeeds() {
    let server = start(accept()).await;
    let got = grpc(server.addr, TRACES, &[], frame(0, b"")).await;
    assert_eq!((got.grpc_status(), unframe(got.body)), (0, Bytes::new()));
}

#[tokio::test]
async fn every_compression() {
    let mut server = start(accept()).await;
    let body = b"0123456789".repeat(10_000);
    let cases = [
        ("identity", frame(0, &body)),
        ("gzip", frame(0, &body)),
        ("gzip", frame(1, &gzip(&body))),
        ("deflate", frame(1, &zlib(&body))),
        ("zstd", frame(1, &zstd(&body))),
    ];
    for (coding, body_frame) in cases {
        let got = grpc(server.addr, TRACES, &[("grpc-encoding", coding)], body_frame).await;
        assert_eq!(got.grpc_status(), 0, "{coding}");
        let request = soon(server.seen.recv()).await.unwrap();
        assert!(request.payload.as_bytes() == &body[..], "{coding}");
    }
}

#[tokio::test]
async fn what_is_not_one_message_is_refused() {
    let server = start(accept()).await;
    let two = [frame(0, b"a"), frame(0, b"b")].concat();
    let gzipped = frame(1, &gzip(b"message"));
    let cut_inside = frame(1, &gzip(b"message")[..15]);
    let trailing = frame(1, &[gzip(b"message"), b"x".to_vec()].concat());
    let cases: [(&str, Vec<u8>, Code); 11] = [
        ("identity", b"".to_vec(), Code::InvalidArgument),
        ("identity", b"\0\0\0".to_vec(), Code::InvalidArgument),
        ("identity", frame(0, b"message")[..9].to_vec(), Code::InvalidArgument),
        ("identity", two, Code::InvalidArgument),
        ("identity", frame(2, b"message"), Code::InvalidArgument),
        ("identity", gzipped.clone(), Code::InvalidArgument),
        ("gzip", frame(1, b"message"), Code::InvalidArgument),
        ("gzip", cut_inside, Code::InvalidArgument),
        ("gzip", trailing, Code::InvalidArgument),
        ("zstd", gzipped.clone(), Code::InvalidArgument),
        ("snappy", gzipped, Code::Unimplemented),
    ];
    for (case, (coding, body, code)) in cases.into_iter().enumerate() {
        let got = grpc(server.addr, TRACES, &[("grpc-encoding", coding)], body).await;
        assert_eq!(got.grpc_status(), i32::from(code), "case {case}");
        assert!(got.header("grpc-accept-encoding").is_some());
    }
    assert_eq!(server.limits.bytes_in_flight(), 0);
}

#[tokio::test]
async fn other_methods_and_types_are_unimplemented() {
    let server = start(accept()).await;
    let cases = [
        ("/opentelemetry.proto.collector.trace.v1.TraceService/Import", "application/grpc"),
        ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/grpc"),
        ("/v1/traces", "application/grpc"),
        (TRACES, "application/grpc+json"),
    ];
    for (path, content_type) in cases {
        let got = grpc(server.addr, path, &[("content-type", content_type)], frame(0, b"")).await;
        assert_eq!(got.grpc_status(), i32::from(Code::Unimplemented), "{path} {content_type}");
    }
}

#[tokio::test]
async fn grpc_timeout_is_the_deadline() {
    let mut server = start(accept()).await;
    let before = Instant::now();
    grpc(server.addr, TRACES, &[("grpc-timeout", "7S")], frame(0, b"")).await;
    let deadline = soon(server.seen.recv()).await.unwrap().deadline - before;
    assert!((7..8).contains(&deadline.as_secs()), "{deadline:?}");

    let before = Instant::now();
    grpc(server.addr, TRACES, &[("grpc-timeout", "99999999H")], frame(0, b"")).await;
    let deadline = soon(server.seen.recv()).await.unwrap().deadline - before;
    assert!(deadline.as_secs() <= 301, "what a request holds comes back: {deadline:?}");

    let before = Instant::now();
    grpc(server.addr, TRACES, &[("grpc-timeout", "nonsense")], frame(0, b"")).await;
    let deadline = soon(server.seen.recv()).await.unwrap().deadline - before;
    assert!((30..31).contains(&deadline.as_secs()), "{deadline:?}");
}

#[tokio::test]
async fn a_handler_that_overstays_is_ended() {
    let server = start(|| Box::pin(std::future::pending()) as Answer).await;
    let got = grpc(server.addr, TRACES, &[("grpc-timeout", "50m")], frame(0, b"")).await;
    assert_eq!(got.grpc_status(), i32::from(Code::Unavailable));
    assert_eq!(server.limits.requests_in_flight(), 0);
}

/// Raw bytes through tonic's own client, with its own framing and compression.
#[derive(Default)]
struct Raw;

impl tonic::codec::Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;

    fn encode(&mut self, item: Bytes, buf: &mut EncodeBuf<'_>) -> Result<(), tonic::Status> {
        bytes::BufMut::put(buf, item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, tonic::Status> {
        Ok(Some(bytes::Buf::copy_to_bytes(buf, bytes::Buf::remaining(buf))))
    }
}

async fn channel(server: &Served) -> tonic::transport::Channel {
    tonic::transport::Endpoint::from_shared(format!("http://{}", server.addr))
        .unwrap()
        .connect()
        .await
        .unwrap()
}

async fn by_tonic(
    channel: tonic::transport::Channel,
    compression: Option<CompressionEncoding>,
    message: Bytes,
) -> Result<Bytes, tonic::Status> {
    let mut client = tonic::client::Grpc::new(channel);
    if let Some(compression) = compression {
        client = client.send_compressed(compression).accept_compressed(compression);
    }
    client.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static(TRACES);
    client.unary(tonic::Request::new(message), path, Raw).await.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn tonics_client_is_served() {
    let message = Bytes::from_static(b"\x0a\x06\x08\x03\x12\x02no");
    let mut server = start(always(Ok(Reply { message: message.clone() }))).await;
    let channel = channel(&server).await;
    let body = Bytes::from(b"0123456789".repeat(100_000));
    for compression in [None, Some(CompressionEncoding::Gzip), Some(CompressionEncoding::Zstd)] {
        let got = soon(by_tonic(channel.clone(), compression, body.clone())).await.unwrap();
        assert_eq!(got, message);
        assert!(soon(server.seen.recv()).await.unwrap().payload.as_bytes() == &body);
    }
}

#[tokio::test]
async fn streams_run_side_by_side() {
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(50));
    let server = start(move || {
        let barrier = std::sync::Arc::clone(&barrier);
        Box::pin(async move {
            barrier.wait().await;
            Ok(Reply::default())
        })
    })
    .await;
    let channel = channel(&server).await;
    let calls = (0..50).map(|_| tokio::spawn(by_tonic(channel.clone(), None, Bytes::from_static(b"x"))));
    for call in calls.collect::<Vec<_>>() {
        soon(call).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn health_follows_readiness() {
    let server = start(accept()).await;
    let mut client = HealthClient::new(channel(&server).await);
    let ask = |service: &str| HealthCheckRequest { service: service.to_owned() };
    let traces = "opentelemetry.proto.collector.trace.v1.TraceService";
    for service in ["", traces] {
        let answer = soon(client.check(ask(service))).await.unwrap().into_inner();
        assert_eq!(answer.status, tonic_health::ServingStatus::Serving as i32);
    }
    let unknown = soon(client.check(ask("nobody"))).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);

    let mut watch = soon(client.watch(ask(""))).await.unwrap().into_inner();
    let first = soon(watch.message()).await.unwrap().unwrap();
    assert_eq!(first.status, tonic_health::ServingStatus::Serving as i32);
    server.ready.send(false).unwrap();
    let next = soon(watch.message()).await.unwrap().unwrap();
    assert_eq!(next.status, tonic_health::ServingStatus::NotServing as i32);

    server.stop.cancel();
    assert_eq!(soon(watch.message()).await.unwrap(), None, "a watch does not hold up the end");
    assert_eq!(soon(server.task).await.unwrap(), 0);
}
