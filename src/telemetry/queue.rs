//! The counters of the queues (`blackbar_queue_*`), by exporter: names of the configuration, so the series are bounded.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;

/// What a queue holds: accepted and not delivered yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLevel {
    /// Export requests.
    pub requests: u64,
    /// Spans, log records, data points, profiles.
    pub items: u64,
    /// Bytes of redacted bodies.
    pub bytes: u64,
}

/// Why a request was not taken into a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueRefusal {
    /// There is no room.
    Full,
    /// The disk did not take it.
    Disk,
}

impl QueueRefusal {
    /// The metrics label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Disk => "disk",
        }
    }
}

/// Why an accepted request was not delivered. It is kept in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLoss {
    /// The backend refused it for good, or the retries that were asked for ended.
    DeadLettered,
    /// Its record was damaged.
    Quarantined,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ExporterLabels {
    exporter: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CapacityLabels {
    exporter: Arc<str>,
    sizer: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    exporter: Arc<str>,
    reason: &'static str,
}

type Level<L> = Family<L, Gauge<u64, AtomicU64>>;

/// The queues' part of [`Metrics`].
#[derive(Debug)]
pub(super) struct QueueMetrics {
    requests: Level<ExporterLabels>,
    items: Level<ExporterLabels>,
    bytes: Level<ExporterLabels>,
    capacity: Level<CapacityLabels>,
    refused: Family<RefusalLabels, Counter>,
    waited: Family<ExporterLabels, Histogram, fn() -> Histogram>,
    rejected: Family<ExporterLabels, Counter>,
    dead_lettered: Family<ExporterLabels, Counter>,
    quarantined: Family<ExporterLabels, Counter>,
}

impl Default for QueueMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            items: Family::default(),
            bytes: Family::default(),
            capacity: Family::default(),
            refused: Family::default(),
            waited: Family::new_with_constructor(wait_histogram),
            rejected: Family::default(),
            dead_lettered: Family::default(),
            quarantined: Family::default(),
        }
    }
}

/// 4 ms to about 3 days: a backend that is up, to one that was down over a long weekend.
fn wait_histogram() -> Histogram {
    Histogram::new((1..15).map(|power| 0.001 * f64::from(1_u32 << (2 * power))))
}

impl QueueMetrics {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register("queue_requests", "Requests that a queue holds", self.requests.clone());
        r.register("queue_items", "Items that a queue holds", self.items.clone());
        r.register("queue_bytes", "Bytes of bodies that a queue holds", self.bytes.clone());
        r.register("queue_capacity", "What a queue may hold, in units of its sizer", self.capacity.clone());
        r.register("queue_enqueue_failures", "Requests that a queue did not take", self.refused.clone());
        r.register_with_unit("queue_wait", "From accepted to delivered", Unit::Seconds, self.waited.clone());
        r.register(
            "queue_rejected_items",
            "Items of delivered requests that the backend did not take",
            self.rejected.clone(),
        );
        r.register(
            "queue_dead_lettered",
            "Requests that the backend refused for good, kept in files",
            self.dead_lettered.clone(),
        );
        r.register(
            "queue_quarantined",
            "Damaged records of a queue, put aside or missing",
            self.quarantined.clone(),
        );
    }
}

impl Metrics {
    /// What a queue may hold.
    pub fn set_queue_capacity(&self, exporter: &Arc<str>, sizer: &'static str, capacity: u64) {
        let labels = CapacityLabels { exporter: Arc::clone(exporter), sizer };
        self.queue.capacity.get_or_create(&labels).set(capacity);
        // There from the start, so that an alert on a rise sees the first one.
        let labels = ExporterLabels { exporter: Arc::clone(exporter) };
        drop(self.queue.dead_lettered.get_or_create(&labels));
        drop(self.queue.quarantined.get_or_create(&labels));
    }

    /// What a queue holds now.
    pub fn set_queue(&self, exporter: &Arc<str>, level: QueueLevel) {
        let labels = ExporterLabels { exporter: Arc::clone(exporter) };
        self.queue.requests.get_or_create(&labels).set(level.requests);
        self.queue.items.get_or_create(&labels).set(level.items);
        self.queue.bytes.get_or_create(&labels).set(level.bytes);
    }

    /// A request was not taken into a queue; its client was told to retry.
    pub fn queue_refused(&self, exporter: &Arc<str>, reason: QueueRefusal) {
        let labels = RefusalLabels { exporter: Arc::clone(exporter), reason: reason.as_str() };
        self.queue.refused.get_or_create(&labels).inc();
    }

    /// The backend has a request of a queue, so long after it was accepted, but for so many of its items.
    pub fn queue_delivered(&self, exporter: &Arc<str>, waited: Duration, rejected: u64) {
        let labels = ExporterLabels { exporter: Arc::clone(exporter) };
        self.queue.waited.get_or_create(&labels).observe(waited.as_secs_f64());
        self.queue.rejected.get_or_create(&labels).inc_by(rejected);
    }

    /// So many requests of a queue were not delivered, and are kept in files.
    pub fn queue_lost(&self, exporter: &Arc<str>, loss: QueueLoss, requests: u64) {
        let family = match loss {
            QueueLoss::DeadLettered => &self.queue.dead_lettered,
            QueueLoss::Quarantined => &self.queue.quarantined,
        };
        family.get_or_create(&ExporterLabels { exporter: Arc::clone(exporter) }).inc_by(requests);
    }
}
