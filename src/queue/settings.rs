//! What a queue may be told. Plain validated values: `config` makes them.

use std::path::PathBuf;

/// The queue of one exporter (`sending_queue`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    /// Where it is kept (`storage`).
    pub storage: StorageSettings,
    /// How much it may hold, in units of `sizer` (`queue_size`).
    pub size: u64,
    /// What `size` counts.
    pub sizer: Sizer,
    /// How many requests are on their way to the backend at once (`num_consumers`).
    pub consumers: usize,
    /// Where the queue is full, wait for room within the client's deadline instead of refusing at once.
    pub block_on_overflow: bool,
}

/// A directory for queues (`extensions.file_storage`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageSettings {
    /// The directory; each exporter has one of its own in it.
    pub directory: PathBuf,
    /// Make it where it is missing.
    pub create_directory: bool,
}

/// What the size of a queue is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizer {
    /// Export requests.
    Requests,
    /// Spans, log records, data points, profiles.
    Items,
    /// Bytes of redacted bodies.
    Bytes,
}

impl Sizer {
    /// The word in configuration and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Items => "items",
            Self::Bytes => "bytes",
        }
    }
}
