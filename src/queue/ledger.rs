//! What the queue holds, in memory: sizes against capacity, and the order in which consumers get the records. The truth
//! is on disk; this is built from it at the start and told of every change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::settings::{QueueSettings, Sizer};
use crate::telemetry::{Metrics, QueueLevel};

/// The size of one request, or of all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) requests: u64,
    pub(super) items: u64,
    pub(super) bytes: u64,
}

impl Size {
    /// One request.
    pub(super) fn of(items: u64, bytes: u64) -> Self {
        Self { requests: 1, items, bytes }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            items: self.items.saturating_add(other.items),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            items: self.items.saturating_sub(other.items),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    fn by(self, sizer: Sizer) -> u64 {
        match sizer {
            Sizer::Requests => self.requests,
            Sizer::Items => self.items,
            Sizer::Bytes => self.bytes,
        }
    }
}

/// The ledger of one queue.
pub(super) struct Ledger {
    exporter: Arc<str>,
    capacity: u64,
    sizer: Sizer,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
    arrived: Notify,
    freed: Notify,
}

#[derive(Default)]
struct State {
    /// On disk and not delivered yet.
    held: BTreeMap<u64, Size>,
    /// Those of them that no consumer has.
    waiting: BTreeSet<u64>,
    /// All of `held`, and what is being written.
    total: Size,
}

/// Room for a request that is being written. Given back where that fails.
pub(super) struct Room {
    ledger: Arc<Ledger>,
    size: Size,
}

impl Ledger {
    pub(super) fn new(exporter: &str, settings: &QueueSettings, metrics: Arc<Metrics>) -> Self {
        let exporter: Arc<str> = Arc::from(exporter);
        metrics.set_queue_capacity(&exporter, settings.sizer.as_str(), settings.size);
        let ledger = Self {
            exporter,
            capacity: settings.size,
            sizer: settings.sizer,
            metrics,
            state: Mutex::default(),
            arrived: Notify::new(),
            freed: Notify::new(),
        };
        ledger.show(&ledger.state());
        ledger
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, state: &State) {
        let Size { requests, items, bytes } = state.total;
        self.metrics.set_queue(&self.exporter, QueueLevel { requests, items, bytes });
    }

    /// Room for a request of this size, at once or, where `until` is given, by then. `None`: the queue is full.
    ///
    /// An empty queue takes a request of any size: a larger one than the queue would else be refused for ever.
    pub(super) async fn reserve(self: &Arc<Self>, size: Size, until: Option<Instant>) -> Option<Room> {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if let Some(room) = self.try_reserve(size) {
                return Some(room);
            }
            timeout_at(until?, freed).await.ok()?;
        }
    }

    fn try_reserve(self: &Arc<Self>, size: Size) -> Option<Room> {
        let mut state = self.state();
        let total = state.total.plus(size);
        if total.by(self.sizer) > self.capacity && state.total.requests > 0 {
            return None;
        }
        state.total = total;
        self.show(&state);
        Some(Room { ledger: Arc::clone(self), size })
    }

    /// A record of the store that was opened.
    pub(super) fn found(self: &Arc<Self>, number: u64, size: Size) {
        let mut state = self.state();
        state.total = state.total.plus(size);
        self.show(&state);
        drop(state);
        Room { ledger: Arc::clone(self), size }.fill(number);
    }

    /// The oldest record that no consumer has.
    pub(super) async fn next(&self) -> u64 {
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let first = self.state().waiting.pop_first();
            if let Some(number) = first {
                return number;
            }
            arrived.await;
        }
    }

    /// A consumer has given up a record: the next one may have it, in its old place.
    pub(super) fn give_back(&self, number: u64) {
        let mut state = self.state();
        if state.held.contains_key(&number) {
            state.waiting.insert(number);
            drop(state);
            self.arrived.notify_one();
        }
    }

    /// A record is delivered, or kept elsewhere. Gives whether it was held.
    pub(super) fn done(&self, number: u64) -> bool {
        let mut state = self.state();
        state.waiting.remove(&number);
        let Some(size) = state.held.remove(&number) else { return false };
        state.total = state.total.minus(size);
        self.show(&state);
        drop(state);
        self.freed.notify_waiters();
        true
    }

    /// The numbers of every record on disk that is not delivered.
    pub(super) fn held(&self) -> BTreeSet<u64> {
        self.state().held.keys().copied().collect()
    }

    /// Until everything is delivered.
    pub(super) async fn empty(&self) {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if self.state().held.is_empty() {
                return;
            }
            freed.await;
        }
    }
}

impl Room {
    /// The request is on disk under this number: consumers may have it.
    pub(super) fn fill(mut self, number: u64) {
        let size = std::mem::take(&mut self.size);
        let mut state = self.ledger.state();
        state.held.insert(number, size);
        state.waiting.insert(number);
        drop(state);
        // One for a consumer that waits, else kept for the next that does.
        self.ledger.arrived.notify_one();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.size != Size::default() {
            let mut state = self.ledger.state();
            state.total = state.total.minus(self.size);
            self.ledger.show(&state);
            drop(state);
            self.ledger.freed.notify_waiters();
        }
    }
}
