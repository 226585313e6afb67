//! Our own logs and metrics. Never payload text.

use std::time::Duration;

use crate::otlp::{Protocol, Signal};
use crate::redact::Report;

/// How a request ended, as a metrics label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The backend has it.
    Accepted,
    /// The client's fault.
    Rejected,
    /// The backend did not accept it.
    BackendFailed,
    /// No room.
    Overloaded,
    /// Our fault.
    Failed,
}

/// Every counter of the process (`blackbar_*`).
#[derive(Debug, Default)]
pub struct Metrics {}

impl Metrics {
    /// One request is over: `bytes` is the decompressed size.
    pub fn request(&self, signal: Signal, protocol: Protocol, outcome: Outcome, items: u64, bytes: u64) {
        let _ = (signal, protocol, outcome, items, bytes);
    }

    /// What the redactor did to one request, and how long it took.
    pub fn redacted(&self, signal: Signal, report: &Report, took: Duration) {
        let _ = (signal, report, took);
    }

    /// One exchange with the backend.
    pub fn backend(&self, signal: Signal, took: Duration, ok: bool) {
        let _ = (signal, took, ok);
    }

    /// Bytes of request bodies held now.
    pub fn set_in_flight_bytes(&self, bytes: u64) {
        let _ = bytes;
    }

    /// The Prometheus text exposition.
    pub fn render(&self) -> String {
        String::new()
    }
}
