//! The exporters, against a recording backend: what goes out, and what becomes of each answer.

mod answers;
mod connection;
mod headers;
mod lines;
mod proxy;
mod retries;
mod tls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use blackbar::error::Backend as Failure;
use blackbar::forward::settings::{
    Compression, ExporterSettings, ForwardHeaders, ProxySettings, Remote, Retry, TlsClient,
};
use blackbar::forward::{Call, Exporter};
use blackbar::otlp::{Encoding, Payload, Signal};
use blackbar::pipeline::Reply;
use blackbar::redact::{Redacted, Redactor};
use blackbar::telemetry::Metrics;
use bytes::Bytes;
use http::HeaderMap;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;

/// What an exporter speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Grpc,
    Protobuf,
    Json,
}

const DIALECTS: [Dialect; 3] = [Dialect::Grpc, Dialect::Protobuf, Dialect::Json];

/// Settings with quick retries and plenty of time.
fn remote(url: &str) -> Remote {
    Remote {
        endpoint: url.parse().unwrap(),
        signal_endpoints: Vec::new(),
        headers: Vec::new(),
        compression: Compression::None,
        timeout: Duration::from_secs(30),
        tls: TlsClient::default(),
        retry: Retry { initial_interval: Duration::from_millis(5), ..Retry::default() },
        forward_headers: ForwardHeaders::All,
        proxy: ProxySettings::default(),
    }
}

/// The same without retries.
fn once(url: &str) -> Remote {
    let mut remote = remote(url);
    remote.retry.enabled = false;
    remote
}

fn settings(dialect: Dialect, remote: Remote) -> ExporterSettings {
    match dialect {
        Dialect::Grpc => ExporterSettings::OtlpGrpc(remote),
        Dialect::Protobuf => ExporterSettings::OtlpHttp { remote, encoding: Encoding::Protobuf },
        Dialect::Json => ExporterSettings::OtlpHttp { remote, encoding: Encoding::Json },
    }
}

fn exporter(dialect: Dialect, remote: Remote) -> Exporter {
    Exporter::new("test", &settings(dialect, remote), Arc::new(Metrics::default())).unwrap()
}

/// An encoded request with one span of this name.
fn trace(name: &str) -> Bytes {
    let span = Span { trace_id: vec![7; 16], span_id: vec![9; 8], name: name.to_owned(), ..Span::default() };
    let scope = ScopeSpans { spans: vec![span], ..ScopeSpans::default() };
    let resource = ResourceSpans { scope_spans: vec![scope], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }.encode_to_vec().into()
}

/// What the redactor would find is no concern of the exporters.
fn redacted(signal: Signal, body: Bytes) -> Redacted {
    Redactor::pass_unsafely(signal, Payload::new(body))
}

async fn send_with(exporter: &Exporter, headers: &HeaderMap, wait: Duration) -> Result<Reply, Failure> {
    let request = redacted(Signal::Traces, trace("a span"));
    exporter.export(&request, &Call { headers, deadline: Instant::now() + wait }).await
}

async fn send_body(exporter: &Exporter, signal: Signal, body: Bytes) -> Result<Reply, Failure> {
    let call = Call { headers: &HeaderMap::new(), deadline: Instant::now() + Duration::from_secs(30) };
    exporter.export(&redacted(signal, body), &call).await
}

/// What is wrong with these settings.
fn build_error(settings: &ExporterSettings) -> String {
    Exporter::new("out", settings, Arc::new(Metrics::default())).unwrap_err().to_string()
}

async fn send(exporter: &Exporter) -> Result<Reply, Failure> {
    send_with(exporter, &HeaderMap::new(), Duration::from_secs(30)).await
}

/// What this thread logs about itself. Tokio's tests run on one thread.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn record() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("blackbar=trace")
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
