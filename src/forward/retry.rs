//! The one retry policy: exponential back-off with jitter, the backend's own hints obeyed, never past the deadline.
//!
//! Which failures are worth a retry is said by [`Backend::is_retryable`], not here.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::settings::Retry;
use crate::error::Backend;

/// Longer than any process lives, and small enough to be added to a clock.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// The longest wait that a backend may ask for where there is no deadline.
const LONGEST_HINT: Duration = Duration::from_secs(600);

/// Tries until the backend accepts, refuses for good, or the next try could not begin before `deadline`.
///
/// # Errors
///
/// The last failure. Where the backend's hint goes past the deadline, that is the failure with the hint, at once.
pub(super) async fn run<T, F, Fut>(policy: &Retry, deadline: Instant, mut attempt: F) -> Result<T, Backend>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Backend>>,
{
    let mut backoff = Backoff::new(policy, deadline);
    loop {
        let failure = match timeout_at(backoff.limit, attempt()).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(failure)) => failure,
            Err(_) => return Err(Backend::TimedOut),
        };
        match backoff.wait(&failure) {
            Some(wait) => sleep(wait).await,
            None => return Err(failure),
        }
    }
}

/// The waits between the attempts of one request.
pub(super) struct Backoff<'a> {
    policy: &'a Retry,
    interval: Duration,
    /// No attempt goes past it.
    limit: Instant,
    longest_hint: Duration,
}

impl<'a> Backoff<'a> {
    /// Starts the time that the policy allows, at most until `deadline`.
    pub(super) fn new(policy: &'a Retry, deadline: Instant) -> Self {
        let limit = limit(policy, deadline);
        Self { policy, interval: policy.initial_interval, limit, longest_hint: Duration::MAX }
    }

    /// The same where nobody waits for an answer. A backend can't ask for more than [`LONGEST_HINT`] then: nobody would
    /// be told that it does.
    pub(super) fn without_deadline(policy: &'a Retry) -> Self {
        Self { longest_hint: LONGEST_HINT, ..Self::new(policy, Instant::now() + FOREVER) }
    }

    /// How long to wait after this failure. `None`: it is final.
    pub(super) fn wait(&mut self, failure: &Backend) -> Option<Duration> {
        if !self.policy.enabled || !failure.is_retryable() {
            return None;
        }
        // A hint of zero must not make a busy loop.
        let wait = jitter(self.interval, self.policy.randomization_factor)
            .max(failure.retry_after().unwrap_or_default().min(self.longest_hint));
        let next = Instant::now().checked_add(wait)?;
        self.interval = grow(self.interval, self.policy);
        (next < self.limit).then_some(wait)
    }
}

/// `max_elapsed_time` of zero means no limit of its own, as in the Collector. It bounds retries only where there are any.
fn limit(policy: &Retry, deadline: Instant) -> Instant {
    if !policy.enabled || policy.max_elapsed_time.is_zero() {
        return deadline;
    }
    Instant::now().checked_add(policy.max_elapsed_time).map_or(deadline, |limit| limit.min(deadline))
}

fn grow(interval: Duration, policy: &Retry) -> Duration {
    let grown = Duration::try_from_secs_f64(interval.as_secs_f64() * policy.multiplier);
    grown.unwrap_or(policy.max_interval).min(policy.max_interval)
}

/// A wait within `interval ± interval * factor`.
fn jitter(interval: Duration, factor: f64) -> Duration {
    let spread = factor * (2.0 * rand::random::<f64>() - 1.0);
    Duration::try_from_secs_f64(interval.as_secs_f64() * (1.0 + spread)).unwrap_or(interval)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn policy() -> Retry {
        Retry { randomization_factor: 0.0, ..Retry::default() }
    }

    fn refusal(retry_after: Option<u64>) -> Backend {
        let retry_after = retry_after.map(Duration::from_secs);
        Backend::Http { status: 503, retry_after, message: String::new() }
    }

    /// Runs with these answers, then success. Gives the result and when each attempt began, in milliseconds.
    async fn run_with(
        policy: &Retry,
        deadline: Duration,
        answers: Vec<Backend>,
    ) -> (Result<(), Backend>, Vec<u128>) {
        let start = Instant::now();
        let answers = RefCell::new(answers.into_iter());
        let began = RefCell::new(Vec::new());
        let result = run(policy, start + deadline, || {
            began.borrow_mut().push(start.elapsed().as_millis());
            let answer = answers.borrow_mut().next();
            async move { answer.map_or(Ok(()), Err) }
        })
        .await;
        (result, began.into_inner())
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_by_the_multiplier_up_to_the_longest() {
        let policy = Retry { max_interval: Duration::from_secs(1), ..policy() };
        let (result, began) = run_with(&policy, Duration::from_secs(60), vec![Backend::Unreachable; 5]).await;
        assert_eq!(result, Ok(()));
        assert_eq!(began, [0, 500, 1250, 2250, 3250, 4250]);
    }

    #[tokio::test(start_paused = true)]
    async fn jitter_stays_in_its_share() {
        let policy = Retry { multiplier: 1.0, ..Retry::default() };
        let (_, began) = run_with(&policy, Duration::from_secs(600), vec![Backend::Unreachable; 100]).await;
        let waits: Vec<u128> = began.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // The timer rounds up to whole milliseconds.
        assert!(waits.iter().all(|wait| (250..=751).contains(wait)), "{waits:?}");
        assert!(waits.iter().min() != waits.iter().max(), "no jitter at all");
    }

    #[tokio::test(start_paused = true)]
    async fn a_longer_hint_is_obeyed() {
        let (result, began) = run_with(&policy(), Duration::from_secs(60), vec![refusal(Some(7))]).await;
        assert_eq!((result, began), (Ok(()), vec![0, 7000]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hint_of_zero_still_waits() {
        let (result, began) = run_with(&policy(), Duration::from_secs(60), vec![refusal(Some(0))]).await;
        assert_eq!((result, began), (Ok(()), vec![0, 500]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hint_past_the_deadline_gives_up_at_once() {
        let start = Instant::now();
        let (result, began) = run_with(&policy(), Duration::from_secs(10), vec![refusal(Some(30))]).await;
        assert_eq!((result, began), (Err(refusal(Some(30))), vec![0]));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_before_the_deadline_with_the_last_answer() {
        let (result, began) = run_with(&policy(), Duration::from_secs(2), vec![refusal(None); 9]).await;
        assert_eq!((result, began), (Err(refusal(None)), vec![0, 500, 1250]));
    }

    #[tokio::test(start_paused = true)]
    async fn max_elapsed_time_ends_it_before_the_deadline() {
        let policy = Retry { max_elapsed_time: Duration::from_secs(1), ..policy() };
        let (result, began) = run_with(&policy, Duration::from_secs(60), vec![refusal(None); 9]).await;
        assert_eq!((result, began), (Err(refusal(None)), vec![0, 500]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_backend_times_out_at_the_deadline() {
        let start = Instant::now();
        let deadline = start + Duration::from_secs(10);
        let result: Result<(), Backend> = run(&policy(), deadline, std::future::pending).await;
        assert_eq!(result, Err(Backend::TimedOut));
        assert_eq!(start.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn what_no_retry_can_help_is_tried_once() {
        let refused = Backend::Http { status: 400, retry_after: None, message: String::new() };
        for failure in [refused, Backend::Garbage] {
            let (result, began) = run_with(&policy(), Duration::from_secs(60), vec![failure.clone()]).await;
            assert_eq!((result, began), (Err(failure), vec![0]));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn disabled_means_one_attempt() {
        let policy = Retry { enabled: false, ..policy() };
        let (result, began) = run_with(&policy, Duration::from_secs(60), vec![Backend::Unreachable]).await;
        assert_eq!((result, began), (Err(Backend::Unreachable), vec![0]));
    }
}
