//! The wire walk against decode -> redact -> encode with `prost`, and against copying the body.
//!
//! Two bodies: what an agent sends (few spans, long texts) and what a service sends (many spans, short texts); each
//! without a finding and with one in every tenth span. The scrubber is the tests' stand-in (one literal), so that the
//! figures are about the walk; `null` looks into no text at all; `real` is the production scrubber as it is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a benchmark"
)]

use std::hint::black_box;

use blackbar::otlp::{Payload, Signal};
use blackbar::redact::text::KeyPath;
use blackbar::redact::{Clean, Policy, Redactor, Report, Scrub, TextScrubber};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;

#[path = "../tests/it/walk_reference.rs"]
mod walk_reference;
#[path = "../tests/it/walk_stand_in.rs"]
mod walk_stand_in;

use walk_stand_in::StandIn;

/// Looks at nothing: what is left is the cost of the framing.
struct Null;

impl Scrub for Null {
    fn scrub(&self, _: Option<&KeyPath<'_>>, _: &[u8], _: &mut Report) -> Option<Clean> {
        None
    }

    fn is_secret_key(&self, _: &KeyPath<'_>) -> bool {
        false
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn string(key: &str, text: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(text.into()))
}

fn span(number: usize, name: &str, attributes: Vec<KeyValue>) -> Span {
    let id = (number as u64 + 1).to_be_bytes();
    Span {
        trace_id: [id, id].concat(),
        span_id: id.to_vec(),
        parent_span_id: id.to_vec(),
        name: name.to_owned(),
        kind: 3,
        start_time_unix_nano: 1_700_000_000_000_000_000,
        end_time_unix_nano: 1_700_000_001_000_000_000,
        attributes,
        status: Some(Status { message: String::new(), code: 1 }),
        ..Span::default()
    }
}

fn request(spans: Vec<Span>) -> Bytes {
    let resource = Resource {
        attributes: vec![
            string("service.name", "checkout"),
            string("host.name", "node-17"),
            string("telemetry.sdk.language", "python"),
        ],
        ..Resource::default()
    };
    let scope =
        InstrumentationScope { name: "agent".to_owned(), version: "1.2.3".to_owned(), ..Default::default() };
    let spans = ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() };
    let group =
        ResourceSpans { resource: Some(resource), scope_spans: vec![spans], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![group] }.encode_to_vec().into()
}

/// 100 spans of an agent, about 400 KB: prompts and tool results as JSON in strings.
fn agent_body(findings: bool) -> Bytes {
    let sentence =
        r#"{"role":"user","content":"List the files below src/ and tell me which of them are tests."},"#;
    let spans = (0..100).map(|number| {
        let secret = if findings && number % 10 == 0 { "SECRET42 " } else { "" };
        let attributes = vec![
            string("gen_ai.operation.name", "chat"),
            string("gen_ai.request.model", "some-model-4"),
            string("gen_ai.input.messages", format!("[{}{secret}]", sentence.repeat(24))),
            string("gen_ai.output.messages", format!("[{}]", sentence.repeat(8))),
            string("tool.output", format!("{secret}{}", "line of a log, nothing in it\\n".repeat(24))),
            attribute("gen_ai.usage.input_tokens", Value::IntValue(12_345)),
            attribute("gen_ai.usage.output_tokens", Value::IntValue(678)),
        ];
        span(number, "chat some-model-4", attributes)
    });
    request(spans.collect())
}

/// 512 small spans of a service, about 170 KB.
fn small_body(findings: bool) -> Bytes {
    let spans = (0..512).map(|number| {
        let secret = if findings && number % 10 == 0 { "?key=SECRET42" } else { "" };
        let attributes = vec![
            string("http.request.method", "GET"),
            string("url.path", format!("/api/v1/orders/1234{secret}")),
            string("server.address", "orders.internal"),
            attribute("http.response.status_code", Value::IntValue(200)),
            attribute("server.port", Value::IntValue(8443)),
            string("network.protocol.version", "1.1"),
            string("user_agent.original", "okhttp/4.12"),
        ];
        span(number, "GET /api/v1/orders/{id}", attributes)
    });
    request(spans.collect())
}

fn bench(c: &mut Criterion) {
    for (name, body) in [
        ("agent/clean", agent_body(false)),
        ("agent/findings", agent_body(true)),
        ("small/clean", small_body(false)),
        ("small/findings", small_body(true)),
    ] {
        let mut group = c.benchmark_group(format!("{name}/{}B", body.len()));
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function("memcpy", |b| b.iter(|| black_box(body.to_vec())));
        let walk = Redactor::new(Null, Policy::default());
        group.bench_function("walk, null", |b| b.iter(|| redact(&walk, &body)));
        let walk = Redactor::new(StandIn::new(), Policy::default());
        group.bench_function("walk, stand-in", |b| b.iter(|| redact(&walk, &body)));
        let stand_in = StandIn::new();
        group.bench_function("prost decode, stand-in, encode", |b| {
            b.iter(|| black_box(walk_reference::redact(&stand_in, Signal::Traces, &body)));
        });
        group.bench_function("prost decode, encode", |b| {
            b.iter(|| black_box(walk_reference::reencode(Signal::Traces, &body)));
        });
        let walk =
            Redactor::new(TextScrubber::builtin().expect("the built-in rules compile"), Policy::default());
        group.bench_function("walk, real", |b| b.iter(|| redact(&walk, &body)));
        group.finish();
    }
}

fn redact<S: Scrub>(redactor: &Redactor<S>, body: &Bytes) -> Bytes {
    let redacted = redactor.redact(Signal::Traces, Payload::new(body.clone()));
    black_box(redacted.expect("valid").body().clone())
}

criterion_group!(benches, bench);
criterion_main!(benches);
