//! What goes back to a client, as bytes: `Export<Signal>ServiceResponse` and `google.rpc.Status`, in both encodings.
//!
//! Decides nothing: which code and which HTTP status a failure gets is `respond`'s business. A backend's message passes
//! through here to the client and is never printed.

use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use prost_types::Any;
use serde::{Deserialize, Serialize};
use tonic_types::{RetryInfo, pb};

use super::json::{self, JsonError};
use super::schema::{Kind, Message};
use super::wire::{Malformed, Reader, Value};
use super::{Encoding, Signal};

/// Reads what a backend sent with a success status as this signal's export response; gives it in protobuf.
///
/// An empty body is success in either encoding: in JSON it is no message, but backends send it. A login page, a plain
/// "ok" or random bytes are not: counting those as success would lose data. So in protobuf, where little is invalid,
/// the response itself must hold no unknown field; unknown fields inside of `partial_success` pass.
///
/// # Errors
///
/// [`JsonError`] if the body is anything else.
pub fn read_response(signal: Signal, encoding: Encoding, body: Bytes) -> Result<Bytes, JsonError> {
    match encoding {
        Encoding::Protobuf => {
            check(signal.response(), Reader::new(&body), Unknown::Refused)?;
            Ok(body)
        }
        Encoding::Json if body.is_empty() => Ok(body),
        Encoding::Json => json::to_protobuf(signal.response(), &body).map(Bytes::from),
    }
}

/// Writes an export response (protobuf) in the client's encoding; protobuf stays as it is. Success is `{}` in JSON.
///
/// # Errors
///
/// [`JsonError`] if the message is malformed, which one from [`read_response`] is not.
pub fn write_response(signal: Signal, encoding: Encoding, message: &Bytes) -> Result<Bytes, JsonError> {
    match encoding {
        Encoding::Protobuf => Ok(message.clone()),
        Encoding::Json => json::from_protobuf(signal.response(), message).map(Bytes::from),
    }
}

/// How many items a success says that the backend did not take (`partial_success.rejected_*`).
pub fn rejected_items(message: &[u8]) -> u64 {
    // The shape of every signal's response: { 1: { 1: count, 2: text } }.
    let read = || -> Result<u64, Malformed> {
        let mut count = 0;
        let mut response = Reader::new(message);
        while let Some(record) = response.next_field()? {
            let mut partial = response.enter(record)?;
            while let Some(record) = partial.next_field()? {
                match (record.number, record.value) {
                    // Negative numbers are none.
                    (1, Value::Varint(items)) => count = if items >> 63 == 0 { items } else { 0 },
                    _ => partial.skip(record)?,
                }
            }
            response.skip(record)?;
        }
        Ok(count)
    };
    read().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Refused,
    Skipped,
}

/// Stricter than decoders are: known fields must have their own wire type, and text must be UTF-8.
fn check(message: &'static Message, mut reader: Reader<'_>, unknown: Unknown) -> Result<(), Malformed> {
    const NOT_A_RESPONSE: Malformed = Malformed("not an export response");
    while let Some(record) = reader.next_field()? {
        match (message.field(record.number), record.value) {
            (None, _) if unknown == Unknown::Refused => return Err(NOT_A_RESPONSE),
            (None, _) => reader.skip(record)?,
            (Some(field), _) if !record.is_a(field) => return Err(NOT_A_RESPONSE),
            (Some(field), value) => match (field.kind, value) {
                (Kind::Message(nested), _) => check(nested, reader.enter(record)?, Unknown::Skipped)?,
                (Kind::Text, Value::Delimited(text)) if std::str::from_utf8(text).is_err() => {
                    return Err(NOT_A_RESPONSE);
                }
                _ => {}
            },
        }
    }
    Ok(())
}

/// A `google.rpc.Status`: what every OTLP error body is (OTLP 1.11, "Failures").
#[derive(Clone, PartialEq)]
pub struct Status(pb::Status);

impl Status {
    /// A status with this gRPC code and message, and where a retry can help after a while, `RetryInfo`.
    pub fn new(code: i32, message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        let details = retry_after.map(retry_info).into_iter().collect();
        Self(pb::Status { code, message: message.into(), details })
    }

    /// The gRPC code.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// The message for the client.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What its `RetryInfo` says, if it has one with a delay. Negative delays are zero.
    pub fn retry_after(&self) -> Option<Duration> {
        let info = self.0.details.iter().find(|any| any.type_url == RetryInfo::TYPE_URL)?;
        RetryInfo::from(pb::RetryInfo::decode(info.value.as_slice()).ok()?).retry_delay
    }

    /// Encodes it. In protobuf that is also the content of gRPC's `grpc-status-details-bin`. JSON shows of the details only
    /// `RetryInfo`: other types can't be written without their schema.
    pub fn encode(&self, encoding: Encoding) -> Vec<u8> {
        match encoding {
            Encoding::Protobuf => self.0.encode_to_vec(),
            Encoding::Json => {
                let details = self.retry_after().map(JsonDetail::retry_info).into_iter().collect();
                let status = JsonStatus { code: self.code(), message: self.message(), details };
                // A struct of numbers and strings always serialises; a Vec always takes it.
                serde_json::to_vec(&status).unwrap_or_default()
            }
        }
    }

    /// Reads a status as a backend sent it.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the bytes are no status. In JSON an object with neither `code` nor `message` is none.
    pub fn decode(encoding: Encoding, body: &[u8]) -> Result<Self, JsonError> {
        const NOT_A_STATUS: JsonError = JsonError { what: "not a google.rpc.Status", offset: None };
        match encoding {
            Encoding::Protobuf => pb::Status::decode(body).map(Self).map_err(|_| NOT_A_STATUS),
            Encoding::Json => {
                let read: ReadStatus = serde_json::from_slice(body).map_err(|_| NOT_A_STATUS)?;
                if read.code.is_none() && read.message.is_none() {
                    return Err(NOT_A_STATUS);
                }
                let retry_after = read.details.unwrap_or_default().iter().find_map(read_retry_info);
                Ok(Self::new(read.code.unwrap_or(0), read.message.unwrap_or_default(), retry_after))
            }
        }
    }
}

// By hand: a backend's message may echo what it was sent.
impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Status({}, {} B)", self.code(), self.message().len())
    }
}

fn retry_info(delay: Duration) -> Any {
    let info = pb::RetryInfo::from(RetryInfo::new(Some(delay)));
    Any { type_url: RetryInfo::TYPE_URL.to_owned(), value: info.encode_to_vec() }
}

#[derive(Serialize)]
struct JsonStatus<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<JsonDetail>,
}

#[derive(Serialize)]
struct JsonDetail {
    #[serde(rename = "@type")]
    type_url: &'static str,
    #[serde(rename = "retryDelay")]
    retry_delay: String,
}

impl JsonDetail {
    fn retry_info(delay: Duration) -> Self {
        // proto3 JSON: seconds with 0, 3, 6 or 9 decimals.
        let (seconds, nanos) = (delay.as_secs(), delay.subsec_nanos());
        let retry_delay = match nanos {
            0 => format!("{seconds}s"),
            _ if nanos % 1_000_000 == 0 => format!("{seconds}.{:03}s", nanos / 1_000_000),
            _ if nanos % 1_000 == 0 => format!("{seconds}.{:06}s", nanos / 1_000),
            _ => format!("{seconds}.{nanos:09}s"),
        };
        Self { type_url: RetryInfo::TYPE_URL, retry_delay }
    }
}

#[derive(Deserialize)]
struct ReadStatus {
    code: Option<i32>,
    message: Option<String>,
    details: Option<Vec<serde_json::Value>>,
}

fn read_retry_info(detail: &serde_json::Value) -> Option<Duration> {
    if detail.get("@type")?.as_str()? != RetryInfo::TYPE_URL {
        return None;
    }
    let delay =
        detail.get("retryDelay").or_else(|| detail.get("retry_delay"))?.as_str()?.strip_suffix('s')?;
    if delay.starts_with('-') {
        return Some(Duration::ZERO);
    }
    let (seconds, fraction) = delay.split_once('.').unwrap_or((delay, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    Some(Duration::new(seconds.parse().ok()?, format!("{fraction:0<9}").parse().ok()?))
}
