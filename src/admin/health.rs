//! Whether this process may take work. Written by `app` (phases), `canary` (checks) and queues, read by every request.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::watch;

/// Failed checks in a row after which the process asks to be restarted.
const FAILURES_UNTIL_DEAD: u32 = 3;

/// What `/readyz` and `grpc.health.v1` say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Listeners are not open, or redaction has not been checked yet.
    Starting,
    /// Taking work.
    Ready,
    /// The self-canary survived: requests are refused.
    CanarySurvived,
    /// A queue can't be written: requests for its exporter are refused.
    QueueUnwritable,
    /// Shutting down: requests are still taken, but send no new ones.
    Draining,
}

impl Readiness {
    /// A word for pages and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::CanarySurvived => "redaction self-check failed",
            Self::QueueUnwritable => "a queue can't be written",
            Self::Draining => "draining",
        }
    }
}

/// Health of the process. Fails closed: until a check has passed, redaction does not count as working.
#[derive(Debug)]
pub struct Health {
    works: AtomicBool,
    failures: AtomicU32,
    failed_queues: AtomicU32,
    serving: AtomicBool,
    draining: AtomicBool,
    ready: watch::Sender<bool>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            works: AtomicBool::new(false),
            failures: AtomicU32::new(0),
            failed_queues: AtomicU32::new(0),
            serving: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            ready: watch::Sender::new(false),
        }
    }
}

impl Health {
    /// Whether the last check saw redaction work. Where not, a request is refused with
    /// [`crate::error::Redact::CanarySurvived`].
    pub fn redaction_works(&self) -> bool {
        self.works.load(Ordering::Acquire)
    }

    /// Whether the process is worth keeping: false after three failed checks in a row.
    pub fn is_live(&self) -> bool {
        self.failures.load(Ordering::Acquire) < FAILURES_UNTIL_DEAD
    }

    /// What `/readyz` says now.
    pub fn readiness(&self) -> Readiness {
        if self.draining.load(Ordering::Acquire) {
            Readiness::Draining
        } else if self.failures.load(Ordering::Acquire) > 0 {
            Readiness::CanarySurvived
        } else if self.failed_queues.load(Ordering::Acquire) > 0 {
            Readiness::QueueUnwritable
        } else if self.redaction_works() && self.serving.load(Ordering::Acquire) {
            Readiness::Ready
        } else {
            Readiness::Starting
        }
    }

    /// Sees whether [`Readiness::Ready`] holds, now and at every change, for `grpc.health.v1`.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.ready.subscribe()
    }

    /// The listeners are open.
    pub fn set_serving(&self) {
        self.serving.store(true, Ordering::Release);
        self.announce();
    }

    /// Shutdown has begun; there is no way back.
    pub fn set_draining(&self) {
        self.draining.store(true, Ordering::Release);
        self.announce();
    }

    /// A check passed.
    pub fn canary_passed(&self) {
        self.failures.store(0, Ordering::Release);
        self.works.store(true, Ordering::Release);
        self.announce();
    }

    /// A check failed; gives the failures in a row.
    pub fn canary_survived(&self) -> u32 {
        self.works.store(false, Ordering::Release);
        let before = self.failures.load(Ordering::Acquire);
        let failures = before.saturating_add(1);
        // One writer (the canary's task), so load and store need not be one step.
        self.failures.store(failures, Ordering::Release);
        self.announce();
        failures
    }

    /// A queue can't be written. To be taken back by [`Self::queue_works`].
    pub fn queue_failed(&self) {
        self.failed_queues.fetch_add(1, Ordering::AcqRel);
        self.announce();
    }

    /// That queue can be written again.
    pub fn queue_works(&self) {
        self.failed_queues.fetch_sub(1, Ordering::AcqRel);
        self.announce();
    }

    fn announce(&self) {
        // Computed under the channel's lock, so that of two writers the later one tells the newer state.
        self.ready.send_if_modified(|told| {
            let now = self.readiness() == Readiness::Ready;
            let changed = *told != now;
            *told = now;
            changed
        });
    }
}
