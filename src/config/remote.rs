//! The settings of an exporter that reaches its backend over the network.

use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, Uri};
use secrecy::SecretString;

use super::components::Context;
use super::headers;
use super::node::Node;
use super::problem::Origin;
use super::queue::{self, ReadQueue};
use super::section::{Located, Section};
use super::url::{self, Endpoint};
use crate::forward::settings::{
    Compression, ExporterSettings, ForwardHeaders, ProxySettings, Remote, Retry, TlsClient,
};
use crate::otlp::{Encoding, Signal};

/// Longest wait for one request (OTLP exporter specification).
const TIMEOUT: Duration = Duration::from_secs(10);

/// An exporter and what the pipelines have to know of it.
pub(crate) struct ReadExporter {
    pub(crate) settings: ExporterSettings,
    /// Where its endpoint is written.
    pub(crate) origin: Origin,
    /// Only these signals have an endpoint; `None`: all.
    pub(crate) only: Option<Vec<Signal>>,
    /// Its queue, if it has one.
    pub(crate) queue: Option<ReadQueue>,
}

/// Reads an `otlp_grpc` exporter.
pub(crate) fn grpc(
    section: &mut Section<'_>,
    context: &Context<'_>,
    proxy: &ProxySettings,
) -> Option<ReadExporter> {
    let tls = tls(section);
    let endpoint = endpoint(section, "endpoint", |text| url::grpc(text, tls.insecure));
    if endpoint.is_none() && !section.has("endpoint") {
        let origin = section.origin.clone();
        section.problem(&origin, "endpoint", "is missing; expected the backend's host:port or URL");
    }
    let rest = rest(section, context, tls, proxy);
    let (endpoint, origin, login) = endpoint?;
    let queue = rest.queue.clone();
    let remote = rest.remote(endpoint, Vec::new(), login);
    Some(ReadExporter { settings: ExporterSettings::OtlpGrpc(remote), origin, only: None, queue })
}

/// Reads an `otlp_http` exporter.
pub(crate) fn http(
    section: &mut Section<'_>,
    context: &Context<'_>,
    proxy: &ProxySettings,
    encoding: Encoding,
) -> Option<ReadExporter> {
    let tls = tls(section);
    let base = endpoint(section, "endpoint", url::http);
    let mut login = base.as_ref().and_then(|(_, _, login)| login.clone());
    let mut own = Vec::new();
    let mut wrong = base.is_none() && section.has("endpoint");
    let mut first = None;
    for signal in Signal::ALL {
        let key = format!("{signal}_endpoint");
        match endpoint(section, &key, url::http) {
            Some((uri, origin, own_login)) => {
                login = login.or(own_login);
                first.get_or_insert((uri.clone(), origin));
                own.push((signal, uri));
            }
            None => wrong |= section.has(&key),
        }
    }
    if base.is_none() && own.is_empty() && !wrong {
        let origin = section.origin.clone();
        section.problem(&origin, "endpoint", "is missing; expected the backend's URL");
    }
    let rest = rest(section, context, tls, proxy);
    let only = base.is_none().then(|| own.iter().map(|(signal, _)| *signal).collect());
    let (uri, origin) = base.map(|(uri, origin, _)| (uri, origin)).or(first)?;
    let queue = rest.queue.clone();
    let remote = rest.remote(uri, own, login);
    Some(ReadExporter { settings: ExporterSettings::OtlpHttp { remote, encoding }, origin, only, queue })
}

/// Everything but the endpoints.
struct Rest {
    headers: Vec<(HeaderName, SecretString)>,
    compression: Compression,
    timeout: Duration,
    tls: TlsClient,
    retry: Retry,
    queue: Option<ReadQueue>,
    forward_headers: ForwardHeaders,
    proxy: ProxySettings,
}

impl Rest {
    /// `login`: what an endpoint's user and password become, unless there is an `authorization` header.
    fn remote(mut self, endpoint: Uri, own: Vec<(Signal, Uri)>, login: Option<SecretString>) -> Remote {
        if let Some(login) = login
            && !self.headers.iter().any(|(name, _)| name == http::header::AUTHORIZATION)
        {
            self.headers.push((http::header::AUTHORIZATION, login));
        }
        Remote {
            endpoint,
            signal_endpoints: own,
            headers: self.headers,
            compression: self.compression,
            timeout: self.timeout,
            tls: self.tls,
            retry: self.retry,
            forward_headers: self.forward_headers,
            proxy: self.proxy,
        }
    }
}

fn rest(section: &mut Section<'_>, context: &Context<'_>, tls: TlsClient, proxy: &ProxySettings) -> Rest {
    let headers = headers::read(section);
    let compression = section.choice(
        "compression",
        Compression::default(),
        &[
            ("none", Compression::None),
            ("gzip", Compression::Gzip),
            ("zstd", Compression::Zstd),
            ("", Compression::None),
        ],
    );
    let timeout = section.duration("timeout", TIMEOUT, Duration::ZERO);
    let queue = queue::read(section);
    let retry = retry(section, queue.is_some());
    let forward_headers = headers::forwarded(section, context);
    if queue.is_some() && forward_headers != ForwardHeaders::Named(Vec::new()) {
        let message = "and sending_queue exclude each other: a client's headers are never written to disk; expected \
                       `forward_headers: []`";
        let origin = section.origin_of("forward_headers");
        section.problem(&origin, "forward_headers", message);
    }
    Rest { headers, compression, timeout, tls, retry, queue, forward_headers, proxy: proxy.clone() }
}

fn endpoint(
    section: &mut Section<'_>,
    key: &str,
    read: impl Fn(&str) -> Result<Endpoint, &'static str>,
) -> Option<(Uri, Origin, Option<SecretString>)> {
    let Located { value, origin } = section.text(key)?;
    match read(&value.text) {
        Ok(Endpoint { uri, login, shown }) => {
            section.show(key, Node::literal(shown, origin.clone()));
            Some((uri, origin, login))
        }
        Err(message) => {
            section.problem(&origin, key, message);
            None
        }
    }
}

fn tls(section: &mut Section<'_>) -> TlsClient {
    let mut tls = section.child("tls");
    let insecure = tls.boolean("insecure", false);
    let origin = tls.origin_of("insecure_skip_verify");
    if tls.boolean("insecure_skip_verify", false) {
        let message = "is not supported: certificates are always verified; name the CA in ca_file";
        tls.problem(&origin, "insecure_skip_verify", message);
    }
    let mut file = |key: &str| {
        let path = tls.plain_text(key)?;
        match std::fs::File::open(&path.value) {
            Ok(_) => {}
            Err(e) => tls.problem(&path.origin, key, format!("cannot be read: {e}")),
        }
        Some(PathBuf::from(path.value))
    };
    let (ca_file, cert_file, key_file) = (file("ca_file"), file("cert_file"), file("key_file"));
    let server_name_override = tls.plain_text("server_name_override").map(|n| n.value);
    if cert_file.is_some() != key_file.is_some() {
        let (given, missing) =
            if cert_file.is_some() { ("cert_file", "key_file") } else { ("key_file", "cert_file") };
        let origin = tls.origin_of(given);
        tls.problem(&origin, given, format!("{missing} is missing; a client certificate takes both"));
    }
    section.show("tls", tls.finish());
    TlsClient { insecure, ca_file, cert_file, key_file, server_name_override }
}

/// `queued`: there is time, so retries don't end by themselves.
fn retry(section: &mut Section<'_>, queued: bool) -> Retry {
    let mut defaults = Retry::default();
    if queued {
        defaults.max_elapsed_time = Duration::ZERO;
    }
    let mut retry = section.child("retry_on_failure");
    let least = Duration::from_millis(1);
    let read = Retry {
        enabled: retry.boolean("enabled", defaults.enabled),
        initial_interval: retry.duration("initial_interval", defaults.initial_interval, least),
        max_interval: retry.duration("max_interval", defaults.max_interval, least),
        multiplier: retry.number("multiplier", defaults.multiplier, 1.0, 100.0),
        randomization_factor: retry.number("randomization_factor", defaults.randomization_factor, 0.0, 1.0),
        max_elapsed_time: retry.duration("max_elapsed_time", defaults.max_elapsed_time, Duration::ZERO),
    };
    section.show("retry_on_failure", retry.finish());
    read
}
