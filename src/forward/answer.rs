//! What the parts of a backend's answer say, whatever the transport: content types, error bodies, `Retry-After`.
//!
//! A backend's words are carried to the client, cut to a bound, and never printed.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{CONTENT_TYPE, RETRY_AFTER};

use crate::otlp::Encoding;
use crate::otlp::reply::Status;

/// The longest message that is carried to the client, in bytes.
const MAX_MESSAGE: usize = 2048;

/// What a body may be, by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Protobuf, or no type at all.
    Protobuf,
    /// JSON.
    Json,
    /// Plain text.
    Text,
    /// gRPC.
    Grpc,
    /// None of these.
    Other,
}

/// The form of a body with these headers.
pub(super) fn form(headers: &HeaderMap) -> Form {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Form::Protobuf };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "application/x-protobuf" | "application/protobuf" => Form::Protobuf,
        "application/json" => Form::Json,
        "text/plain" => Form::Text,
        grpc if grpc == "application/grpc" || grpc.starts_with("application/grpc+") => Form::Grpc,
        _ => Form::Other,
    }
}

/// What an HTTP error body explains: a `google.rpc.Status`, or a short plain text. Else nothing.
pub(super) fn explanation(form: Form, body: &[u8]) -> (String, Option<Duration>) {
    let encoding = match form {
        Form::Protobuf => Encoding::Protobuf,
        Form::Json => Encoding::Json,
        Form::Text => return (std::str::from_utf8(body).map_or_else(|_| String::new(), bounded), None),
        Form::Grpc | Form::Other => return (String::new(), None),
    };
    let status = Status::decode(encoding, body).ok();
    status.map_or_else(Default::default, |status| (bounded(status.message()), status.retry_after()))
}

/// A message without the space around it, cut to the bound between characters.
pub(super) fn bounded(message: &str) -> String {
    let message = message.trim();
    let fits = |end: &usize| message.is_char_boundary(*end);
    let end = (0..=message.len().min(MAX_MESSAGE)).rev().find(fits).unwrap_or_default();
    message.get(..end).unwrap_or_default().to_owned()
}

/// `Retry-After`: seconds, or an HTTP date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}
