//! The accept loop of one door, and its end: stop accepting, finish what runs, cut what is left.
//!
//! Takes a bound listener, so that whoever binds knows the port. When to stop is the caller's to say
//! ([`Limits::quiet`](super::Limits::quiet) tells when clients have gone).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic_health::server::HealthReporter;

use super::health::{self, Health};
use super::{Door, Handler, connection};

/// Pause after an accept that failed for want of file descriptors or memory: trying again at once would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How a door is closed.
#[derive(Debug, Clone)]
pub struct Shutdown {
    /// Cancelled: stop accepting, tell connections to finish.
    pub stop: CancellationToken,
    /// Longest wait for requests in flight after that.
    pub finish_within: Duration,
}

/// Serves a door until it is told to stop and the requests in flight are done. Returns how many connections had to be
/// cut because they did not finish in time.
pub async fn serve<H: Handler>(listener: TcpListener, door: Door<H>, shutdown: Shutdown) -> usize {
    let Shutdown { stop, finish_within } = shutdown;
    let reporter = HealthReporter::new();
    let health = Health::new(reporter.clone());
    let mut follower = JoinSet::new();
    follower.spawn(health::follow(reporter.clone(), door.ready.clone()));

    let door = Arc::new(door);
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
        };
        if connections.len() >= door.limits.settings().max_connections {
            tracing::warn!(endpoint = %door.settings.endpoint, "connection refused: too many are open");
            continue;
        }
        connections.spawn(serve_connection(stream, Arc::clone(&door), health.clone(), stop.clone()));
    }
    drop(listener);

    follower.shutdown().await;
    health::end_watches(reporter).await;
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(finish_within, finished).await;
    let cut = connections.len();
    connections.shutdown().await;
    cut
}

async fn serve_connection<H: Handler>(
    stream: TcpStream,
    door: Arc<Door<H>>,
    health: Health,
    stop: CancellationToken,
) {
    // Replies are small and awaited: waiting to fill a packet only adds delay. A socket without it still works.
    let _ = stream.set_nodelay(true);
    let header_timeout = door.limits.settings().header_timeout;
    connection::serve(&connection::protocol(), stream, header_timeout, stop, |request| {
        let (door, health) = (Arc::clone(&door), health.clone());
        async move { door.answer(health, request).await }
    })
    .await;
}

/// A connection that broke before it was accepted is nobody's trouble; a lack of resources needs time.
async fn pause_after(error: &io::Error) {
    let gone = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    );
    if !gone {
        tracing::warn!(%error, "accept failed");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}
