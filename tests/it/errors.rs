//! The error table and the mapping between protocols, row by row, over HTTP/protobuf, HTTP/JSON and gRPC.
//!
//! What the handler fails with is scripted; which requests a door itself refuses is in `receive_*`.

use std::time::Duration;

use blackbar::error::{Backend, Client, Error, Overload, Redact};
use bytes::Bytes;
use tonic::Code;

use crate::receive_support::{JSON, PROTOBUF, TRACES, always, exchange, frame, grpc, post, start};

/// What a client must get: HTTP status, gRPC code, and the wait if a retry can help.
type Row = (Error, u16, Code, Option<u64>);

fn http(status: u16, retry_after: Option<u64>) -> Error {
    let retry_after = retry_after.map(Duration::from_secs);
    Backend::Http { status, retry_after, message: "the backend's words".to_owned() }.into()
}

fn status(code: Code, retry_after: Option<u64>) -> Error {
    let retry_after = retry_after.map(Duration::from_secs);
    let message = "the backend's words".to_owned();
    Backend::Grpc { code: code.into(), retry_after, message, details: Bytes::from_static(b"\x08\x03") }.into()
}

fn rows() -> Vec<Row> {
    vec![
        (Client::Malformed("protobuf").into(), 400, Code::InvalidArgument, None),
        (Client::TooLarge { limit: 5 }.into(), 413, Code::ResourceExhausted, None),
        (Client::Unsupported("content type").into(), 415, Code::Unimplemented, None),
        (Client::MethodNotAllowed.into(), 405, Code::Unimplemented, None),
        (Client::NotFound.into(), 404, Code::Unimplemented, None),
        (Client::TimedOut.into(), 408, Code::DeadlineExceeded, None),
        (Client::Loop { hops: 9 }.into(), 508, Code::FailedPrecondition, None),
        (Redact::Internal.into(), 500, Code::Internal, None),
        (Redact::CanarySurvived.into(), 503, Code::Unavailable, Some(1)),
        (Overload::Requests.into(), 503, Code::Unavailable, Some(1)),
        (Overload::Bytes.into(), 503, Code::Unavailable, Some(1)),
        (Backend::Unreachable.into(), 503, Code::Unavailable, Some(1)),
        (Backend::TimedOut.into(), 503, Code::Unavailable, Some(1)),
        (Backend::Sink.into(), 503, Code::Unavailable, Some(1)),
        (Backend::Garbage.into(), 500, Code::Internal, None),
        (http(429, Some(7)), 503, Code::Unavailable, Some(7)),
        (http(429, None), 503, Code::Unavailable, Some(1)),
        (http(502, None), 503, Code::Unavailable, Some(1)),
        (http(503, Some(2)), 503, Code::Unavailable, Some(2)),
        (http(504, None), 503, Code::Unavailable, Some(1)),
        (http(400, None), 400, Code::InvalidArgument, None),
        (http(401, None), 401, Code::Unauthenticated, None),
        (http(403, None), 403, Code::PermissionDenied, None),
        (http(404, None), 404, Code::NotFound, None),
        (http(413, None), 413, Code::ResourceExhausted, None),
        (http(422, None), 422, Code::Internal, None),
        (http(500, None), 500, Code::Internal, None),
        (http(501, None), 501, Code::Internal, None),
        // Neither a redirect nor a strange success may pass for what it looks like.
        (http(302, None), 500, Code::Internal, None),
        (http(204, None), 500, Code::Internal, None),
        (status(Code::Unavailable, Some(3)), 503, Code::Unavailable, Some(3)),
        (status(Code::Unavailable, None), 503, Code::Unavailable, Some(1)),
        (status(Code::Cancelled, None), 503, Code::Unavailable, Some(1)),
        (status(Code::Aborted, None), 503, Code::Unavailable, Some(1)),
        (status(Code::OutOfRange, None), 503, Code::Unavailable, Some(1)),
        (status(Code::DataLoss, None), 503, Code::Unavailable, Some(1)),
        (status(Code::ResourceExhausted, Some(4)), 503, Code::Unavailable, Some(4)),
        (status(Code::DeadlineExceeded, None), 504, Code::Unavailable, Some(1)),
        (status(Code::ResourceExhausted, None), 413, Code::ResourceExhausted, None),
        (status(Code::InvalidArgument, None), 400, Code::InvalidArgument, None),
        (status(Code::Unauthenticated, None), 401, Code::Unauthenticated, None),
        (status(Code::PermissionDenied, None), 403, Code::PermissionDenied, None),
        (status(Code::NotFound, None), 404, Code::NotFound, None),
        (status(Code::Unimplemented, None), 404, Code::Unimplemented, None),
        (status(Code::Internal, None), 500, Code::Internal, None),
        (status(Code::Unknown, None), 500, Code::Unknown, None),
        (status(Code::AlreadyExists, None), 500, Code::AlreadyExists, None),
        (status(Code::FailedPrecondition, None), 500, Code::FailedPrecondition, None),
        // A failure that says OK is still a failure.
        (status(Code::Ok, None), 500, Code::Internal, None),
    ]
}

fn words(error: &Error) -> String {
    match error {
        Error::Backend(Backend::Http { message, .. } | Backend::Grpc { message, .. }) => message.clone(),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn every_row_over_http() {
    for (error, http, code, retry) in rows() {
        let server = start(always(Err(error.clone()))).await;
        for (content_type, body) in [(PROTOBUF, &b""[..]), (JSON, b"{}")] {
            let got = exchange(server.addr, &post("/v1/traces", content_type, body)).await;
            assert_eq!(got.status, http, "{error:?}");
            assert!(content_type.contains(got.header("content-type").unwrap()), "{error:?}");
            assert_eq!(got.status_body(), (i32::from(code), words(&error)), "{error:?}");
            let wait = got.header("retry-after").map(|value| value.parse().unwrap());
            assert_eq!(wait, retry, "{error:?}");
            assert_eq!(got.header("allow"), (http == 405).then_some("POST"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn every_row_over_grpc() {
    for (error, _, code, retry) in rows() {
        let server = start(always(Err(error.clone()))).await;
        let got = grpc(server.addr, TRACES, &[], frame(0, b"")).await;
        assert!(got.body.is_empty() && got.trailers.is_empty(), "errors are trailers-only");
        let status = tonic::Status::from_header_map(&got.headers).unwrap();
        assert_eq!((status.code(), status.message()), (code, &*words(&error)), "{error:?}");
        assert_eq!(retry_info(&status), retry.map(Duration::from_secs), "{error:?}");
        if let (None, Error::Backend(Backend::Grpc { details, .. })) = (retry, &error) {
            assert_eq!(status.details(), details, "{error:?}");
        }
    }
}

#[tokio::test]
async fn parts_of_a_second_are_not_cut_short() {
    let wait = Duration::from_millis(1500);
    let error = Backend::Http { status: 503, retry_after: Some(wait), message: String::new() };
    let server = start(always(Err(error.clone().into()))).await;

    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!(got.header("retry-after"), Some("2"));
    assert_eq!(got.status_body().1, error.to_string(), "without words of its own");

    let got = grpc(server.addr, TRACES, &[], frame(0, b"")).await;
    let status = tonic::Status::from_header_map(&got.headers).unwrap();
    assert_eq!(retry_info(&status), Some(wait));
}

#[tokio::test]
async fn a_backend_can_not_blow_up_grpc_headers() {
    let message = "\u{e9}".repeat(100_000);
    let details = Bytes::from(vec![7; 100_000]);
    let error = Backend::Grpc { code: 3, retry_after: None, message: message.clone(), details };
    let server = start(always(Err(error.into()))).await;

    let got = grpc(server.addr, TRACES, &[], frame(0, b"")).await;
    let status = tonic::Status::from_header_map(&got.headers).unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(message.starts_with(status.message()) && !status.message().is_empty());
    let size: usize = got.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    assert!(size < 8 << 10, "{size}");

    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!((got.status, got.status_body()), (400, (3, message)));
}

fn retry_info(status: &tonic::Status) -> Option<Duration> {
    use tonic_types::StatusExt;
    status.get_details_retry_info().and_then(|info| info.retry_delay)
}
