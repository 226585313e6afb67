//! The URL of each signal, worked out once.

use http::Uri;

use super::remote::Dialect;
use super::settings::Remote;
use super::{BuildError, grpc, http as otlp_http};
use crate::otlp::Signal;

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
        (Dialect::Grpc, _) => grpc::target(endpoint, signal),
        (Dialect::Http(_), Some(own)) => Ok(own.clone()),
        (Dialect::Http(_), None) => otlp_http::target(endpoint, signal),
    };
    url.map_err(|_| "the endpoint is not a valid URL")
}
