//! The answers that the recording backend can be told to give, as HTTP responses.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use prost::Message;
use tonic_types::pb;

use super::backend::Received;

/// One scripted answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The data is accepted.
    Success,
    /// 200 with a body of zero bytes (HTTP only).
    EmptySuccess,
    /// Accepted in part.
    PartialSuccess { rejected: i64, message: &'static str },
    /// An HTTP status with a `google.rpc.Status` body in the request's encoding; `Retry-After` as it is given.
    /// Over gRPC: the same without a body, as a load balancer would answer.
    Http { status: u16, retry_after: Option<String>, message: &'static str },
    /// Any HTTP answer, byte for byte.
    Raw { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// A gRPC status, with `RetryInfo` in its details where a delay is given.
    Grpc { code: i32, message: &'static str, retry_after: Option<Duration> },
    /// gRPC OK with this body, byte for byte, and `grpc-encoding` where it is given.
    GrpcBody { encoding: Option<&'static str>, body: Vec<u8> },
    /// 200 with an HTML page.
    Garbage,
    /// Success, but only after `Backend::release`.
    Slow,
    /// The connection is reset before an answer.
    Reset,
    /// The answer's head arrives and a part of its body, then the connection (or stream) breaks.
    CloseMidBody,
}

impl Answer {
    /// An HTTP status without more.
    pub fn http(status: u16) -> Self {
        Self::Http { status, retry_after: None, message: "scripted refusal" }
    }

    /// A gRPC status without more.
    pub fn grpc(code: i32) -> Self {
        Self::Grpc { code, message: "scripted refusal", retry_after: None }
    }
}

/// `Export<Signal>ServiceResponse`: the same shape for every signal.
#[derive(Clone, PartialEq, Message)]
pub struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

/// `Export<Signal>PartialSuccess`.
#[derive(Clone, PartialEq, Message)]
pub struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub rejected: i64,
    #[prost(string, tag = "2")]
    pub error_message: String,
}

pub(super) type Body = BoxBody<Bytes, std::io::Error>;

/// The response for one request. `Slow` and `Reset` are the backend's own work.
pub(super) fn respond(answer: &Answer, request: &Received) -> Response<Body> {
    match answer {
        Answer::Success | Answer::Slow | Answer::Reset => success(request, None),
        Answer::EmptySuccess => response(200, request.content_type.clone(), Bytes::new()),
        Answer::PartialSuccess { rejected, message } => success(
            request,
            Some(PartialSuccess { rejected: *rejected, error_message: (*message).to_owned() }),
        ),
        Answer::Http { status, retry_after, message } => {
            let mut response = refusal(*status, message, request);
            if let Some(value) = retry_after {
                response.headers_mut().insert("retry-after", value.parse().unwrap());
            }
            response
        }
        Answer::Raw { status, headers, body } => {
            let mut response = response(*status, None, Bytes::from(body.clone()));
            for (name, value) in headers {
                response.headers_mut().append(*name, value.parse().unwrap());
            }
            response
        }
        Answer::Grpc { code, message, retry_after } => grpc_refusal(*code, message, *retry_after),
        Answer::GrpcBody { encoding, body } => {
            let mut response = grpc_success(Bytes::from(body.clone()));
            if let Some(name) = encoding {
                response.headers_mut().insert("grpc-encoding", HeaderValue::from_static(name));
            }
            response
        }
        Answer::Garbage => {
            response(200, Some("text/html".to_owned()), Bytes::from_static(b"<html>Sign in</html>"))
        }
        Answer::CloseMidBody => broken(request),
    }
}

fn success(request: &Received, partial: Option<PartialSuccess>) -> Response<Body> {
    let message = ExportResponse { partial_success: partial.clone() }.encode_to_vec();
    if request.grpc {
        return grpc_success(frame(&message));
    }
    if !request.is_json() {
        return response(200, request.content_type.clone(), Bytes::from(message));
    }
    let json = match partial {
        None => serde_json::json!({}),
        Some(partial) => serde_json::json!({"partialSuccess": {
            rejected_name(&request.path): partial.rejected.to_string(),
            "errorMessage": partial.error_message,
        }}),
    };
    response(200, request.content_type.clone(), Bytes::from(json.to_string()))
}

fn rejected_name(path: &str) -> &'static str {
    match path.rsplit('/').next() {
        Some("traces") => "rejectedSpans",
        Some("metrics") => "rejectedDataPoints",
        Some("profiles") => "rejectedProfiles",
        _ => "rejectedLogRecords",
    }
}

fn refusal(status: u16, message: &str, request: &Received) -> Response<Body> {
    if request.grpc {
        return response(status, Some("text/plain".to_owned()), Bytes::new());
    }
    let body = if request.is_json() {
        Bytes::from(serde_json::json!({"code": 0, "message": message}).to_string())
    } else {
        let status = pb::Status { code: 0, message: message.to_owned(), details: Vec::new() };
        Bytes::from(status.encode_to_vec())
    };
    response(status, request.content_type.clone(), body)
}

fn response(status: u16, content_type: Option<String>, body: Bytes) -> Response<Body> {
    let body = http_body_util::Full::new(body).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if let Some(value) = content_type {
        response.headers_mut().insert("content-type", value.parse().unwrap());
    }
    response
}

fn grpc_success(body: Bytes) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    grpc_response(vec![Ok(Frame::data(body)), Ok(Frame::trailers(trailers))])
}

/// A trailers-only answer, as servers send refusals.
fn grpc_refusal(code: i32, message: &str, retry_after: Option<Duration>) -> Response<Body> {
    let mut response = grpc_response(Vec::new());
    let headers = response.headers_mut();
    headers.insert("grpc-status", code.to_string().parse().unwrap());
    let encoded = percent_encoding::utf8_percent_encode(message, percent_encoding::NON_ALPHANUMERIC);
    headers.insert("grpc-message", encoded.to_string().parse().unwrap());
    if let Some(delay) = retry_after {
        let details = details_with_retry_info(code, message, delay);
        headers.insert("grpc-status-details-bin", STANDARD.encode(details).parse().unwrap());
    }
    response
}

/// An encoded `google.rpc.Status` that holds a `RetryInfo`.
pub fn details_with_retry_info(code: i32, message: &str, delay: Duration) -> Vec<u8> {
    let info = pb::RetryInfo {
        retry_delay: Some(prost_types::Duration {
            seconds: i64::try_from(delay.as_secs()).unwrap(),
            nanos: i32::try_from(delay.subsec_nanos()).unwrap(),
        }),
    };
    let any = prost_types::Any {
        type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
        value: info.encode_to_vec(),
    };
    pb::Status { code, message: message.to_owned(), details: vec![any] }.encode_to_vec()
}

/// Some bytes of an answer, then an error: HTTP/1.1 closes the connection, HTTP/2 resets the stream.
fn broken(request: &Received) -> Response<Body> {
    let failure = std::io::Error::other("scripted break");
    let part = Bytes::from_static(&[0, 0, 0, 0, 200, 10]);
    let mut response = grpc_response(vec![Ok(Frame::data(part)), Err(failure)]);
    if !request.grpc {
        let content_type = request.content_type.as_deref().unwrap_or("application/x-protobuf");
        response.headers_mut().insert("content-type", content_type.parse().unwrap());
    }
    response
}

fn grpc_response(frames: Vec<Result<Frame<Bytes>, std::io::Error>>) -> Response<Body> {
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(stream::iter(frames))));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

/// A gRPC length-prefixed message, uncompressed.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    frame.freeze()
}
