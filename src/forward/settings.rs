//! What an exporter may be told. Plain validated values: `config` makes them, `forward` builds exporters from them.

use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, Uri};
use secrecy::SecretString;

use crate::otlp::{Encoding, Signal};

/// One named exporter.
#[derive(Debug, Clone)]
pub enum ExporterSettings {
    /// OTLP/gRPC (`otlp_grpc`, alias `otlp`).
    OtlpGrpc(Remote),
    /// OTLP/HTTP (`otlp_http`, alias `otlphttp`).
    OtlpHttp {
        /// The connection.
        remote: Remote,
        /// Body encoding.
        encoding: Encoding,
    },
    /// Redacted OTLP JSON lines appended to a file, in the Collector's file format.
    File {
        /// The file.
        path: PathBuf,
    },
    /// Redacted OTLP JSON lines on standard output.
    Stdout,
}

/// A backend reached over the network.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Base URL; `https` means TLS. For HTTP `/v1/<signal>` is appended, unless `signal_endpoints` says otherwise.
    pub endpoint: Uri,
    /// Per-signal URLs, used as they are (`traces_endpoint`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`...).
    pub signal_endpoints: Vec<(Signal, Uri)>,
    /// Headers or metadata added to every request; they win over the client's.
    pub headers: Vec<(HeaderName, SecretString)>,
    /// Request compression.
    pub compression: Compression,
    /// Longest wait for one request, retries included (`timeout`, default 10 s in the OTLP exporter specification).
    /// Zero: no limit but the client's deadline.
    pub timeout: Duration,
    /// TLS.
    pub tls: TlsClient,
    /// Retry policy.
    pub retry: Retry,
    /// Which client headers go on to the backend.
    pub forward_headers: ForwardHeaders,
    /// The way out, where it leads through a proxy.
    pub proxy: ProxySettings,
}

/// HTTP proxies, as `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` name them. Empty: none.
///
/// `http://` and `https://` proxies only. The user and password of a proxy's URL become `Proxy-Authorization`.
#[derive(Debug, Clone, Default)]
pub struct ProxySettings {
    /// For `https` backends: `HTTPS_PROXY`, else `ALL_PROXY`.
    pub https: Option<SecretString>,
    /// For `http` backends: `HTTP_PROXY`, else `ALL_PROXY`.
    pub http: Option<SecretString>,
    /// Comma-separated names, addresses and networks that are reached directly, with curl's meaning: a name stands
    /// for its subdomains too, `*` for everything. `localhost` and loopback addresses are always reached directly.
    pub no_proxy: String,
}

/// Request compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// As it is.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

/// TLS towards a backend, with the Collector's key names.
#[derive(Debug, Clone, Default)]
pub struct TlsClient {
    /// Plain text even for a gRPC endpoint without scheme.
    pub insecure: bool,
    /// PEM file of the CAs to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file of the client certificate.
    pub cert_file: Option<PathBuf>,
    /// PEM file of the client key.
    pub key_file: Option<PathBuf>,
    /// Name to expect in the certificate instead of the endpoint's host.
    pub server_name_override: Option<String>,
}

/// Retry with exponential back-off and jitter (`retry_on_failure`).
#[derive(Debug, Clone)]
pub struct Retry {
    /// Retry at all.
    pub enabled: bool,
    /// First wait.
    pub initial_interval: Duration,
    /// Longest wait.
    pub max_interval: Duration,
    /// Factor from one wait to the next.
    pub multiplier: f64,
    /// Share of the wait that is random, 0.0 to 1.0.
    pub randomization_factor: f64,
    /// Longest time spent on one request; never past the client's deadline. Zero: no limit of its own.
    pub max_elapsed_time: Duration,
}

impl Default for Retry {
    /// The Collector's defaults, with an initial interval that fits inside a client's usual 10 s deadline.
    fn default() -> Self {
        Self {
            enabled: true,
            initial_interval: Duration::from_millis(500),
            max_interval: Duration::from_secs(30),
            multiplier: 1.5,
            randomization_factor: 0.5,
            max_elapsed_time: Duration::from_secs(300),
        }
    }
}

/// Which of a client's own headers go on to the backend. Hop-by-hop headers, `cookie` and `baggage` never do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForwardHeaders {
    /// Custom headers pass (no configuration file: a sidecar's client holds the backend's key).
    All,
    /// Only these (with a file; default none).
    Named(Vec<HeaderName>),
}
