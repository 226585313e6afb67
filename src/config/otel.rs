//! The standard exporter variables, `OTEL_EXPORTER_OTLP_*`, as a layer of configuration. Used only without a file:
//! platforms inject them for the application.
//!
//! Facts: OpenTelemetry protocol exporter specification. A per-signal variable wins over the general one; a per-signal
//! endpoint is used as it is over HTTP.

use std::fmt::Write as _;
use std::sync::Arc;

use percent_encoding::percent_decode_str;

use super::env::Env;
use super::headers;
use super::node::{Map, Node, Value};
use super::problem::{Origin, Sink};
use super::url;
use crate::forward::settings::ProxySettings;
use crate::otlp::Signal;

/// The port that means gRPC where no protocol is named.
const GRPC_PORT: u16 = 4317;

/// A variable that is set and not empty.
struct Variable<'a> {
    name: Arc<str>,
    value: &'a str,
    own: bool,
}

impl Variable<'_> {
    fn origin(&self) -> Origin {
        Origin::Variable(Arc::clone(&self.name))
    }
}

/// The exporters and pipelines that the variables ask for. Without an endpoint: none.
pub(crate) fn layer(env: &Env, sink: &Sink) -> Node {
    let mut tree = Node::map(Origin::Default);
    for signal in Signal::ALL {
        let vars = Vars { env, signal };
        let Some(endpoint) = vars.get("ENDPOINT") else { continue };
        let (kind, encoding) = protocol(&vars, &endpoint, sink);
        let name = if vars.any_own() { format!("{kind}/{signal}") } else { kind.to_owned() };
        if tree.at(&["exporters", &name]).is_none() {
            tree.set_at(&["exporters", &name], exporter(&vars, &endpoint, kind, encoding, sink));
        }
        tree.set_at(&["service", "pipelines", signal.as_str()], pipeline(&name, &endpoint.origin()));
    }
    tree
}

/// A pipeline from the only receiver to this exporter.
pub(crate) fn pipeline(exporter: &str, origin: &Origin) -> Node {
    let mut node = Node::map(Origin::Default);
    node.set_at(&["receivers"], Node::list(["otlp"], &Origin::Default));
    node.set_at(&["exporters"], Node::list([exporter], origin));
    node
}

struct Vars<'a> {
    env: &'a Env,
    signal: Signal,
}

impl<'a> Vars<'a> {
    fn own(&self, setting: &str) -> Option<Variable<'a>> {
        let name = format!("OTEL_EXPORTER_OTLP_{}_{setting}", self.signal.as_str().to_ascii_uppercase());
        let value = self.env.non_empty(&name)?;
        Some(Variable { name: name.into(), value, own: true })
    }

    fn get(&self, setting: &str) -> Option<Variable<'a>> {
        self.own(setting).or_else(|| {
            let name = format!("OTEL_EXPORTER_OTLP_{setting}");
            let value = self.env.non_empty(&name)?;
            Some(Variable { name: name.into(), value, own: false })
        })
    }

    fn any_own(&self) -> bool {
        let settings = ["ENDPOINT", "PROTOCOL", "HEADERS", "COMPRESSION", "TIMEOUT", "INSECURE"];
        let files = ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"];
        settings.iter().chain(&files).any(|setting| self.own(setting).is_some())
    }
}

/// The exporter's type and, over HTTP, its body encoding.
fn protocol(vars: &Vars<'_>, endpoint: &Variable<'_>, sink: &Sink) -> (&'static str, Option<Node>) {
    let Some(given) = vars.get("PROTOCOL") else {
        let grpc = url::port(endpoint.value) == Some(GRPC_PORT);
        return (if grpc { "otlp_grpc" } else { "otlp_http" }, None);
    };
    match given.value {
        "grpc" => ("otlp_grpc", None),
        "http/protobuf" => ("otlp_http", Some(Node::literal("proto", given.origin()))),
        "http/json" => ("otlp_http", Some(Node::literal("json", given.origin()))),
        _ => {
            sink.add(&given.origin(), "", "expected grpc, http/protobuf or http/json");
            // The others are to be checked too; this one takes any form of endpoint.
            ("otlp_grpc", None)
        }
    }
}

fn exporter(
    vars: &Vars<'_>,
    endpoint: &Variable<'_>,
    kind: &str,
    encoding: Option<Node>,
    sink: &Sink,
) -> Node {
    let mut node = Node::map(endpoint.origin());
    let own_endpoint = format!("{}_endpoint", vars.signal);
    let key = if endpoint.own && kind == "otlp_http" { own_endpoint.as_str() } else { "endpoint" };
    node.set_at(&[key], Node::literal(endpoint.value, endpoint.origin()));
    if let Some(encoding) = encoding {
        node.set_at(&["encoding"], encoding);
    }
    if let Some(var) = vars.get("HEADERS") {
        node.set_at(&["headers"], header_list(&var, sink));
    }
    if let Some(var) = vars.get("COMPRESSION") {
        node.set_at(&["compression"], Node::literal(var.value, var.origin()));
    }
    if let Some(var) = vars.get("TIMEOUT") {
        match var.value.trim().parse::<u64>() {
            Ok(ms) => node.set_at(&["timeout"], Node::literal(format!("{ms}ms"), var.origin())),
            Err(_) => sink.add(&var.origin(), "", "expected a number of milliseconds"),
        }
    }
    if let Some(var) = vars.get("INSECURE") {
        let value = var.value.to_ascii_lowercase();
        match value.as_str() {
            "true" | "false" => node.set_at(&["tls", "insecure"], Node::literal(value, var.origin())),
            _ => sink.add(&var.origin(), "", "expected true or false"),
        }
    }
    for (setting, key) in
        [("CERTIFICATE", "ca_file"), ("CLIENT_CERTIFICATE", "cert_file"), ("CLIENT_KEY", "key_file")]
    {
        if let Some(var) = vars.get(setting) {
            node.set_at(&["tls", key], Node::literal(var.value, var.origin()));
        }
    }
    node
}

/// `key=value,key=value`, percent-encoded (the W3C Baggage format without properties).
fn header_list(var: &Variable<'_>, sink: &Sink) -> Node {
    let mut map = Map::default();
    for (i, pair) in var.value.split(',').enumerate().filter(|(_, pair)| !pair.trim().is_empty()) {
        let decode = |text: &str| percent_decode_str(text.trim()).decode_utf8().ok().map(|t| t.into_owned());
        match pair.split_once('=').and_then(|(k, v)| Some((decode(k)?, decode(v)?))) {
            Some((key, value)) => {
                map.0.push(headers::entry(&key.to_ascii_lowercase(), &value, &var.origin()))
            }
            None => {
                let mut message = String::from("expected key=value pairs with commas between them");
                let _ = write!(message, "; entry {} is not one", i + 1);
                sink.add(&var.origin(), "", message);
            }
        }
    }
    Node { value: Value::Map(map), origin: var.origin() }
}

/// The way out through proxies: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in either case, the lower one first
/// as in curl.
pub(crate) fn proxies(env: &Env, sink: &Sink) -> ProxySettings {
    let find = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let (name, value) = env
            .non_empty(&lower)
            .map(|v| (lower.as_str(), v))
            .or_else(|| env.non_empty(name).map(|v| (name, v)))?;
        let scheme = value.split_once("://").map_or("http", |(scheme, _)| scheme);
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            let origin = Origin::Variable(Arc::from(name));
            sink.add(&origin, "", "only http:// and https:// proxies are supported");
        }
        Some(value.to_owned())
    };
    let all = find("ALL_PROXY");
    let no_proxy = env.non_empty("no_proxy").or_else(|| env.non_empty("NO_PROXY")).unwrap_or_default();
    ProxySettings {
        https: find("HTTPS_PROXY").or_else(|| all.clone()).map(Into::into),
        http: find("HTTP_PROXY").or(all).map(Into::into),
        no_proxy: no_proxy.to_owned(),
    }
}
