//! The durable queue of an exporter: a redacted request is accepted once it is on disk, and delivered later, at least once.
//!
//! ```text
//!   append ──> ledger (room) ──> keeper (one thread: group commit, fsync) ──> store (redb, records with own checksums)
//!   next ──> read ──> done | dead_letter | quarantine
//! ```
//!
//! `recovery` and `salvage` bring back what is whole of a damaged store. Only a [`Redacted`] can be appended, and no
//! header of a client ever is. When and how records are delivered is the business of `forward::queued`.

mod files;
mod keeper;
mod ledger;
mod record;
mod recovery;
mod salvage;
pub mod settings;
mod store;

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::oneshot;

pub use files::{Storage, StorageError};

use self::keeper::{Draft, Job, Keeper, Unwritable};
use self::ledger::{Ledger, Size};
use self::settings::QueueSettings;
use crate::admin::Health;
use crate::error::Overload;
use crate::otlp::{Payload, Signal};
use crate::redact::Redacted;
use crate::telemetry::{Metrics, QueueRefusal};

/// Why a queue can't be opened. Stops the start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its directory.
    #[error("queue of exporter {exporter}: {source}")]
    Storage {
        /// The exporter's name.
        exporter: String,
        /// What is wrong with the directory.
        source: StorageError,
    },
    /// Its store.
    #[error("queue of exporter {exporter}: the store can't be opened: {reason}")]
    Store {
        /// The exporter's name.
        exporter: String,
        /// Why, in words of ours.
        reason: String,
    },
}

/// The queue of one exporter. Closed when it is dropped.
pub struct Queue {
    exporter: Arc<str>,
    ledger: Arc<Ledger>,
    jobs: Sender<Job>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    block_on_overflow: bool,
    metrics: Arc<Metrics>,
    // Holds the lock of the directory.
    _storage: Arc<Storage>,
}

/// A request that was read back. Not yet scrubbed again, so it is a [`Payload`].
#[derive(Debug)]
pub struct Stored {
    /// Which export request it is.
    pub signal: Signal,
    /// The body as it was stored.
    pub payload: Payload,
    /// How many Blackbars it had passed when it came.
    pub hops: u8,
    /// When it was accepted.
    pub accepted: SystemTime,
}

/// The disk did not do it. It may later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the queue's disk failed")]
pub struct DiskFailed;

impl Queue {
    /// Opens the queue of this exporter, with what is left in it from before.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the exporter and the reason.
    pub fn open(
        exporter: &str,
        settings: &QueueSettings,
        storage: Arc<Storage>,
        metrics: Arc<Metrics>,
        health: Arc<Health>,
    ) -> Result<Self, OpenError> {
        let prepared = storage.of_exporter(exporter).and_then(|directory| {
            let key = files::key(&directory, recovery::exists(&directory))?;
            Ok((directory, key))
        });
        let prepared =
            prepared.map_err(|source| OpenError::Storage { exporter: exporter.to_owned(), source })?;
        let ledger = Arc::new(Ledger::new(exporter, settings, Arc::clone(&metrics)));
        let store_error = |reason: String| OpenError::Store { exporter: exporter.to_owned(), reason };
        let keeper = Keeper::open(exporter, prepared, Arc::clone(&ledger), Arc::clone(&metrics), health)
            .map_err(|failure| store_error(failure.to_string()))?;
        let (jobs, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("queue".to_owned())
            .spawn(move || keeper.run(&receiver))
            .map_err(|error| store_error(error.kind().to_string()))?;
        Ok(Self {
            exporter: Arc::from(exporter),
            ledger,
            jobs,
            keeper: Mutex::new(Some(thread)),
            block_on_overflow: settings.block_on_overflow,
            metrics,
            _storage: storage,
        })
    }

    /// Stores a request that has passed so many Blackbars. It is on disk when this returns.
    ///
    /// # Errors
    ///
    /// [`Overload::QueueFull`] or [`Overload::QueueUnwritable`]: it is not stored, and worth another try.
    pub async fn append(&self, request: &Redacted, hops: u8, deadline: Instant) -> Result<(), Overload> {
        let result = self.try_append(request, hops, deadline).await;
        if let Err(overload) = &result {
            let reason = match overload {
                Overload::QueueFull => QueueRefusal::Full,
                _ => QueueRefusal::Disk,
            };
            self.metrics.queue_refused(&self.exporter, reason);
        }
        result
    }

    async fn try_append(&self, request: &Redacted, hops: u8, deadline: Instant) -> Result<(), Overload> {
        let (items, body) = (request.report().items, request.body().clone());
        let until = self.block_on_overflow.then(|| deadline.into());
        let size = Size::of(items, body.len() as u64);
        let room = self.ledger.reserve(size, until).await.ok_or(Overload::QueueFull)?;
        let draft = Draft { signal: request.signal(), items, hops, accepted: SystemTime::now(), body, room };
        let stored = self.ask(|answer| Job::Append { draft, answer }).await;
        stored.map_err(|DiskFailed| Overload::QueueUnwritable)
    }

    /// The number of the oldest request that nobody is delivering yet.
    pub async fn next(&self) -> u64 {
        self.ledger.next().await
    }

    /// Nobody is delivering this request any more: it takes its place in the queue again.
    pub fn give_back(&self, number: u64) {
        self.ledger.give_back(number);
    }

    /// Reads a request back. `None`: its record was damaged and is in quarantine, and counted.
    ///
    /// # Errors
    ///
    /// [`DiskFailed`]: try again later.
    pub async fn read(&self, number: u64) -> Result<Option<Stored>, DiskFailed> {
        let record = self.ask(|answer| Job::Read { number, answer }).await?;
        Ok(record.map(|record| Stored {
            signal: record.header.signal,
            payload: Payload::new(record.body),
            hops: record.header.hops,
            accepted: record.header.accepted,
        }))
    }

    /// The backend has the request: it leaves the queue.
    pub fn done(&self, number: u64) {
        // Where the keeper is gone, the process is ending: it is delivered once more after the next start.
        let _ = self.jobs.send(Job::Remove { number });
    }

    /// Keeps a request that the backend refused for good in a file of its own, `reason` in its name, and counts it.
    ///
    /// # Errors
    ///
    /// [`DiskFailed`]: it is still in the queue.
    pub async fn dead_letter(&self, number: u64, reason: &str, request: &Redacted) -> Result<(), DiskFailed> {
        let name = format!("{number:020}-{}-{reason}.pb", request.signal());
        let body: Bytes = request.body().clone();
        self.ask(|answer| Job::DeadLetter { number, name, body, answer }).await
    }

    /// Keeps a record that can't be handled in a file of its own, and counts it.
    ///
    /// # Errors
    ///
    /// [`DiskFailed`]: it is still in the queue.
    pub async fn quarantine(&self, number: u64) -> Result<(), DiskFailed> {
        self.ask(|answer| Job::Quarantine { number, answer }).await
    }

    /// Returns once everything is delivered.
    pub async fn empty(&self) {
        self.ledger.empty().await;
    }

    /// Puts on disk what has been delivered, and closes the store. What is not delivered stays for the next start.
    pub async fn close(&self) {
        if let Some(keeper) = self.end() {
            let _ = tokio::task::spawn_blocking(move || keeper.join()).await;
        }
    }

    fn end(&self) -> Option<JoinHandle<()>> {
        let _ = self.jobs.send(Job::Close);
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn ask<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, Unwritable>>) -> Job,
    ) -> Result<T, DiskFailed> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(job(answer)).map_err(|_| DiskFailed)?;
        match answered.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Unwritable)) | Err(_) => Err(DiskFailed),
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The lock of the directory must outlive the thread that writes there.
        if let Some(keeper) = self.end() {
            let _ = keeper.join();
        }
    }
}

// By hand: a queue is a name; what is in it is nobody's business.
impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({})", self.exporter)
    }
}
