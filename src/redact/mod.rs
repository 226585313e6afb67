//! Redaction: bytes in, [`Redacted`] and a [`Report`] out. Pure and synchronous.
//!
//! `walk` finds every string of an OTLP request by the schema table; `text` decides what of a string is secret and
//! what stands there instead; `rules` and `policy` are what the operator may say about it.

pub mod action;
mod apply;
mod byte_table;
pub mod canary;
mod candidates;
mod compile;
mod decode;
mod finding;
mod inert;
mod keep_json;
mod labels;
pub mod marker;
pub mod names;
mod overlap;
mod pairs;
mod pattern;
mod personal;
pub mod policy;
mod redacted;
pub mod replacements;
pub mod report;
pub mod rules;
mod scan;
mod scheme;
mod sieve;
pub mod text;
pub mod trial;
pub mod validate;
pub mod values;
mod vendors;
mod walk;
mod wordlist;
mod wordy;

use bytes::Bytes;

pub use apply::{Clean, Whole};
pub use pattern::CompileError;
pub use policy::Policy;
pub use redacted::Redacted;
pub use report::{Report, Unscanned};
pub use text::TextScrubber;
pub use walk::Scrub;

pub use crate::otlp::wire::Malformed;
use crate::otlp::{Payload, Signal};

/// The redactor: compiled rules and policy, shared by all requests.
#[derive(Debug, Default)]
pub struct Redactor<S = TextScrubber> {
    scrubber: S,
    services: Vec<Service<S>>,
    policy: Policy,
    kinds: walk::Kinds,
}

/// What scrubs all that a service sent, as its resource's `service.name` says.
#[derive(Debug)]
pub struct Service<S = TextScrubber> {
    /// The name.
    pub name: String,
    /// What is secret in its texts.
    pub scrubber: S,
}

impl<S: Scrub> Redactor<S> {
    /// Joins what is secret in a text with what the operator wants of places.
    pub fn new(scrubber: S, policy: Policy) -> Self {
        Self { scrubber, services: Vec::new(), policy, kinds: walk::Kinds::default() }
    }

    /// Scrubs these services otherwise than the rest.
    #[must_use]
    pub fn with_services(self, services: Vec<Service<S>>) -> Self {
        Self { services, ..self }
    }

    /// Redacts one OTLP export request in protobuf. Without a finding the body of the result is the same `Bytes`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not a valid encoding of any message; they must not be forwarded.
    pub fn redact(&self, signal: Signal, payload: Payload) -> Result<Redacted, Malformed> {
        let body = payload.into_bytes();
        let (changed, report) =
            walk::redact(&self.scrubber, &self.services, &self.policy, &self.kinds, signal.request(), &body)?;
        Ok(Redacted::new(signal, changed.map_or(body, Bytes::from), report))
    }
}

impl Redactor {
    /// Wraps a body unread, for pipelines with `unsafe_no_scrub: true` only.
    pub fn pass_unsafely(signal: Signal, payload: Payload) -> Redacted {
        Redacted::unsafe_passthrough(signal, payload)
    }
}
