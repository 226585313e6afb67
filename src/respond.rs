//! Results become HTTP responses and gRPC statuses. The only place that names status codes of ours.
//!
//! One function, `refusal`, holds the error table and the mapping between protocols; the rest writes what it says
//! in the client's protocol and encoding. Pure: no sockets, no clocks.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use tonic::{Code, Status};

use crate::error::{Backend, Client, Error, Overload, Redact};
use crate::otlp::{Encoding, reply};

/// How long a client is asked to wait where the backend gave no hint.
pub const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// Longest message and longest details that go into gRPC headers, in bytes: clients take 8 KiB of them by default.
const MAX_GRPC_MESSAGE: usize = 1 << 10;
const MAX_GRPC_DETAILS: usize = 2 << 10;

/// A refusal in both protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    http: StatusCode,
    grpc: Code,
    /// Set if, and only if, sending the same request again can help.
    retry: Option<Duration>,
}

impl Refusal {
    const fn for_good(http: StatusCode, grpc: Code) -> Self {
        Self { http, grpc, retry: None }
    }

    const fn for_now(after: Duration) -> Self {
        Self { http: StatusCode::SERVICE_UNAVAILABLE, grpc: Code::Unavailable, retry: Some(after) }
    }
}

/// The error table.
fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Client(error) => client(error),
        Error::Redact(Redact::Internal) => {
            Refusal::for_good(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal)
        }
        // Redaction may work again at the next check, and nothing of the request went out.
        Error::Redact(Redact::CanarySurvived) => Refusal::for_now(DEFAULT_RETRY),
        Error::Overload(
            Overload::Requests | Overload::Bytes | Overload::QueueFull | Overload::QueueUnwritable,
        ) => Refusal::for_now(DEFAULT_RETRY),
        Error::Backend(error) if error.is_retryable() => Refusal {
            // A gRPC deadline has an HTTP status of its own that clients retry.
            http: match error {
                Backend::Grpc { code, .. } if Code::from(*code) == Code::DeadlineExceeded => {
                    StatusCode::GATEWAY_TIMEOUT
                }
                _ => StatusCode::SERVICE_UNAVAILABLE,
            },
            ..Refusal::for_now(error.retry_after().unwrap_or(DEFAULT_RETRY))
        },
        Error::Backend(error) => refused_for_good(error),
    }
}

fn client(error: &Client) -> Refusal {
    let (http, grpc) = match error {
        Client::Malformed(_) => (StatusCode::BAD_REQUEST, Code::InvalidArgument),
        Client::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, Code::ResourceExhausted),
        Client::Unsupported(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Unimplemented),
        Client::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, Code::Unimplemented),
        Client::NotFound => (StatusCode::NOT_FOUND, Code::Unimplemented),
        Client::TimedOut => (StatusCode::REQUEST_TIMEOUT, Code::DeadlineExceeded),
        Client::Loop { .. } => (StatusCode::LOOP_DETECTED, Code::FailedPrecondition),
    };
    Refusal::for_good(http, grpc)
}

/// A backend's final no: its own code in its own protocol, the nearest one in the other.
fn refused_for_good(error: &Backend) -> Refusal {
    let (http, grpc) = match error {
        Backend::Http { status, .. } => (own_http_status(*status), grpc_for_http(*status)),
        Backend::Grpc { code, .. } => {
            // Nothing that failed may read as accepted.
            let code = if *code == 0 { Code::Internal } else { Code::from(*code) };
            (http_for_grpc(code), code)
        }
        Backend::Garbage | Backend::Unreachable | Backend::TimedOut | Backend::Sink => {
            (StatusCode::INTERNAL_SERVER_ERROR, Code::Internal)
        }
    };
    Refusal::for_good(http, grpc)
}

/// An HTTP backend's status as it is, unless it isn't an error that a client of ours would understand (a redirect).
fn own_http_status(status: u16) -> StatusCode {
    match StatusCode::from_u16(status) {
        Ok(status) if status.is_client_error() || status.is_server_error() => status,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn grpc_for_http(status: u16) -> Code {
    match status {
        400 => Code::InvalidArgument,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::NotFound,
        413 => Code::ResourceExhausted,
        _ => Code::Internal,
    }
}

fn http_for_grpc(code: Code) -> StatusCode {
    match code {
        Code::ResourceExhausted => StatusCode::PAYLOAD_TOO_LARGE,
        Code::InvalidArgument => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound | Code::Unimplemented => StatusCode::NOT_FOUND,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// What the client is told: the backend's own words where it has any, else ours.
fn message(error: &Error) -> Cow<'_, str> {
    match error {
        Error::Backend(Backend::Http { message, .. } | Backend::Grpc { message, .. })
            if !message.is_empty() =>
        {
            Cow::Borrowed(message)
        }
        _ => Cow::Owned(error.to_string()),
    }
}

/// An accepted request, over HTTP.
pub fn http_accepted(message: Bytes, encoding: Encoding) -> Response<Bytes> {
    let mut response = Response::new(message);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(encoding.content_type()));
    response
}

/// A refused request, over HTTP: a `google.rpc.Status` in the request's encoding (OTLP 1.11, "Failures").
pub fn http_refused(error: &Error, encoding: Encoding) -> Response<Bytes> {
    let Refusal { http, grpc, retry } = refusal(error);
    let status = reply::Status::new(grpc.into(), message(error), retry);
    let mut response = http_accepted(status.encode(encoding).into(), encoding);
    *response.status_mut() = http;
    if let Some(retry) = retry {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(whole_seconds(retry)));
    }
    if http == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

/// A refused request, over gRPC.
pub fn grpc_refused(error: &Error) -> Status {
    let Refusal { grpc, retry, .. } = refusal(error);
    let message = message(error);
    let message = cut(&message, MAX_GRPC_MESSAGE);
    match (retry, error) {
        (Some(_), _) => {
            let details = reply::Status::new(grpc.into(), message, retry).encode(Encoding::Protobuf);
            Status::with_details(grpc, message, details.into())
        }
        (None, Error::Backend(Backend::Grpc { details, .. })) if details.len() <= MAX_GRPC_DETAILS => {
            Status::with_details(grpc, message, details.clone())
        }
        (None, _) => Status::new(grpc, message),
    }
}

/// `Retry-After` knows whole seconds only; a wait is never cut short.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// At most `longest` bytes of `text`, in whole characters.
fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the table are tested through the front door; this holds what must be so for every error.
    #[test]
    fn no_failure_reads_as_success_and_only_retryable_ones_are_retried() {
        let waits = [None, Some(Duration::ZERO), Some(Duration::from_secs(9))];
        let message = String::new;
        let http = |status, retry_after| Backend::Http { status, retry_after, message: message() };
        let grpc = |code, retry_after| Backend::Grpc {
            code,
            retry_after,
            message: message(),
            details: Bytes::new(),
        };
        let https = (0..=1000).flat_map(|status| waits.map(|wait| http(status, wait)));
        let grpcs = (-1..20).flat_map(|code| waits.map(|wait| grpc(code, wait)));
        for error in https.chain(grpcs) {
            let Refusal { http, grpc, retry } = refusal(&error.clone().into());
            assert!(http.is_client_error() || http.is_server_error(), "{error:?}");
            assert_ne!(grpc, Code::Ok, "{error:?}");
            assert_eq!(retry.is_some(), error.is_retryable(), "{error:?}");
            assert_eq!(matches!(http.as_u16(), 429 | 502 | 503 | 504), retry.is_some(), "{error:?}");
            assert_eq!(grpc == Code::Unavailable, retry.is_some(), "{error:?}");
        }
    }
}
