//! An exporter behind a durable queue: accepts once the request is on disk, and delivers from there, in the order in which
//! it was accepted, each consumer one request at a time until the backend has it.
//!
//! What is read back is scrubbed again before it is sent, so that nothing on disk can bypass [`Redacted`]. What the
//! backend refuses for good is kept in a file; what can't be handled at all is put aside: neither holds up the rest.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use http::HeaderMap;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::retry::Backoff;
use super::settings::{ExporterSettings, Retry};
use super::{BuildError, Call, Exporter, Reply, hops};
use crate::admin::Health;
use crate::error::{Backend, Overload};
use crate::offload::offload;
use crate::otlp::{Signal, reply};
use crate::queue::{DiskFailed, Queue, Stored};
use crate::redact::{Redacted, Redactor};
use crate::telemetry::Metrics;

/// Between two tries of a disk that failed, or of a redactor that does not pass its check.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest wait for one answer where the settings say none: a connection that is dead must not hold a consumer.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(600);

/// The redactor of each signal that goes to one exporter.
pub type Redactors = BTreeMap<Signal, Arc<Redactor>>;

/// The exporter and its queue.
pub struct Queued {
    name: Arc<str>,
    exporter: Exporter,
    queue: Queue,
    consumers: usize,
    retry: Retry,
    timeout: Duration,
    metrics: Arc<Metrics>,
    health: Arc<Health>,
}

/// The process is ending: the request stays in the queue.
struct Stopped;

impl Queued {
    /// Joins an exporter with its queue, which is open.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: which setting or file of the exporter, and why.
    pub fn new(
        name: &str,
        settings: &ExporterSettings,
        (queue, consumers): (Queue, usize),
        metrics: Arc<Metrics>,
        health: Arc<Health>,
    ) -> Result<Self, BuildError> {
        let mut once = settings.clone();
        let (retry, timeout) = match &mut once {
            // The exporter tries once, and its time is one attempt's; the consumers wait in between.
            ExporterSettings::OtlpGrpc(remote) | ExporterSettings::OtlpHttp { remote, .. } => {
                let retry = remote.retry.clone();
                remote.retry.enabled = false;
                (retry, if remote.timeout.is_zero() { LONGEST_ATTEMPT } else { remote.timeout })
            }
            ExporterSettings::File { .. } | ExporterSettings::Stdout => (Retry::default(), LONGEST_ATTEMPT),
        };
        let exporter = Exporter::new(name, &once, Arc::clone(&metrics))?;
        Ok(Self { name: Arc::from(name), exporter, queue, consumers, retry, timeout, metrics, health })
    }

    /// Stores a request; on disk when this returns.
    ///
    /// # Errors
    ///
    /// [`Overload`]: it is not stored, and worth another try.
    pub async fn accept(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Overload> {
        // Of the client's headers only this number is kept: without it a loop would never end.
        let hops = u8::try_from(hops::count(call.headers)).unwrap_or(u8::MAX);
        self.queue.append(request, hops, call.deadline).await?;
        Ok(Reply::default())
    }

    /// Delivers what is in the queue and what comes, until `stop`; attempts under way are then finished, and no other begun.
    pub async fn deliver(self: Arc<Self>, redactors: Redactors, stop: CancellationToken) {
        let redactors = Arc::new(redactors);
        let mut consumers = JoinSet::new();
        for _ in 0..self.consumers {
            let (queued, redactors, stop) = (Arc::clone(&self), Arc::clone(&redactors), stop.clone());
            consumers.spawn(async move { queued.consume(&redactors, &stop).await });
        }
        while consumers.join_next().await.is_some() {}
    }

    /// Returns once everything is delivered.
    pub async fn empty(&self) {
        self.queue.empty().await;
    }

    /// Puts on disk what has been delivered, and closes the queue.
    pub async fn close(&self) {
        self.queue.close().await;
    }

    async fn consume(&self, redactors: &Redactors, stop: &CancellationToken) {
        loop {
            let number = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                number = self.queue.next() => number,
            };
            let handled = AssertUnwindSafe(self.handle(number, redactors, stop)).catch_unwind().await;
            let handled = match handled {
                Ok(handled) => handled,
                // A request that makes us panic must not do so again and again.
                Err(_) => insist(stop, || self.queue.quarantine(number)).await,
            };
            if handled.is_err() {
                self.queue.give_back(number);
                return;
            }
        }
    }

    /// One request, from the disk to the backend or to where it is kept.
    async fn handle(
        &self,
        number: u64,
        redactors: &Redactors,
        stop: &CancellationToken,
    ) -> Result<(), Stopped> {
        let Some(stored) = insist(stop, || self.queue.read(number)).await? else { return Ok(()) };
        while !self.health.redaction_works() {
            pause(stop, PAUSE).await?;
        }
        let (headers, accepted) = (hops::after(stored.hops), stored.accepted);
        let Some(request) = self.scrub(stored, redactors).await else {
            return insist(stop, || self.queue.quarantine(number)).await;
        };
        match self.send(&request, &headers, stop).await? {
            Ok(reply) => {
                let waited = accepted.elapsed().unwrap_or_default();
                self.metrics.queue_delivered(&self.name, waited, reply::rejected_items(&reply.message));
                self.queue.done(number);
                Ok(())
            }
            Err(failure) => {
                tracing::warn!(exporter = &*self.name, reason = %failure, "a request is kept as a dead letter");
                let reason = in_a_name(&failure);
                insist(stop, || self.queue.dead_letter(number, &reason, &request)).await
            }
        }
    }

    /// `None`: it is no request of OTLP, or the redactor panicked.
    async fn scrub(&self, stored: Stored, redactors: &Redactors) -> Option<Redacted> {
        // A signal that has lost its pipeline since is scrubbed as another one is.
        let redactor = redactors.get(&stored.signal).or_else(|| redactors.values().next())?;
        let redactor = Arc::clone(redactor);
        let started = Instant::now();
        let redacted = offload(move || redactor.redact(stored.signal, stored.payload)).await.ok()?.ok()?;
        // The first time is counted. A second finding means that the rules have changed, or the disk.
        if !redacted.report().is_unchanged() {
            self.metrics.redacted(redacted.signal(), redacted.report(), started.elapsed());
        }
        Some(redacted)
    }

    async fn send(
        &self,
        request: &Redacted,
        headers: &HeaderMap,
        stop: &CancellationToken,
    ) -> Result<Result<Reply, Backend>, Stopped> {
        let mut backoff = Backoff::without_deadline(&self.retry);
        loop {
            if stop.is_cancelled() {
                return Err(Stopped);
            }
            let call = Call { headers, deadline: Instant::now() + self.timeout };
            let failure = match self.exporter.export(request, &call).await {
                Ok(reply) => return Ok(Ok(reply)),
                Err(failure) => failure,
            };
            match backoff.wait(&failure) {
                Some(wait) => pause(stop, wait).await?,
                None => return Ok(Err(failure)),
            }
        }
    }
}

// By hand: the exporter and its queue are names.
impl std::fmt::Debug for Queued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queued({})", self.name)
    }
}

/// Asks the disk until it does it.
async fn insist<T, F>(stop: &CancellationToken, mut ask: impl FnMut() -> F) -> Result<T, Stopped>
where
    F: Future<Output = Result<T, DiskFailed>>,
{
    loop {
        match ask().await {
            Ok(done) => return Ok(done),
            Err(DiskFailed) => pause(stop, PAUSE).await?,
        }
    }
}

async fn pause(stop: &CancellationToken, wait: Duration) -> Result<(), Stopped> {
    tokio::select! {
        () = stop.cancelled() => Err(Stopped),
        () = sleep(wait) => Ok(()),
    }
}

/// Why the backend did not take it, in the name of a file: words of ours only.
fn in_a_name(failure: &Backend) -> String {
    match failure {
        Backend::Unreachable => "unreachable".to_owned(),
        Backend::TimedOut => "timed-out".to_owned(),
        Backend::Http { status, .. } => format!("http-{status}"),
        Backend::Grpc { code, .. } => format!("grpc-{code}"),
        Backend::Garbage => "no-otlp-answer".to_owned(),
        Backend::Sink => "not-encoded".to_owned(),
    }
}
