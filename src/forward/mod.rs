//! Exporters: where a [`Redacted`] request goes. gRPC, HTTP, file and stdout.

pub mod settings;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;

use crate::error::Backend;
use crate::otlp::Signal;
use crate::pipeline::Reply;
use crate::redact::Redacted;

/// One request's way out.
#[derive(Debug)]
pub struct Call<'a> {
    /// The client's headers as they came; the exporter filters them.
    pub headers: &'a HeaderMap,
    /// When the client stops waiting: nothing is retried past it.
    pub deadline: Instant,
}

/// A backend.
#[derive(Debug)]
pub struct Exporter {}

impl Exporter {
    /// Sends one request and waits for the backend's answer, retrying within the deadline.
    ///
    /// # Errors
    ///
    /// The backend's last answer, where it did not accept.
    pub async fn export(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Backend> {
        let _ = (request, call);
        Ok(Reply::default())
    }
}

/// The exporter of each signal.
pub type Exporters = HashMap<Signal, Arc<Exporter>>;
