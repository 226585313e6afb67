//! The path of a request, in one function: receive -> redact -> forward -> reply.
//!
//! Knows no HTTP and no gRPC: doors hand it a [`Request`], `respond` turns what it returns into a status.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;

use crate::admin::Health;
use crate::error::{Client, Error, Redact};
pub use crate::forward::Reply;
use crate::forward::{Call, Outlet, hops};
use crate::offload::{Failed, offload};
use crate::otlp::{Encoding, Payload, Protocol, Signal};
use crate::redact::{Malformed, Redacted, Redactor};
use crate::telemetry::{Metrics, Outcome};

/// Bodies from this size on (bytes) are redacted on a thread of their own, so that they can't hold up the
/// connections that share a runtime worker with them.
const OFFLOAD_FROM: usize = 256 << 10;

/// What a door hands to the pipeline: one export request, whole and decompressed.
#[derive(Debug)]
pub struct Request {
    /// Which export request this is.
    pub signal: Signal,
    /// How the client encodes bodies; the payload itself is protobuf, transcoded at the door where it was JSON.
    pub encoding: Encoding,
    /// The transport it came by.
    pub protocol: Protocol,
    /// The body, in protobuf.
    pub payload: Payload,
    /// The client's headers or metadata as they came; `forward` decides which go on.
    pub headers: HeaderMap,
    /// When the client stops waiting.
    pub deadline: Instant,
}

/// How one signal is redacted and where it goes.
#[derive(Debug)]
pub struct Lane {
    /// Redaction.
    pub scrub: Scrub,
    /// The backend, or the queue before it.
    pub exporter: Arc<Outlet>,
}

/// Whether a lane redacts.
#[derive(Debug, Clone)]
pub enum Scrub {
    /// With these rules and this policy.
    With(Arc<Redactor>),
    /// Not at all: `unsafe_no_scrub: true`.
    UnsafeNone,
}

/// Lanes, counters and health, shared by all doors.
#[derive(Debug)]
pub struct Pipeline {
    lanes: HashMap<Signal, Lane>,
    metrics: Arc<Metrics>,
    health: Arc<Health>,
}

impl Pipeline {
    /// Joins the parts. A signal without a lane is answered as an unknown path.
    pub fn new(lanes: HashMap<Signal, Lane>, metrics: Arc<Metrics>, health: Arc<Health>) -> Self {
        Self { lanes, metrics, health }
    }

    /// Takes one request all the way to the backend, and gives the backend's answer.
    ///
    /// # Errors
    ///
    /// [`Error`] says whose fault it is and whether a retry can help; nothing unredacted was forwarded.
    pub async fn handle(&self, request: Request) -> Result<Reply, Error> {
        let (signal, protocol) = (request.signal, request.protocol);
        let bytes = request.payload.as_bytes().len() as u64;
        let mut items = 0;
        let result = self.redact_and_forward(request, &mut items).await;
        let outcome = result.as_ref().map_or_else(Outcome::from, |_| Outcome::Accepted);
        self.metrics.request(signal, protocol, outcome, items, bytes);
        result
    }

    async fn redact_and_forward(&self, request: Request, items: &mut u64) -> Result<Reply, Error> {
        let Request { signal, payload, headers, deadline, .. } = request;
        let hops = hops::count(&headers);
        if hops >= hops::MAX_HOPS {
            return Err(Client::Loop { hops }.into());
        }
        let lane = self.lanes.get(&signal).ok_or(Client::NotFound)?;
        if !self.health.redaction_works() {
            return Err(Redact::CanarySurvived.into());
        }

        let started = Instant::now();
        let redacted = redact(&lane.scrub, signal, payload).await?;
        self.metrics.redacted(signal, redacted.report(), started.elapsed());
        *items = redacted.report().items;

        lane.exporter.take(&redacted, &Call { headers: &headers, deadline }).await
    }
}

async fn redact(scrub: &Scrub, signal: Signal, payload: Payload) -> Result<Redacted, Error> {
    let redactor = match scrub {
        Scrub::With(redactor) => redactor,
        Scrub::UnsafeNone => return Ok(Redactor::pass_unsafely(signal, payload)),
    };
    let result = if payload.as_bytes().len() < OFFLOAD_FROM {
        catch_unwind(AssertUnwindSafe(|| redactor.redact(signal, payload))).map_err(|_| Redact::Internal)?
    } else {
        let redactor = Arc::clone(redactor);
        offload(move || redactor.redact(signal, payload)).await.map_err(|Failed| Redact::Internal)?
    };
    result.map_err(|Malformed(what)| Client::Malformed(what).into())
}
