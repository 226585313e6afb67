//! Long computations on threads of their own, and no more of them at once than there are processors.
//!
//! Without that bound a burst of large bodies would run on hundreds of threads at once and leave no time to those that
//! serve sockets: clients would be told that they stall while it is we who don't read. Who waits here holds its body,
//! which `receive::limits` counts, and nothing else. Knows nothing of what is computed.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

static PLACES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, std::num::NonZero::get)));

/// The work panicked, or the process is ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// Does the work as soon as there is a place for it.
///
/// # Errors
///
/// [`Failed`], without a word of the panic.
pub(crate) async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failed> {
    let place = PLACES.acquire().await.map_err(|_| Failed)?;
    // The place goes with the work: it runs on where nobody waits for it any more.
    let job = spawn_blocking(move || {
        let _place = place;
        work()
    });
    job.await.map_err(|_| Failed)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn no_more_at_once_than_processors_and_a_panic_gives_its_place_back() {
        static RUNNING: AtomicUsize = AtomicUsize::new(0);
        let places = available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..=places {
            assert_eq!(offload(|| std::panic::panic_any("payload text")).await, Err::<(), _>(Failed));
        }
        let work = || {
            let running = RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
            std::thread::yield_now();
            RUNNING.fetch_sub(1, Ordering::SeqCst);
            running
        };
        let most = futures_util::future::join_all((0..200).map(|_| offload(work))).await;
        assert!(most.iter().all(|running| running.is_ok_and(|running| running <= places)), "{most:?}");
    }
}
