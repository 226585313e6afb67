//! The URL of each signal, worked out once, in the dialect that is spoken there.

use http::Uri;
use http::uri::PathAndQuery;

use super::BuildError;
use super::settings::Remote;
use crate::otlp::{Encoding, Signal};

/// What is said on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP in this encoding.
    Http(Encoding),
}

/// One URL per signal.
pub(super) struct Targets {
    traces: Uri,
    metrics: Uri,
    logs: Uri,
    profiles: Uri,
}

impl Targets {
    /// Works the URLs out.
    ///
    /// # Errors
    ///
    /// An endpoint that is no `http` or `https` URL, or that holds credentials.
    pub(super) fn new(exporter: &str, remote: &Remote, dialect: Dialect) -> Result<Self, BuildError> {
        let of =
            |signal| target(remote, dialect, signal).map_err(|reason| BuildError::setting(exporter, reason));
        Ok(Self {
            traces: of(Signal::Traces)?,
            metrics: of(Signal::Metrics)?,
            logs: of(Signal::Logs)?,
            profiles: of(Signal::Profiles)?,
        })
    }

    /// The URL of this signal.
    pub(super) fn of(&self, signal: Signal) -> &Uri {
        match signal {
            Signal::Traces => &self.traces,
            Signal::Metrics => &self.metrics,
            Signal::Logs => &self.logs,
            Signal::Profiles => &self.profiles,
        }
    }

    /// Whether any of them is reached with TLS.
    pub(super) fn want_tls(&self) -> bool {
        Signal::ALL.iter().any(|signal| self.of(*signal).scheme_str() == Some("https"))
    }
}

fn target(remote: &Remote, dialect: Dialect, signal: Signal) -> Result<Uri, &'static str> {
    let own = remote.signal_endpoints.iter().find(|(of, _)| *of == signal).map(|(_, url)| url);
    let endpoint = own.unwrap_or(&remote.endpoint);
    if !matches!(endpoint.scheme_str(), Some("http" | "https")) {
        return Err("the endpoint is not an http:// or https:// URL");
    }
    // Clients differ in what they make of it, and it would show in logs of everything on the way.
    if endpoint.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("the endpoint holds a user name: put credentials into headers");
    }
    let url = match (dialect, own) {
        (Dialect::Grpc, _) => grpc(endpoint, signal),
        (Dialect::Http(_), Some(own)) => Ok(own.clone()),
        (Dialect::Http(_), None) => http(endpoint, signal),
    };
    url.map_err(|_| "the endpoint is not a valid URL")
}

/// The URL of a signal's method. gRPC has no base path: a path in the endpoint is ignored, as gRPC clients do.
fn grpc(endpoint: &Uri, signal: Signal) -> Result<Uri, http::Error> {
    let mut parts = endpoint.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::from_static(signal.grpc_path()));
    Ok(Uri::from_parts(parts)?)
}

/// The URL of a signal below the base endpoint, whose path and query are kept.
fn http(endpoint: &Uri, signal: Signal) -> Result<Uri, http::Error> {
    let base = endpoint.path().trim_end_matches('/');
    let path = match endpoint.query() {
        Some(query) => format!("{base}{}?{query}", signal.http_path()),
        None => format!("{base}{}", signal.http_path()),
    };
    let mut parts = endpoint.clone().into_parts();
    parts.path_and_query = Some(path.try_into()?);
    Ok(Uri::from_parts(parts)?)
}
