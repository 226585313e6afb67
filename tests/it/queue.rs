//! The durable queue, through the front door: bytes into the real binary, bytes out of a recording backend, and the files
//! in between. `model` and `damage` open the queue itself, for thousands of states that no process would reach in time.

mod crash;
mod damage;
mod disk;
mod life;
mod model;
mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blackbar::otlp::Signal;
use blackbar::queue::settings::{QueueSettings, Sizer, StorageSettings};
use blackbar::queue::{Queue, Storage};
use blackbar::telemetry::Metrics;
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use tempfile::TempDir;

use crate::receive_support::exchange;
use crate::support::backend::Received;
use crate::support::client::{Answer, Client, Via};
use crate::support::process::Process;

/// Nobody listens there.
const DEAD: &str = "http://127.0.0.1:1";
/// The exporter's name as a directory.
const EXPORTER: &str = "otlp_http%2Fqueued";

/// A fake token that must never be seen behind the door.
fn secret() -> String {
    format!("ghp_{}", "Zq3xT9".repeat(6))
}

/// A configuration with a queue in this directory.
fn config(directory: &Path, endpoint: &str, queue: &str) -> String {
    let exporter = format!(
        "otlp_http/queued: {{endpoint: '{endpoint}', timeout: 20s, retry_on_failure: {{initial_interval: 5ms, \
         max_interval: 50ms}}, sending_queue: {{storage: file_storage{queue}}}}}"
    );
    let storage = format!("file_storage: {{directory: '{}'}}, ", directory.display());
    crate::support::config(&exporter)
        .replace("extensions: {health", &format!("extensions: {{{storage}health"))
        .replace("extensions: [health_check]", "extensions: [health_check, file_storage]")
        + "  shutdown: {quiet: 0s, linger: 0s, drain: 60s}\n"
}

/// A request with one span of this name, a secret, and so many bytes of other text.
fn request(name: &str, bytes: usize) -> Vec<u8> {
    let attribute = |key: &str, text: String| KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(any_value::Value::StringValue(text)) }),
        ..KeyValue::default()
    };
    let padding = "all is well ".repeat(bytes / 12);
    let attributes =
        vec![attribute("tool.output", format!("token {}", secret())), attribute("text", padding)];
    let span = Span { name: name.to_owned(), attributes, ..Span::default() };
    let scope = ScopeSpans { spans: vec![span], ..ScopeSpans::default() };
    let resource = ResourceSpans { scope_spans: vec![scope], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }.encode_to_vec()
}

/// The name of the one span of a request.
fn name_of(body: &[u8]) -> String {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    request.resource_spans[0].scope_spans[0].spans[0].name.clone()
}

fn names(requests: &[Received]) -> Vec<String> {
    requests.iter().map(|request| name_of(&request.protobuf())).collect()
}

async fn send(process: &Process, via: Via, name: &str, bytes: usize) -> Answer {
    Client::new().export(&process.url("otlp/http"), Signal::Traces, via, &request(name, bytes)).await
}

async fn metrics(process: &Process) -> String {
    let get = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    String::from_utf8(exchange(process.address("health_check"), get).await.body.to_vec()).unwrap()
}

/// The value of a queue's metric; 0 where it is missing.
fn value(page: &str, metric: &str) -> u64 {
    let line = page.lines().find(|line| line.starts_with(&format!("blackbar_queue_{metric}{{")));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Waits until the queue's metric has this value.
async fn until(process: &Process, metric: &str, wanted: u64) {
    let wait = async { while value(&metrics(process).await, metric) != wanted {} };
    crate::receive_support::soon(wait).await;
}

/// The status and body of `/readyz`.
async fn ready(process: &Process) -> (u16, String) {
    let get = b"GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let got = exchange(process.address("health_check"), get).await;
    (got.status, String::from_utf8(got.body.to_vec()).unwrap())
}

/// Every file below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(fs::copy(entry.path(), target))
        }
    }
}

/// The files of `quarantine` or `dead-letter`.
fn kept(directory: &TempDir, what: &str) -> Vec<PathBuf> {
    let path = directory.path().join(EXPORTER).join(what);
    if path.exists() { files(&path) } else { Vec::new() }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

/// Nothing that we wrote, sent or said holds the secret.
fn assert_no_secret(directory: &TempDir, received: &[Received], said: &[&str]) {
    for path in files(directory.path()) {
        assert!(!contains(&fs::read(&path).unwrap(), &secret()), "{}", path.display());
    }
    for request in received {
        assert!(!contains(&request.raw, &secret()));
        assert!(contains(&request.raw, "[REDACTED:github-token]"));
    }
    for text in said {
        assert!(!text.contains(&secret()), "{text}");
    }
}

fn set(names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    names.into_iter().collect()
}

/// The queue itself, as the process opens it.
fn open(directory: &Path, size: u64, metrics: &Arc<Metrics>) -> Queue {
    let storage = StorageSettings { directory: directory.to_owned(), create_directory: false };
    let settings = QueueSettings {
        storage: storage.clone(),
        size,
        sizer: Sizer::Requests,
        consumers: 1,
        block_on_overflow: false,
    };
    let storage = Arc::new(Storage::open(&storage).unwrap());
    Queue::open("otlp_http/queued", &settings, storage, Arc::clone(metrics), Arc::default()).unwrap()
}

/// A redacted body, for tests that open the queue itself.
fn redacted(name: &str, bytes: usize) -> blackbar::redact::Redacted {
    let payload = blackbar::otlp::Payload::new(Bytes::from(request(name, bytes)));
    blackbar::redact::Redactor::pass_unsafely(Signal::Traces, payload)
}
