//! Every counter of the process, in one registry.
//!
//! Label values are names of ours (signal, protocol, outcome, reason) or kinds of the loaded rules, so the number of
//! series is bounded by the configuration and nothing a client sends can become a label.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::queue::QueueMetrics;
use crate::error::Error;
use crate::otlp::{Protocol, Signal};
use crate::redact::Report;

/// The content type of [`Metrics::render`]: OpenMetrics 1.0, which Prometheus reads since version 2.5.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How a request ended, as a metrics label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The backend has it, or the exporter's queue.
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

impl Outcome {
    /// The metrics label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::BackendFailed => "backend_failed",
            Self::Overloaded => "overloaded",
            Self::Failed => "failed",
        }
    }
}

impl From<&Error> for Outcome {
    fn from(error: &Error) -> Self {
        match error {
            Error::Client(_) => Self::Rejected,
            Error::Backend(_) => Self::BackendFailed,
            Error::Overload(_) => Self::Overloaded,
            Error::Redact(_) => Self::Failed,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    signal: &'static str,
    protocol: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    signal: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: Arc<str>,
    signal: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SignalLabels {
    signal: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;
type Level = Gauge<u64, AtomicU64>;

/// Every counter of the process (`blackbar_*`).
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    items: Family<OutcomeLabels, Counter>,
    bytes: Family<OutcomeLabels, Counter>,
    redactions: Family<KindLabels, Counter>,
    audited: Family<KindLabels, Counter>,
    unscanned: Family<ReasonLabels, Counter>,
    dropped_fields: Family<SignalLabels, Counter>,
    backend: Histograms<OutcomeLabels>,
    redact: Histograms<SignalLabels>,
    in_flight_bytes: Level,
    in_flight_requests: Level,
    canary_failures: Counter,
    pub(super) queue: QueueMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("blackbar"),
            requests: Family::default(),
            items: Family::default(),
            bytes: Family::default(),
            redactions: Family::default(),
            audited: Family::default(),
            unscanned: Family::default(),
            dropped_fields: Family::default(),
            backend: Family::new_with_constructor(backend_histogram),
            redact: Family::new_with_constructor(redact_histogram),
            in_flight_bytes: Gauge::default(),
            in_flight_requests: Gauge::default(),
            canary_failures: Counter::default(),
            queue: QueueMetrics::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    /// One request is over: `bytes` is the decompressed size.
    pub fn request(&self, signal: Signal, protocol: Protocol, outcome: Outcome, items: u64, bytes: u64) {
        let (signal, protocol, outcome) = (signal.as_str(), protocol.as_str(), outcome.as_str());
        self.requests.get_or_create(&RequestLabels { signal, protocol, outcome }).inc();
        let labels = OutcomeLabels { signal, outcome };
        self.items.get_or_create(&labels).inc_by(items);
        self.bytes.get_or_create(&labels).inc_by(bytes);
    }

    /// What the redactor did to one request, and how long it took.
    pub fn redacted(&self, signal: Signal, report: &Report, took: Duration) {
        let signal = signal.as_str();
        for (family, counts) in [(&self.redactions, &report.redactions), (&self.audited, &report.audited)] {
            for (kind, count) in counts {
                family.get_or_create(&KindLabels { kind: Arc::clone(kind), signal }).inc_by(*count);
            }
        }
        for (reason, count) in &report.unscanned {
            self.unscanned.get_or_create(&ReasonLabels { reason: reason.as_str() }).inc_by(*count);
        }
        let labels = SignalLabels { signal };
        if report.dropped_fields > 0 {
            self.dropped_fields.get_or_create(&labels).inc_by(report.dropped_fields);
        }
        self.redact.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// One exchange with the backend.
    pub fn backend(&self, signal: Signal, took: Duration, ok: bool) {
        let outcome = if ok { "ok" } else { "failed" };
        let labels = OutcomeLabels { signal: signal.as_str(), outcome };
        self.backend.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Bytes of request bodies held now.
    pub fn set_in_flight_bytes(&self, bytes: u64) {
        self.in_flight_bytes.set(bytes);
    }

    /// Requests being received, redacted or forwarded now.
    pub fn set_in_flight_requests(&self, requests: u64) {
        self.in_flight_requests.set(requests);
    }

    /// The self-canary came out of the redactor unredacted.
    pub fn canary_failed(&self) {
        self.canary_failures.inc();
    }

    /// The text exposition, of type [`CONTENT_TYPE`].
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a `String` can't fail; were it to, an empty page is an honest answer.
        if text::encode(&mut page, &self.registry).is_err() {
            page.clear();
        }
        page
    }

    fn registered(mut self) -> Self {
        let r = &mut self.registry;
        r.register("requests", "Export requests by how they ended", self.requests.clone());
        r.register("items", "Spans, log records, data points or profiles", self.items.clone());
        r.register("bytes", "Bytes of request bodies after decompression", self.bytes.clone());
        r.register("redactions", "Secrets replaced, by kind", self.redactions.clone());
        r.register("audited", "Findings of rules in audit mode, by kind", self.audited.clone());
        r.register(
            "unscanned",
            "Values that were withheld because they were not scanned",
            self.unscanned.clone(),
        );
        r.register("dropped_fields", "Unknown fields dropped for a finding", self.dropped_fields.clone());
        r.register_with_unit("backend", "One exchange with the backend", Unit::Seconds, self.backend.clone());
        r.register_with_unit("redact", "Redaction of one request", Unit::Seconds, self.redact.clone());
        r.register("in_flight_bytes", "Bytes of request bodies held now", self.in_flight_bytes.clone());
        r.register("in_flight_requests", "Requests in progress now", self.in_flight_requests.clone());
        r.register(
            "canary_failures",
            "Self-checks that redaction did not pass",
            self.canary_failures.clone(),
        );
        self.queue.register(r);
        r.register(
            "build",
            "The running build",
            Info::new(BuildLabels { version: env!("CARGO_PKG_VERSION") }),
        );
        self
    }
}

/// 1 ms to about 33 s: a loopback answer up to a client's whole patience.
fn backend_histogram() -> Histogram {
    Histogram::new((0..16).map(|power| 0.001 * f64::from(1_u32 << power)))
}

/// 10 us to about 2.6 s: a small span up to a body at the size limit.
fn redact_histogram() -> Histogram {
    Histogram::new((0..10).map(|power| 0.000_01 * f64::from(1_u32 << (2 * power))))
}
