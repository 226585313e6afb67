//! Exporters: where a [`Redacted`] request goes. gRPC, HTTP, file and stdout.
//!
//! `queued` puts a durable queue before an exporter. `remote` encodes a request and tries under the policy of `retry`; `grpc` and `http` are the two dialects; `client`
//! sends, over what `connect`, `proxy` and `tls` open; `answer` reads what comes back. `lines` is for file and stdout.

mod answer;
mod client;
mod compress;
mod connect;
mod grpc;
pub mod headers;
pub mod hops;
mod http;
mod lines;
mod proxy;
mod queued;
mod reason;
mod remote;
mod retry;
pub mod settings;
mod targets;
mod tls;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ::http::HeaderMap;
use bytes::Bytes;

use self::lines::Lines;
pub use self::queued::{Queued, Redactors};
use self::remote::RemoteExporter;
use self::settings::ExporterSettings;
use self::targets::Dialect;
use crate::error::{Backend, Error};
use crate::otlp::{Signal, json};
use crate::redact::Redacted;
use crate::telemetry::Metrics;

/// One request's way out.
#[derive(Debug)]
pub struct Call<'a> {
    /// The client's headers as they came; the exporter filters them.
    pub headers: &'a HeaderMap,
    /// When the client stops waiting: nothing is retried past it.
    pub deadline: Instant,
}

/// The backend's answer: an encoded `Export<Signal>ServiceResponse` (protobuf), partial success included, unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The message, often empty.
    pub message: Bytes,
}

/// Why an exporter can't be built. Stops the start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A file that the settings name.
    #[error("exporter {exporter}: {}: {reason}", path.display())]
    File {
        /// The exporter's name.
        exporter: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it; nothing of its content.
        reason: String,
    },
    /// A setting.
    #[error("exporter {exporter}: {reason}")]
    Setting {
        /// The exporter's name.
        exporter: String,
        /// Which setting, and what is wrong with it; no secret value.
        reason: String,
    },
}

impl BuildError {
    fn file(exporter: &str, path: &Path, reason: impl Into<String>) -> Self {
        Self::File { exporter: exporter.to_owned(), path: path.to_owned(), reason: reason.into() }
    }

    fn setting(exporter: &str, reason: impl Into<String>) -> Self {
        Self::Setting { exporter: exporter.to_owned(), reason: reason.into() }
    }
}

/// A backend.
pub struct Exporter {
    name: String,
    kind: Kind,
}

enum Kind {
    Remote(Box<RemoteExporter>),
    Lines(Lines),
}

impl Exporter {
    /// Checks the settings, reads the files they name and opens an output file; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: which setting or file, and why.
    pub fn new(name: &str, settings: &ExporterSettings, metrics: Arc<Metrics>) -> Result<Self, BuildError> {
        let remote = |remote, dialect| {
            RemoteExporter::new(name, remote, dialect, metrics).map(Box::new).map(Kind::Remote)
        };
        let kind = match settings {
            ExporterSettings::OtlpGrpc(settings) => remote(settings, Dialect::Grpc)?,
            ExporterSettings::OtlpHttp { remote: settings, encoding } => {
                remote(settings, Dialect::Http(*encoding))?
            }
            ExporterSettings::File { path } => Kind::Lines(Lines::to_file(name, path)?),
            ExporterSettings::Stdout => Kind::Lines(Lines::to_stdout()),
        };
        Ok(Self { name: name.to_owned(), kind })
    }

    /// Sends one request and waits for the backend's answer, retrying within the deadline.
    ///
    /// # Errors
    ///
    /// The backend's last answer, where it did not accept.
    pub async fn export(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Backend> {
        match &self.kind {
            Kind::Remote(remote) => remote.export(request, call).await,
            Kind::Lines(lines) => lines.export(request, call).await,
        }
    }
}

// By hand: headers and proxy settings are credentials.
impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exporter({})", self.name)
    }
}

/// Where a pipeline ends: at the backend, or at a queue before it.
#[derive(Debug)]
pub enum Outlet {
    /// The client is answered after the backend.
    Direct(Exporter),
    /// The client is answered once the request is on disk.
    Queued(Arc<Queued>),
}

impl Outlet {
    /// Sends one request on its way; accepted means that it can't be lost any more.
    ///
    /// # Errors
    ///
    /// The backend's last answer, or that the queue has no room.
    pub async fn take(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Error> {
        match self {
            Self::Direct(exporter) => Ok(exporter.export(request, call).await?),
            Self::Queued(queued) => Ok(queued.accept(request, call).await?),
        }
    }
}

/// A redacted request in OTLP JSON. Fails as a backend would that is sent something else: only a pipeline that does
/// not scrub can bring it here.
fn json_of(signal: Signal, body: &Bytes) -> Result<Bytes, Backend> {
    json::from_protobuf(signal.request(), body).map(Bytes::from).map_err(|_| Backend::Http {
        status: 400,
        retry_after: None,
        message: "the request is not valid OTLP protobuf".to_owned(),
    })
}
