//! The seed documents' cases, line by line: through the front door, and through `blackbar scrub`.
//!
//! Secrets are built from parts, so that this file trips no scanner.

use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use blackbar::otlp::Signal;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::support::backend::Backend;
use crate::support::client::{Client, Via};
use crate::support::config;
use crate::support::process::Process;

const ANTHROPIC: &str = concat!("sk-", "ant-api03-EXAMPLEEXAMPLEEXAMPLE");
const AWS: &str = concat!("AKIA", "IOSFODNN7EXAMPLE");

/// Seed B's sample with the default configuration: text in, text out, exactly.
fn seed_b() -> Vec<(String, String)> {
    let github = format!("{}{}", concat!("gh", "p_"), "0".repeat(36));
    let cached = base64::engine::general_purpose::STANDARD.encode(format!("ANTHROPIC_API_KEY={ANTHROPIC}"));
    let twice = base64::engine::general_purpose::STANDARD.encode(&cached);
    let (head, tail) = ANTHROPIC.split_at(20);
    let same = |text: &str| (text.to_owned(), text.to_owned());
    let row = |text: String, out: &str| (text, out.to_owned());
    vec![
        row(format!("ANTHROPIC_API_KEY={ANTHROPIC}"), "ANTHROPIC_API_KEY=[REDACTED:anthropic-key]"),
        row(format!("aws_access_key_id = {AWS}"), "aws_access_key_id = [REDACTED:aws-access-key]"),
        row(
            concat!("curl -H 'Authorization: Bearer ", "not-a-real-token-123' https://api.example.invalid")
                .to_owned(),
            "curl -H 'Authorization: Bearer [REDACTED:bearer-token]' https://api.example.invalid",
        ),
        row(
            format!(r#"{{"log": "{{\"GITHUB_TOKEN\": \"{github}\"}}"}}"#),
            r#"{"log": "{\"GITHUB_TOKEN\": \"[REDACTED:github-token]\"}"}"#,
        ),
        row(format!("cache entry: {cached}"), "cache entry: [REDACTED:anthropic-key]"),
        // What B's scrubber admits to miss.
        row(format!("cache entry: {twice}"), "cache entry: [REDACTED:anthropic-key]"),
        row(format!("key {head}\u{200b}{tail} end"), "key [REDACTED:anthropic-key] end"),
        row(format!("key {head}\n{tail} end"), "key [REDACTED:anthropic-key] end"),
        row(format!("x = \"{head}\" + \"{tail}\""), "x = \"[REDACTED:anthropic-key]\""),
        same("GET /search?token=page2&sort=asc 200"),
        same("The server supports Bearer authentication and Basic authentication."),
        same("Retrieved 42 rows from table customers"),
        same("max_tokens=4096 temperature=0.2 token_type=bearer"),
    ]
}

/// Seed B's 200 seeded random strings: printable characters, words, paths, numbers.
fn random_strings() -> Vec<String> {
    let mut rng = StdRng::seed_from_u64(34);
    let words =
        ["user", "token", "key", "session", "order", "password", "reset", "list", "build", "auth", "cache"];
    (0..200)
        .map(|i| match i % 4 {
            0 => (0..rng.random_range(1..80)).map(|_| rng.random_range(' '..='~')).collect(),
            1 => (0..rng.random_range(1..12))
                .map(|_| *words.choose(&mut rng).unwrap())
                .collect::<Vec<_>>()
                .join(" "),
            2 => {
                (0..rng.random_range(1..8)).map(|_| format!("/{}", words.choose(&mut rng).unwrap())).collect()
            }
            _ => (0..rng.random_range(1..6))
                .map(|_| rng.random::<u32>().to_string())
                .collect::<Vec<_>>()
                .join(" "),
        })
        .collect()
}

fn text(value: &str) -> AnyValue {
    AnyValue { value: Some(Value::StringValue(value.to_owned())) }
}

fn attribute(key: &str, value: AnyValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(value), ..Default::default() }
}

fn trace(attributes: Vec<KeyValue>) -> Vec<u8> {
    let span = Span {
        name: "chat".into(),
        trace_id: vec![7; 16],
        span_id: vec![8; 8],
        attributes,
        ..Default::default()
    };
    let scope_spans = vec![ScopeSpans { spans: vec![span], ..Default::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..Default::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

fn attributes_of(message: &[u8]) -> Vec<KeyValue> {
    let request = ExportTraceServiceRequest::decode(message).unwrap();
    request.resource_spans[0].scope_spans[0].spans[0].attributes.clone()
}

fn log(body: &str) -> Vec<u8> {
    let log_records = vec![LogRecord { body: Some(text(body)), ..Default::default() }];
    let scope_logs = vec![ScopeLogs { log_records, ..Default::default() }];
    ExportLogsServiceRequest { resource_logs: vec![ResourceLogs { scope_logs, ..Default::default() }] }
        .encode_to_vec()
}

fn body_of(message: &[u8]) -> AnyValue {
    let request = ExportLogsServiceRequest::decode(message).unwrap();
    request.resource_logs[0].scope_logs[0].log_records[0].body.clone().unwrap()
}

async fn start(backend: &Backend) -> Process {
    Process::run(&config(&format!("otlp_http: {{endpoint: '{}'}}", backend.http_url()))).await
}

#[tokio::test]
async fn seed_b_holds_through_the_front_door() {
    let backend = Backend::start().await;
    let blackbar = start(&backend).await;
    let client = Client::new();
    for (given, wanted) in seed_b() {
        for via in Via::ALL {
            let url = blackbar.url("otlp/http");
            assert!(client.export(&url, Signal::Logs, via, &log(&given)).await.is_ok());
            assert_eq!(body_of(&backend.last().message), text(&wanted), "{via:?}");
            let sent = trace(vec![attribute("tool.output", text(&given))]);
            assert!(client.export(&url, Signal::Traces, via, &sent).await.is_ok());
            let got = attributes_of(&backend.last().message);
            assert_eq!(got, [attribute("tool.output", text(&wanted))], "{via:?}");
        }
    }
}

#[tokio::test]
async fn random_strings_come_back_byte_for_byte() {
    let backend = Backend::start().await;
    let blackbar = start(&backend).await;
    let values = random_strings().iter().map(|s| text(s)).collect();
    let sent =
        trace(vec![attribute("values", AnyValue { value: Some(Value::ArrayValue(ArrayValue { values })) })]);
    assert!(Client::new().export(&blackbar.url("otlp/grpc"), Signal::Traces, Via::Grpc, &sent).await.is_ok());
    assert_eq!(backend.last().message, sent);
}

#[tokio::test]
async fn seed_a_holds_with_its_own_five_patterns() {
    let backend = Backend::start().await;
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/config/seed-034.yaml");
    let ours = format!("yaml:{}", config(&format!("otlp_http: {{endpoint: '{}'}}", backend.http_url())));
    let blackbar = Process::spawn(&["run", "--config", seed, "--config", &ours], &[]).await;
    let ghp = concat!("gh", "p_");
    let jwt = concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiIxMjMifQ.signaturepart");
    let rows = KeyValueList {
        values: vec![
            attribute("auth.token", text(&format!("{ghp}{}", "x".repeat(36)))),
            attribute(
                "rows",
                AnyValue {
                    value: Some(Value::ArrayValue(ArrayValue {
                        values: vec![text(&format!("AKIA{}", "Y".repeat(16))), text("ok")],
                    })),
                },
            ),
        ],
    };
    let sent = vec![
        attribute("tool.output", text(&format!("auth={}{}", concat!("sk-", "ant-api03-"), "a".repeat(95)))),
        attribute("tool.output", text(&format!("key=AKIA{}", "B".repeat(16)))),
        attribute("tool.output", text(&format!("token: {ghp}{}", "c".repeat(36)))),
        attribute("gen_ai.prompt", text(&format!("jwt: {jwt}"))),
        attribute("tool.input.headers", text("Authorization: Bearer abc.def-1")),
        attribute("tool.output", text("Retrieved 42 rows from table customers")),
        attribute("tool.name", text("Bash")),
        attribute("rows.returned", AnyValue { value: Some(Value::IntValue(42)) }),
        attribute("tool.output", AnyValue { value: Some(Value::KvlistValue(rows)) }),
    ];
    let request = trace(sent.clone());
    assert!(
        Client::new()
            .export(&blackbar.url("otlp/http"), Signal::Traces, Via::Protobuf, &request)
            .await
            .is_ok()
    );
    let got = attributes_of(&backend.last().message);
    let string = |i: usize| match got[i].value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!(string(0), "auth=[REDACTED:anthropic-key]");
    assert_eq!(string(1), "key=[REDACTED:aws-access-key]");
    assert_eq!(string(2), "token: [REDACTED:github-token]");
    assert_eq!(string(3), "jwt: [REDACTED:jwt]");
    assert_eq!(string(4), "Authorization: Bearer [REDACTED]");
    assert_eq!(got[5..8], sent[5..8]);
    let Value::KvlistValue(list) = got[8].value.clone().unwrap().value.unwrap() else {
        panic!("not a kvlist")
    };
    assert_eq!(list.values[0].value, Some(text("[REDACTED:github-token]")));
    let Some(Value::ArrayValue(array)) = list.values[1].value.clone().unwrap().value else {
        panic!("not an array")
    };
    assert_eq!(array.values, [text("[REDACTED:aws-access-key]"), text("ok")]);
}

#[test]
fn seed_b_holds_through_scrub() {
    for (given, wanted) in seed_b() {
        assert_eq!(scrub(&given), wanted);
    }
    let lines = random_strings().join("\n");
    assert_eq!(scrub(&lines), lines);
}

#[test]
fn seed_a_holds_through_scrub() {
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/config/seed-034.yaml");
    let ghp = concat!("gh", "p_");
    let jwt = concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiIxMjMifQ.signaturepart");
    for (given, wanted) in [
        (format!("auth={}{}", concat!("sk-", "ant-api03-"), "a".repeat(95)), "auth=[REDACTED:anthropic-key]"),
        (format!("key=AKIA{}", "B".repeat(16)), "key=[REDACTED:aws-access-key]"),
        (format!("token: {ghp}{}", "c".repeat(36)), "token: [REDACTED:github-token]"),
        (format!("jwt: {jwt}"), "jwt: [REDACTED:jwt]"),
        ("Authorization: Bearer abc.def-1".to_owned(), "Authorization: Bearer [REDACTED]"),
        ("Retrieved 42 rows from table customers".to_owned(), "Retrieved 42 rows from table customers"),
    ] {
        assert_eq!(scrub_with(&["--config", seed], &given), wanted);
    }
}

fn scrub(input: &str) -> String {
    scrub_with(&[], input)
}

fn scrub_with(options: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blackbar"))
        .args(["scrub", "--format", "text"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
