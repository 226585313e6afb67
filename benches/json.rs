//! JSON <-> protobuf against `serde_json` with the typed messages of `opentelemetry-proto`, on an agent-like body (long
//! texts) and on small spans (many short fields). Throughput counts bytes of JSON.

#![allow(clippy::expect_used, reason = "a benchmark that can't set up has nothing to measure")]
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::hint::black_box;

use blackbar::otlp::Signal;
use blackbar::otlp::json::{from_protobuf, to_protobuf};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use serde_json::{Value, json};

/// One trace request; the text of each attribute is about this long.
fn request(spans: usize, text_length: usize) -> Value {
    let text = "{\"role\": \"user\", \"content\": \"Liste les fichiers du répertoire\\n\"}, "
        .repeat(text_length / 64 + 1);
    let text: String = text.chars().take(text_length).collect();
    let span = |n: usize| {
        json!({
            "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{n:016x}"), "parentSpanId": "eee19b7ec3c1b174",
            "name": "execute_tool shell", "kind": 1,
            "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000000250000000",
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "1234"}},
                {"key": "gen_ai.request.temperature", "value": {"doubleValue": 0.7}},
                {"key": "tool.input", "value": {"stringValue": text}},
                {"key": "tool.output", "value": {"stringValue": text}},
            ],
            "status": {"code": 1},
        })
    };
    let spans: Vec<Value> = (0..spans).map(span).collect();
    let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]});
    json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "agent"}, "spans": spans}]}]})
}

fn transcode(c: &mut Criterion) {
    let schema = Signal::Traces.request();
    for (name, body) in [("agent", request(50, 4000)), ("small", request(500, 12))] {
        let json = serde_json::to_vec(&body).expect("serialises");
        let protobuf = to_protobuf(schema, &json).expect("is OTLP/JSON");

        let mut group = c.benchmark_group(format!("json_to_protobuf/{name}"));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("blackbar", |b| b.iter(|| to_protobuf(schema, black_box(&json))));
        group.bench_function("typed", |b| {
            b.iter(|| {
                let typed: ExportTraceServiceRequest =
                    serde_json::from_slice(black_box(&json)).expect("is OTLP/JSON");
                typed.encode_to_vec()
            });
        });
        group.finish();

        let mut group = c.benchmark_group(format!("protobuf_to_json/{name}"));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("blackbar", |b| b.iter(|| from_protobuf(schema, black_box(&protobuf))));
        group.bench_function("typed", |b| {
            b.iter(|| {
                let typed =
                    ExportTraceServiceRequest::decode(black_box(protobuf.as_slice())).expect("is OTLP");
                serde_json::to_vec(&typed).expect("serialises")
            });
        });
        group.finish();
    }
}

criterion_group!(benches, transcode);
criterion_main!(benches);
