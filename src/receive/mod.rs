//! The doors: listeners that speak OTLP/gRPC and OTLP/HTTP on the same port.
//!
//! ```text
//! listener ──> connection ──> by content type ──> grpc | http | health
//!                                                   │      │
//!                                  body <── limits ─┴──────┤     pieces, counted and timed
//!                                    └── decompress        │ (the crate's one capped reader)
//!                                                          └──> Handler::handle ──> respond
//! ```
//!
//! What a door hands on is one whole export request, decompressed, in protobuf. Nothing here looks into it.

mod body;
mod connection;
mod grpc;
mod health;
mod http;
mod limits;
mod listener;
pub mod settings;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response};
use futures_util::FutureExt;
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tonic::body::Body;

use health::Health;
use limits::Admission;
pub use limits::Limits;
pub use listener::{Shutdown, serve};
use settings::DoorSettings;

use crate::error::{Backend, Error, Redact};
use crate::otlp::{Protocol, Signal};
use crate::pipeline::{self, Pipeline, Reply};
use crate::telemetry::Outcome;

/// How much longer than the deadline a handler may take to say by itself what the backend's last answer was.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a door hands its requests to: the pipeline.
pub trait Handler: Send + Sync + 'static {
    /// Takes one request all the way to the backend, and gives the backend's answer.
    fn handle(&self, request: pipeline::Request) -> impl Future<Output = Result<Reply, Error>> + Send;
}

impl Handler for Pipeline {
    fn handle(&self, request: pipeline::Request) -> impl Future<Output = Result<Reply, Error>> + Send {
        Self::handle(self, request)
    }
}

/// One listener's view of the process.
#[derive(Debug)]
pub struct Door<H> {
    /// The door's own settings.
    pub settings: DoorSettings,
    /// Where its requests go.
    pub handler: Arc<H>,
    /// What all doors together may hold.
    pub limits: Arc<Limits>,
    /// Whether the process is ready: what the gRPC health service says.
    pub ready: watch::Receiver<bool>,
}

/// A request that is whole.
struct Received {
    request: pipeline::Request,
    deadline: Instant,
    /// Held until the reply is there.
    admission: Admission,
}

impl<H: Handler> Door<H> {
    /// Both protocols on one port: the content type decides.
    async fn answer(&self, health: Health, request: Request<Incoming>) -> Response<Body> {
        if !grpc::is_grpc(&request) {
            return http::answer(self, request).await.map(|body| Body::new(Full::new(body)));
        }
        if request.uri().path().starts_with(health::PREFIX) {
            return health.answer(request).await;
        }
        grpc::answer(self, request).await
    }

    /// Hands a request on, and ends it if the handler panics or overstays.
    async fn handle(&self, received: Received) -> Result<Reply, Error> {
        let Received { request, deadline, admission } = received;
        let (signal, protocol) = (request.signal, request.protocol);
        // A result of its own is the handler's to count.
        let handled = unpanicked(async { Ok(self.handler.handle(request).await) });
        let error = match timeout_at(deadline + LAST_WORDS, handled).await {
            Ok(Ok(result)) => return result,
            Ok(Err(panic)) => panic,
            Err(_late) => Error::from(Backend::TimedOut),
        };
        drop(admission);
        tracing::error!(%signal, protocol = protocol.as_str(), %error, "request ended by the door");
        self.count(Some(signal), protocol, &error);
        Err(error)
    }

    /// Counts a request that the handler did not see, or did not finish.
    fn count(&self, signal: Option<Signal>, protocol: Protocol, error: &Error) {
        if let Some(signal) = signal {
            self.limits.metrics().request(signal, protocol, Outcome::from(error), 0, 0);
        }
    }
}

/// Turns a panic into an internal error: the client gets an answer, and nothing of the panic's words.
async fn unpanicked<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_panic| Err(Redact::Internal.into()))
}
