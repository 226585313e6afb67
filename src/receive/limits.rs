//! How much is let in at once: requests and the bytes of their bodies. The one owner of both counts.
//!
//! A door asks for an [`Admission`] before it reads a body, charges bytes to it as they arrive and as they are
//! decompressed, and drops it when the reply is done; dropping gives everything back. Connections are bounded by
//! `listener`, the size of one body by `body`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::settings::LimitSettings;
use crate::error::Overload;
use crate::telemetry::Metrics;

/// Longest time that a client may give a request by `grpc-timeout`, unless `request_timeout` is longer: what it
/// holds of the limits must come back some day.
pub(super) const LONGEST_CLIENT_DEADLINE: Duration = Duration::from_secs(300);

/// How long a connection without a request is kept. SDKs export every 5 to 60 s over one connection.
pub(super) const IDLE_CONNECTION: Duration = Duration::from_secs(300);

/// Bytes of one HTTP/2 header list. API keys are long; nothing else in OTLP is.
pub(super) const MAX_HEADER_BYTES: u32 = 32 << 10;

/// Bytes of an HTTP/1 connection that are read before they are asked for: also the bound of a request head.
pub(super) const MAX_READ_AHEAD: usize = 64 << 10;

/// HTTP/2 streams open at once per connection.
pub(super) const MAX_STREAMS: u32 = 256;

/// What all doors have in flight, and when the last request came.
#[derive(Debug)]
pub struct Limits {
    settings: LimitSettings,
    metrics: Arc<Metrics>,
    requests: AtomicUsize,
    bytes: AtomicUsize,
    last: Mutex<Instant>,
    none_left: Notify,
}

impl Limits {
    /// Limits shared by every door of the process; what is in flight is shown in `metrics`.
    pub fn new(settings: LimitSettings, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            settings,
            metrics,
            requests: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            last: Mutex::new(Instant::now()),
            none_left: Notify::new(),
        })
    }

    /// The values these limits were built from.
    pub fn settings(&self) -> &LimitSettings {
        &self.settings
    }

    /// Export requests being received, redacted or forwarded now.
    pub fn requests_in_flight(&self) -> usize {
        self.requests.load(Ordering::Acquire)
    }

    /// Bytes of request bodies held now.
    pub fn bytes_in_flight(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    /// Waits until no request is in flight and none has come for `quiet`, or until `longest` has passed, whichever
    /// is first. Call it before the listeners are told to stop: clients outlive a sidecar's SIGTERM.
    pub async fn quiet(&self, quiet: Duration, longest: Duration) {
        let give_up = Instant::now() + longest;
        let _ = tokio::time::timeout_at(give_up, async {
            loop {
                let none_left = self.none_left.notified();
                if self.requests_in_flight() > 0 {
                    none_left.await;
                    continue;
                }
                let until = self.last_request() + quiet;
                if Instant::now() >= until {
                    return;
                }
                tokio::time::sleep_until(until).await;
            }
        })
        .await;
    }

    /// The process's counters.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Lets one request in.
    ///
    /// # Errors
    ///
    /// [`Overload::Requests`] if as many as allowed are in flight.
    pub(super) fn admit(self: &Arc<Self>) -> Result<Admission, Overload> {
        self.touch();
        if self.requests.fetch_add(1, Ordering::AcqRel) >= self.settings.max_in_flight_requests {
            self.leave();
            return Err(Overload::Requests);
        }
        self.show();
        Ok(Admission { limits: Arc::clone(self), charged: 0 })
    }

    fn last_request(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn leave(&self) {
        if self.requests.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.none_left.notify_waiters();
        }
    }

    fn show(&self) {
        self.metrics.set_in_flight_bytes(self.bytes_in_flight() as u64);
        self.metrics.set_in_flight_requests(self.requests_in_flight() as u64);
    }
}

/// One request's share of the limits. Dropping it gives the share back.
#[derive(Debug)]
pub(super) struct Admission {
    limits: Arc<Limits>,
    charged: usize,
}

impl Admission {
    /// Charges `bytes` more to this request.
    ///
    /// # Errors
    ///
    /// [`Overload::Bytes`] if that is more than is left; nothing is charged then.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Overload> {
        let before = self.limits.bytes.fetch_add(bytes, Ordering::AcqRel);
        if before.saturating_add(bytes) > self.limits.settings.max_in_flight_bytes {
            self.limits.bytes.fetch_sub(bytes, Ordering::AcqRel);
            return Err(Overload::Bytes);
        }
        self.charged += bytes;
        self.limits.show();
        Ok(())
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.limits.bytes.fetch_sub(self.charged, Ordering::AcqRel);
        self.limits.touch();
        self.limits.leave();
        self.limits.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(requests: usize, bytes: usize) -> Arc<Limits> {
        let settings = LimitSettings {
            max_in_flight_requests: requests,
            max_in_flight_bytes: bytes,
            ..LimitSettings::default()
        };
        Limits::new(settings, Arc::new(Metrics::default()))
    }

    #[test]
    fn what_was_charged_comes_back() {
        let limits = limits(2, 10);
        let mut first = limits.admit().unwrap();
        let mut second = limits.admit().unwrap();
        assert_eq!(limits.admit().unwrap_err(), Overload::Requests);
        first.charge(6).unwrap();
        assert_eq!(second.charge(5), Err(Overload::Bytes));
        second.charge(4).unwrap();
        assert_eq!((limits.requests_in_flight(), limits.bytes_in_flight()), (2, 10));
        drop(first);
        second.charge(6).unwrap();
        drop(second);
        assert_eq!((limits.requests_in_flight(), limits.bytes_in_flight()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn quiet_means_no_request_in_flight_and_none_for_a_while() {
        let (quiet, longest) = (Duration::from_secs(3), Duration::from_secs(20));
        let limits = limits(10, 10);
        let start = Instant::now();

        let admission = limits.admit().unwrap();
        let waiting = tokio::spawn({
            let limits = Arc::clone(&limits);
            async move { limits.quiet(quiet, longest).await }
        });
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(!waiting.is_finished(), "a request is in flight");
        drop(admission);
        waiting.await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 8);

        let held = limits.admit().unwrap();
        let start = Instant::now();
        limits.quiet(quiet, longest).await;
        assert_eq!(start.elapsed().as_secs(), 20);
        drop(held);
    }
}
