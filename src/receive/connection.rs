//! One connection: HTTP/1.1 or HTTP/2 by its first bytes, and the watch over it while no request runs.
//!
//! hyper's protocol detection has no timeout, and its header timeout also ends idle connections. So the clock is kept
//! here: a connection must send a full request head soon after it opens or after it starts one, and may idle between
//! requests much longer. While a request runs `body` and the doors keep the time.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;

use super::limits::{IDLE_CONNECTION, MAX_HEADER_BYTES, MAX_READ_AHEAD, MAX_STREAMS};

/// HTTP/2 ping while nothing else is heard, and how long its answer may take.
const PING_INTERVAL: Duration = Duration::from_secs(60);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Streams that a client may open and reset before we have looked at them, and streams that we reset for its errors,
/// before the connection is closed (rapid reset, CVE-2023-44487 and its kin). h2's and hyper's defaults, pinned.
const MAX_RESETS_BEFORE_ACCEPT: usize = 20;
const MAX_RESETS_FOR_ERRORS: usize = 1024;

/// How long a connection that is told to go may take to say so.
const GOODBYE: Duration = Duration::from_secs(1);

/// The protocol settings of every connection.
pub(super) fn protocol() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(MAX_READ_AHEAD)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEADER_BYTES)
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_RESETS_BEFORE_ACCEPT)
        .max_local_error_reset_streams(MAX_RESETS_FOR_ERRORS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// Serves one connection until it ends, is idle or stalled for too long, or has finished after `stop`.
pub(super) async fn serve<S, A, F>(
    protocol: &auto::Builder<TokioExecutor>,
    stream: S,
    header_timeout: Duration,
    stop: CancellationToken,
    answer: A,
) where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let watch = Arc::new(Watch::new(header_timeout));
    let service = service_fn(|mut request: Request<Incoming>| {
        let busy = Watch::begin(&watch, request.version());
        request.extensions_mut().insert(busy.clone());
        let answer = answer(request);
        async move {
            let response = answer.await;
            drop(busy);
            Ok::<_, Infallible>(response)
        }
    });
    let io = TokioIo::new(Watched { stream, watch: Arc::clone(&watch) });
    let mut connection = pin!(protocol.serve_connection(io, service));
    let mut stopping = false;
    loop {
        let due = watch.due();
        tokio::select! {
            // A broken connection is the client's to notice; there is nobody to tell.
            _ = connection.as_mut() => return,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = watch.sooner.notified() => {}
            () = sleep_until(due.unwrap_or_else(far_off)) => {
                if watch.due().is_some_and(|due| due <= Instant::now()) {
                    connection.as_mut().graceful_shutdown();
                    let _ = timeout(GOODBYE, connection).await;
                    return;
                }
            }
        }
    }
}

fn far_off() -> Instant {
    Instant::now() + IDLE_CONNECTION
}

/// What a connection is doing, as far as its clock is concerned.
#[derive(Debug)]
struct Watch {
    phase: Mutex<Phase>,
    header_timeout: Duration,
    /// The end has come nearer than it was.
    sooner: Notify,
}

#[derive(Debug)]
struct Phase {
    running: usize,
    /// When the connection is closed if no request has begun by then.
    due: Instant,
    in_head: bool,
    http2: bool,
}

impl Watch {
    fn new(header_timeout: Duration) -> Self {
        let due = Instant::now() + header_timeout;
        Self {
            phase: Mutex::new(Phase { running: 0, due, in_head: true, http2: false }),
            header_timeout,
            sooner: Notify::new(),
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When to close, if nothing changes.
    fn due(&self) -> Option<Instant> {
        let phase = self.phase();
        (phase.running == 0).then_some(phase.due)
    }

    /// A full head has come.
    fn begin(watch: &Arc<Self>, version: Version) -> Busy {
        let mut phase = watch.phase();
        phase.running += 1;
        phase.in_head = false;
        phase.http2 |= version == Version::HTTP_2;
        drop(phase);
        Busy { _running: Arc::new(Running(Arc::clone(watch))) }
    }

    /// Bytes have come. Between HTTP/1 requests they start a head; HTTP/2 has frames that are no requests, and pings
    /// that find a peer which stalls in the middle of a frame.
    fn heard(&self) {
        let mut phase = self.phase();
        if phase.running == 0 && !phase.in_head && !phase.http2 {
            phase.in_head = true;
            phase.due = Instant::now() + self.header_timeout;
            drop(phase);
            self.sooner.notify_one();
        }
    }
}

/// Held while a request runs: the connection's clock stands still.
#[derive(Debug, Clone)]
pub(super) struct Busy {
    _running: Arc<Running>,
}

#[derive(Debug)]
struct Running(Arc<Watch>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut phase = self.0.phase();
        phase.running -= 1;
        phase.due = Instant::now() + IDLE_CONNECTION;
        drop(phase);
        self.0.sooner.notify_one();
    }
}

/// A stream that tells its watch when bytes come.
struct Watched<S> {
    stream: S,
    watch: Arc<Watch>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.heard();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
