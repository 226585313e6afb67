//! The proof of redaction: the only thing that `forward` accepts.

use std::fmt;

use bytes::Bytes;

use super::Report;
use crate::otlp::{Payload, Signal};

/// An OTLP export request (protobuf) that has been through the redactor.
///
/// Its constructor is private to `redact`: sending an unredacted body does not compile.
#[derive(Clone)]
pub struct Redacted {
    signal: Signal,
    body: Bytes,
    report: Report,
}

impl Redacted {
    pub(super) fn new(signal: Signal, body: Bytes, report: Report) -> Self {
        Self { signal, body, report }
    }

    /// The one exception, named as one: benchmarks and pipelines with `unsafe_no_scrub: true`.
    pub(super) fn unsafe_passthrough(signal: Signal, payload: Payload) -> Self {
        Self { signal, body: payload.into_bytes(), report: Report::default() }
    }

    /// Which export request the body is.
    pub fn signal(&self) -> Signal {
        self.signal
    }

    /// The redacted request, in protobuf.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// What was found and done.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redacted({}, {} B)", self.signal, self.body.len())
    }
}
