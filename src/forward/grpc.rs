//! OTLP/gRPC: one unary call. Frames the message, reads the answer's status from trailers or headers.
//!
//! Written on the shared HTTP client rather than on tonic's: the body goes out uncopied and is compressed once for
//! all attempts, a transport failure can be told from a backend's status, and a backend's malformed
//! `grpc-status-details-bin` or `grpc-message` neither panics nor reaches a log.

use std::time::Duration;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::body::Incoming;
use percent_encoding::percent_decode;

use super::answer::{self, Form};
use super::client::{Client, MAX_ANSWER};
use super::settings::Compression;
use crate::decompress::{Coding, Decoder};
use crate::error::{Backend, Error};
use crate::forward::Reply;
use crate::otlp::reply::{Status, read_response};
use crate::otlp::{Encoding, Signal};

/// Senders may or may not pad binary metadata.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The five bytes before a message: compressed or not, and its length.
///
/// `None`: the message is longer than the format can say (4 GiB).
pub(super) fn prefix(message: &Bytes, compression: Compression) -> Option<Bytes> {
    let mut prefix = BytesMut::with_capacity(5);
    prefix.put_u8(u8::from(compression != Compression::None));
    prefix.put_u32(u32::try_from(message.len()).ok()?);
    Some(prefix.freeze())
}

/// Adds the protocol's own headers.
pub(super) fn head(headers: &mut HeaderMap, compression: Compression, remaining: Option<Duration>) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    headers.insert("grpc-accept-encoding", HeaderValue::from_static("identity"));
    if let Some(name) = compression.header() {
        headers.insert("grpc-encoding", HeaderValue::from_static(name));
    }
    if let Some(value) = remaining.and_then(timeout) {
        headers.insert("grpc-timeout", value);
    }
}

/// `grpc-timeout`: at most eight digits, and a unit.
fn timeout(remaining: Duration) -> Option<HeaderValue> {
    let millis = remaining.as_millis().max(1);
    let value = match millis {
        0..100_000_000 => format!("{millis}m"),
        _ => format!("{}S", remaining.as_secs().min(99_999_999)),
    };
    HeaderValue::from_str(&value).ok()
}

/// Reads the answer.
///
/// # Errors
///
/// What the backend said instead of OK.
pub(super) async fn answer(
    client: &Client,
    signal: Signal,
    response: Response<Incoming>,
) -> Result<Reply, Backend> {
    let (head, body) = response.into_parts();
    // A refusal stands, whatever it is wrapped in; an OK counts only where the rest is a gRPC answer that succeeded.
    let in_head = status(&head.headers).transpose()?;
    if head.status != StatusCode::OK {
        // Not a gRPC server: a load balancer or gateway in front of it.
        return Err(Backend::Http {
            status: head.status.as_u16(),
            retry_after: answer::retry_after(&head.headers),
            message: String::new(),
        });
    }
    if answer::form(&head.headers) != Form::Grpc {
        return Err(Backend::Garbage);
    }
    let (body, trailers) = client.read(body).await?;
    let in_trailers = trailers.as_ref().and_then(status).transpose()?;
    in_trailers.or(in_head).ok_or(Backend::Garbage)?;
    let coding = head.headers.get("grpc-encoding").and_then(|name| Coding::named(name.to_str().ok()?));
    let message = unframe(body, coding)?;
    let message = read_response(signal, Encoding::Protobuf, message).map_err(|_| Backend::Garbage)?;
    Ok(Reply { message })
}

/// The one message of the answer; an answer without a message is an empty one.
///
/// It may be compressed although we ask for none: grpc-go, and so the Collector, answers as it was asked.
fn unframe(mut body: Bytes, coding: Option<Coding>) -> Result<Bytes, Backend> {
    if body.is_empty() {
        return Ok(body);
    }
    if body.len() < 5 {
        return Err(Backend::Garbage);
    }
    let prefix = body.split_to(5);
    let length = u32::try_from(body.len()).map_err(|_| Backend::Garbage)?;
    match (prefix.split_first(), coding) {
        (Some((_, stated)), _) if stated != length.to_be_bytes() => Err(Backend::Garbage),
        (Some((0, _)), _) => Ok(body),
        (Some((1, _)), Some(coding)) => decompressed(&body, coding).map_err(|_| Backend::Garbage),
        _ => Err(Backend::Garbage),
    }
}

fn decompressed(message: &[u8], coding: Coding) -> Result<Bytes, Error> {
    let mut decoder = Decoder::new(coding, MAX_ANSWER)?;
    decoder.push(message, &mut |_| Ok(()))?;
    Ok(Bytes::from(decoder.finish()?))
}

/// The status in headers or trailers, if there is one.
fn status(headers: &HeaderMap) -> Option<Result<(), Backend>> {
    let code = headers.get("grpc-status")?.to_str().ok().and_then(|value| value.parse().ok());
    // UNKNOWN, as gRPC clients read a status that they don't know.
    let code = code.filter(|code| (0..=16).contains(code)).unwrap_or(2);
    if code == 0 {
        return Some(Ok(()));
    }
    let bytes_of = |name| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let message = answer::bounded(&percent_decode(bytes_of("grpc-message")).decode_utf8_lossy());
    let details = Bytes::from(BASE64.decode(bytes_of("grpc-status-details-bin")).unwrap_or_default());
    let retry_after =
        Status::decode(Encoding::Protobuf, &details).ok().and_then(|status| status.retry_after());
    Some(Err(Backend::Grpc { code, retry_after, message, details }))
}
