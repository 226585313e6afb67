//! The self-canary: a fake secret that goes through the live redactor, at start and then on a timer.
//!
//! It has the reserved form of `redact::canary`, whose rule can't be switched off and isn't counted. It is sent plain
//! and wrapped in base64, inside an encoded trace request, so that the walk, the prefilter, the rules and a decode layer
//! must all work for it to disappear. It never leaves the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};
use rand::Rng;
use rand::distr::Alphanumeric;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::Health;
use crate::otlp::{Payload, Signal};
use crate::redact::canary::{ANCHOR, BODY_LEN, KEY};
use crate::telemetry::Metrics;

const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// The span's name, beside the canary: must come out as it is.
const BYSTANDER: &str = "self-check";

/// The live redactor, as the canary sees it: the redacted body, or `None` where it refused.
pub type RedactFn = dyn Fn(Signal, Payload) -> Option<Bytes> + Send + Sync;

/// One check: true if the canary was removed and its neighbour was not.
///
/// A redactor that refuses or panics does not work either.
pub fn check(redact: &RedactFn) -> bool {
    let body: String = rand::rng().sample_iter(Alphanumeric).take(BODY_LEN).map(char::from).collect();
    let wrapped = STANDARD.encode(format!("{ANCHOR}{body}"));
    let request = Payload::new(request(&[&format!("{ANCHOR}{body}"), &wrapped]));
    let redacted = catch_unwind(AssertUnwindSafe(|| redact(Signal::Traces, request)));
    let Ok(Some(redacted)) = redacted else { return false };
    let holds = |text: &str| memchr::memmem::find(&redacted, text.as_bytes()).is_some();
    !holds(&body) && !holds(&wrapped) && holds(BYSTANDER)
}

/// Checks once, and tells `health`, the metrics and the log.
pub fn check_and_tell(redact: &RedactFn, health: &Health, metrics: &Metrics) {
    let failed_before = !health.redaction_works();
    if check(redact) {
        health.canary_passed();
        if failed_before {
            tracing::info!("self-check passed: redaction works");
        }
    } else {
        let failures = health.canary_survived();
        metrics.canary_failed();
        tracing::error!(failures, "self-check failed: redaction does not work, requests are refused");
    }
}

/// Checks now, and then every `interval` (at least a second) until `shutdown`.
pub async fn run(
    redact: Arc<RedactFn>,
    interval: Duration,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    shutdown: CancellationToken,
) {
    let mut ticks = tokio::time::interval(interval.max(SHORTEST_INTERVAL));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = ticks.tick() => check_and_tell(redact.as_ref(), &health, &metrics),
        }
    }
}

/// An `ExportTraceServiceRequest` of one span with these texts as attributes; numbers from `proto/`.
fn request(texts: &[&str]) -> Vec<u8> {
    let mut span = [field(1, &[1; 16]), field(2, &[2; 8]), field(5, BYSTANDER.as_bytes())].concat();
    for text in texts {
        let value = field(1, text.as_bytes());
        span.extend(field(9, &[field(1, KEY.as_bytes()), field(2, &value)].concat()));
    }
    let scope_spans = field(2, &span);
    let resource_spans = field(2, &scope_spans);
    field(1, &resource_spans)
}

/// One length-delimited field.
fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 8);
    encode_key(number, WireType::LengthDelimited, &mut out);
    encode_varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}
