//! Where configuration comes from, as layers: files, `BLACKBAR__SECTION__KEY` variables, and flags.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::env::Env;
use super::node::{Node, Value};
use super::otel;
use super::problem::{Origin, Sink};
use super::yaml;
use crate::otlp::Signal;

/// The largest configuration file, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// What starts a variable of ours.
const PREFIX: &str = "BLACKBAR__";

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--config`, in order: `FILE`, `file:FILE`, `env:NAME` or `yaml:TEXT`.
    pub files: Vec<String>,
    /// `--grpc-endpoint`.
    pub grpc_endpoint: Option<String>,
    /// `--http-endpoint`.
    pub http_endpoint: Option<String>,
    /// `--exporter`: `stdout` or `file=PATH`.
    pub exporter: Option<String>,
    /// `--log-level`.
    pub log_level: Option<String>,
    /// For commands that forward nothing: without a file, there is no backend and none is missed.
    pub without_backend: bool,
}

/// Reads all documents of `--config` into one tree, later ones on top. `None`: one could not be read at all, so what the
/// whole would mean is unknown; problems say why.
pub(crate) fn documents(
    sources: &Sources,
    env: &Env,
    directories: &mut HashMap<String, PathBuf>,
    sink: &Sink,
) -> Option<Node> {
    let mut tree = Node::map(Origin::Default);
    let mut whole = true;
    for source in &sources.files {
        let (name, text) = match document(source, env) {
            Ok(read) => read,
            Err(message) => {
                sink.add(&Origin::Flag(Arc::from("--config")), "", message);
                whole = false;
                continue;
            }
        };
        if let Some(directory) = directory(source) {
            directories.insert(name.clone(), directory);
        }
        match yaml::parse(&name, &text, sink) {
            Some(node) if matches!(node.value, Value::Map(_)) => {
                tree.origin = node.origin.clone();
                tree.overlay(node);
            }
            Some(node) if matches!(node.value, Value::Null) => tree.origin = node.origin,
            Some(node) => {
                sink.add(&node.origin, "", "expected a mapping (receivers, exporters, service...)");
                whole = false;
            }
            None => whole = false,
        }
    }
    whole.then_some(tree)
}

/// The name that problems use, and the text.
fn document(source: &str, env: &Env) -> Result<(String, String), String> {
    if let Some(text) = source.strip_prefix("yaml:") {
        return Ok(("yaml:".to_owned(), text.to_owned()));
    }
    if let Some(name) = source.strip_prefix("env:") {
        let text = env.get(name).ok_or_else(|| format!("environment variable {name} is not set"))?;
        return Ok((source.to_owned(), text.to_owned()));
    }
    let path = source.strip_prefix("file:").unwrap_or(source);
    let fault = |what: String| format!("{path}: {what}");
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(|e| fault(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(fault(format!("is larger than {MAX_FILE} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| fault("is not UTF-8".to_owned()))?;
    Ok((path.to_owned(), text))
}

fn directory(source: &str) -> Option<PathBuf> {
    if source.starts_with("yaml:") || source.starts_with("env:") {
        return None;
    }
    Path::new(source.strip_prefix("file:").unwrap_or(source)).parent().map(Path::to_path_buf)
}

/// Lays the `BLACKBAR__SECTION__KEY` variables on top. Names are matched to the keys that are there without regard to
/// case and punctuation, so that `BLACKBAR__EXPORTERS__OTLP_GRPC_EU__TIMEOUT` reaches `otlp_grpc/eu`.
pub(crate) fn variables(tree: &mut Node, env: &Env, sink: &Sink) {
    for (name, value) in env.iter() {
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        let origin = Origin::Variable(Arc::from(name));
        let words: Vec<&str> = rest.split("__").collect();
        if words.iter().any(|word| word.is_empty()) {
            sink.add(&origin, "", "expected BLACKBAR__SECTION__KEY");
            continue;
        }
        let mut path: Vec<String> = Vec::new();
        for word in words {
            let above: Vec<&str> = path.iter().map(String::as_str).collect();
            let present = tree.at(&above).and_then(Node::as_map);
            let same = present.and_then(|map| map.0.iter().find(|e| folded(&e.key) == folded(word)));
            path.push(same.map_or_else(|| word.to_ascii_lowercase(), |e| e.key.clone()));
        }
        let node = match value {
            "" => Node::null(origin),
            _ => Node::literal(value, origin),
        };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        tree.set_at(&path, node);
    }
}

fn folded(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// Lays the flags on top.
pub(crate) fn flags(tree: &mut Node, sources: &Sources, sink: &Sink) {
    let flag = |name: &str| Origin::Flag(Arc::from(name));
    for (name, protocol, value) in [
        ("--grpc-endpoint", "grpc", &sources.grpc_endpoint),
        ("--http-endpoint", "http", &sources.http_endpoint),
    ] {
        let Some(value) = value else { continue };
        if tree.at(&["receivers", "otlp"]).is_none() {
            sink.add(&flag(name), "", "sets receivers.otlp, which this configuration does not have");
            continue;
        }
        let path = ["receivers", "otlp", "protocols", protocol, "endpoint"];
        tree.set_at(&path, Node::literal(value, flag(name)));
    }
    if let Some(value) = &sources.log_level {
        tree.set_at(&["service", "telemetry", "logs", "level"], Node::literal(value, flag("--log-level")));
    }
    if let Some(value) = &sources.exporter {
        exporter(tree, value, &flag("--exporter"), sink);
    }
}

/// `--exporter`: every pipeline sends there.
fn exporter(tree: &mut Node, value: &str, origin: &Origin, sink: &Sink) {
    let mut settings = Node::map(origin.clone());
    let name = match value.split_once('=') {
        None if value == "stdout" => "stdout",
        Some(("file", path)) if !path.is_empty() => {
            settings.set_at(&["path"], Node::literal(path, origin.clone()));
            "file"
        }
        _ => {
            sink.add(origin, "", "expected stdout or file=PATH");
            return;
        }
    };
    tree.set_at(&["exporters", name], settings);
    let pipelines = tree.at(&["service", "pipelines"]).and_then(Node::as_map);
    let names: Vec<String> =
        pipelines.map(|map| map.0.iter().map(|e| e.key.clone()).collect()).unwrap_or_default();
    for pipeline in names {
        let list = Node::list([name], origin);
        tree.set_at(&["service", "pipelines", &pipeline, "exporters"], list);
    }
}

/// Without a file and without a pipeline: every signal goes to the exporter, where there is only one.
pub(crate) fn complete(tree: &mut Node) {
    if tree.at(&["service", "pipelines"]).is_some() {
        return;
    }
    let Some([only]) = tree.at(&["exporters"]).and_then(Node::as_map).map(|map| map.0.as_slice()) else {
        return;
    };
    let (name, origin) = (only.key.clone(), only.node.origin.clone());
    for signal in Signal::ALL {
        tree.set_at(&["service", "pipelines", signal.as_str()], otel::pipeline(&name, &origin));
    }
}
