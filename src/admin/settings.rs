//! What the admin endpoint may be told. Plain validated values: `config` makes them.

use std::time::Duration;

/// Where health and metrics are served, and how often redaction is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminSettings {
    /// `host:port` of `/`, `/healthz`, `/readyz` and `/metrics` (`health_check`'s `endpoint`); `None` serves none.
    pub endpoint: Option<String>,
    /// `host:port` of a second listener with `/metrics` alone, as the Collector has on 8888.
    pub metrics_endpoint: Option<String>,
    /// From one self-check to the next; at least a second.
    pub canary_interval: Duration,
}

impl Default for AdminSettings {
    /// The Collector's health port, on loopback; a check every minute.
    fn default() -> Self {
        Self {
            endpoint: Some("127.0.0.1:13133".to_owned()),
            metrics_endpoint: None,
            canary_interval: Duration::from_secs(60),
        }
    }
}
