//! `service` and `extensions`: which components are used and how, our own log and metrics, bounds and shutdown times.

use std::collections::BTreeMap;
use std::time::Duration;

use super::components::{Context, components, listen, type_of};
use super::node::{Map, Node, Value};
use super::problem::Origin;
use super::queue::{self, Storages};
use super::section::Section;
use super::settings::{HealthSettings, ShutdownSettings};
use crate::receive::settings::LimitSettings;
use crate::telemetry::logs::{LogFormat, LogSettings};

/// The types of extension that we have.
pub(crate) const EXTENSIONS: &[&str] = &["health_check", "file_storage"];

/// Where the health endpoint listens unless told.
const HEALTH: &str = "127.0.0.1:13133";

/// Time between two runs of the self-canary unless told.
const CANARY: Duration = Duration::from_secs(60);

const SECOND: Duration = Duration::from_secs(1);

/// What `service` says besides pipelines.
pub(crate) struct Service {
    pub(crate) limits: LimitSettings,
    pub(crate) log: LogSettings,
    pub(crate) metrics_endpoint: Option<String>,
    pub(crate) shutdown: ShutdownSettings,
    pub(crate) canary_interval: Duration,
}

/// Reads `extensions`, and which of them `service.extensions` starts.
pub(crate) fn extensions(
    top: &mut Section<'_>,
    service: &mut Section<'_>,
    context: &Context<'_>,
) -> (Option<HealthSettings>, Storages) {
    let mut section = top.child("extensions");
    let mut checks = BTreeMap::new();
    let mut storages = Storages::default();
    for name in components(&section, "extension", EXTENSIONS) {
        let mut extension = section.child(&name.value);
        match type_of(&name.value) {
            "file_storage" => {
                storages.defined.insert(name.value.clone(), queue::storage(&mut extension));
            }
            _ => {
                checks.insert(name.value.clone(), health(&mut extension));
            }
        }
        section.show(&name.value, extension.finish());
    }
    let strange: Vec<String> =
        section.keys().into_iter().map(|k| k.value).filter(|k| !EXTENSIONS.contains(&type_of(k))).collect();
    section.ignore_the_rest(); // The strange ones have been reported.
    top.show("extensions", section.finish());

    let mut health = None;
    let started = service.list("extensions", &[]);
    for name in checks.keys().chain(storages.defined.keys()) {
        if !started.iter().any(|s| s.value == *name) {
            context.notice(format!("extension {name} is not started: service.extensions does not list it"));
        }
    }
    for name in started {
        match checks.get(&name.value) {
            Some(settings) if health.is_none() => health = Some(settings.clone()),
            Some(_) => service.problem(&name.origin, "extensions", "expected one health_check"),
            None if storages.defined.contains_key(&name.value) => storages.started.push(name.value),
            None if strange.contains(&name.value) => {}
            None => {
                let message = format!("extension `{}` is not defined under extensions", name.value);
                service.problem(&name.origin, "extensions", message);
            }
        }
    }
    (health, storages)
}

fn health(extension: &mut Section<'_>) -> HealthSettings {
    let endpoint = listen(extension, "endpoint", HEALTH).value;
    let read_path = |text: &str| text.starts_with('/').then(|| text.to_owned());
    let path = extension.value("path", "/".to_owned(), "a path that starts with /", read_path, String::clone);
    HealthSettings { endpoint, path }
}

/// Reads everything else of `service` but the pipelines.
pub(crate) fn read(service: &mut Section<'_>) -> Service {
    let (log, metrics_endpoint) = telemetry(service);
    let limits = limits(service);
    let defaults = ShutdownSettings::default();
    let mut section = service.child("shutdown");
    let shutdown = ShutdownSettings {
        quiet: section.duration("quiet", defaults.quiet, Duration::ZERO),
        linger: section.duration("linger", defaults.linger, Duration::ZERO),
        drain: section.duration("drain", defaults.drain, Duration::ZERO),
    };
    service.show("shutdown", section.finish());
    let canary_interval = service.duration("canary_interval", CANARY, SECOND);
    Service { limits, log, metrics_endpoint, shutdown, canary_interval }
}

fn limits(service: &mut Section<'_>) -> LimitSettings {
    let defaults = LimitSettings::default();
    let least = Duration::from_millis(1);
    let mut section = service.child("limits");
    let limits = LimitSettings {
        max_in_flight_requests: section.count(
            "max_in_flight_requests",
            defaults.max_in_flight_requests,
            1 << 20,
        ),
        max_in_flight_bytes: section.count("max_in_flight_bytes", defaults.max_in_flight_bytes, 1 << 40),
        max_connections: section.count("max_connections", defaults.max_connections, 1 << 20),
        header_timeout: section.duration("header_timeout", defaults.header_timeout, least),
        body_idle_timeout: section.duration("body_idle_timeout", defaults.body_idle_timeout, least),
        request_timeout: section.duration("request_timeout", defaults.request_timeout, least),
    };
    service.show("limits", section.finish());
    limits
}

fn telemetry(service: &mut Section<'_>) -> (LogSettings, Option<String>) {
    let mut telemetry = service.child("telemetry");
    let mut logs = telemetry.child("logs");
    let words = ["trace", "debug", "info", "warn", "error", "off"].map(|w| (w, w));
    let filter = logs.choice("level", "info", &words).to_owned();
    let format = logs.choice(
        "encoding",
        LogFormat::Auto,
        &[("auto", LogFormat::Auto), ("console", LogFormat::Text), ("json", LogFormat::Json)],
    );
    telemetry.show("logs", logs.finish());

    let mut metrics = telemetry.child("metrics");
    let level = metrics.choice("level", "normal", &["none", "basic", "normal", "detailed"].map(|w| (w, w)));
    metrics.expect(&["address"]);
    let address = metrics.has("address").then(|| listen(&mut metrics, "address", "127.0.0.1:8888").value);
    let reader = readers(&mut metrics);
    if address.is_some() && reader.is_some() {
        let origin = metrics.origin_of("address");
        metrics.problem(&origin, "address", "and readers are both given; expected one of them");
    }
    let endpoint = reader.or(address).filter(|_| level != "none");
    telemetry.show("metrics", metrics.finish());
    service.show("telemetry", telemetry.finish());
    (LogSettings { filter, format }, endpoint)
}

/// `readers: [{pull: {exporter: {prometheus: {host, port}}}}]`, at most one.
fn readers(metrics: &mut Section<'_>) -> Option<String> {
    let node = metrics.node("readers")?;
    let items = match &node.value {
        Value::Null => return None,
        Value::List(items) => items,
        _ => {
            metrics.problem(&node.origin, "readers", "expected a list");
            return None;
        }
    };
    let mut endpoint = None;
    let mut shown = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let mut reader = metrics.item("readers", i, item);
        let mut pull = reader.child("pull");
        let mut exporter = pull.child("exporter");
        let mut prometheus = exporter.child("prometheus");
        let read_host = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let host = prometheus.value("host", "127.0.0.1".to_owned(), "a host", read_host, String::clone);
        let port = prometheus.count("port", 8888, usize::from(u16::MAX));
        exporter.show("prometheus", prometheus.finish());
        pull.show("exporter", exporter.finish());
        reader.show("pull", pull.finish());
        shown.push(reader.finish());
        let bracketed = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
        if endpoint.replace(format!("{bracketed}:{port}")).is_some() {
            metrics.problem(&item.origin, "readers", "expected one reader");
        }
    }
    metrics.show("readers", Node { value: Value::List(shown), origin: node.origin });
    endpoint
}

/// The parts that run when there is no file: both doors and the health endpoint.
pub(crate) fn without_file() -> Node {
    let mut tree = Node::map(Origin::Default);
    let empty = || Node { value: Value::Map(Map::default()), origin: Origin::Default };
    tree.set_at(&["receivers", "otlp", "protocols", "grpc"], empty());
    tree.set_at(&["receivers", "otlp", "protocols", "http"], empty());
    tree.set_at(&["extensions", "health_check"], empty());
    tree.set_at(&["service", "extensions"], Node::list(["health_check"], &Origin::Default));
    tree
}
