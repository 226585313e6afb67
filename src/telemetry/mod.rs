//! Our own logs and metrics. Never payload text.
//!
//! `metrics` counts, `logs` writes to standard error. Serving the numbers is `admin`.

pub mod logs;
mod metrics;
mod queue;

pub use metrics::{CONTENT_TYPE, Metrics, Outcome};
pub use queue::{QueueLevel, QueueLoss, QueueRefusal};
