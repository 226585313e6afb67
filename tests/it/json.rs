//! JSON requests as clients send them, as data: `tests/golden/json/*.json`. And what no example can hold: deep nesting,
//! and what the transcoder takes for granted about the schema.

use std::fs;
use std::path::Path;

use blackbar::otlp::Signal;
use blackbar::otlp::json::{JsonError, from_protobuf, to_protobuf, to_protobuf_within};
use blackbar::otlp::schema::{self, Kind, Message};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One case: a JSON text for a message, and what becomes of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The protobuf message, by its name without package.
    message: String,
    /// The JSON, or with `text` the exact text.
    json: Option<Box<RawValue>>,
    text: Option<String>,
    /// Expected: the same message as we write it in JSON,
    becomes: Option<Value>,
    /// and in protobuf (hex).
    wire: Option<String>,
    /// Or the error: what, without its place.
    error: Option<String>,
}

#[test]
fn golden_cases() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/json");
    let mut count = 0;
    for file in fs::read_dir(directory).unwrap() {
        let cases: Vec<Case> = serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        for case in cases {
            run(&case);
            count += 1;
        }
    }
    assert!(count > 80, "only {count} cases were found");
}

fn run(case: &Case) {
    let name = &case.name;
    let message = message(&case.message);
    let text = case.text.clone().unwrap_or_else(|| case.json.as_ref().expect(name).to_string());
    let result = to_protobuf(message, text.as_bytes());
    if let Some(expected) = &case.error {
        assert_eq!(result.map_err(|error| error.what), Err(expected.as_str()), "{name}");
        return;
    }
    let body = result.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(case.becomes.is_some() || case.wire.is_some(), "{name}: expects nothing");
    if let Some(wire) = &case.wire {
        let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(&hex, &wire.replace(' ', ""), "{name}");
    }
    if let Some(becomes) = &case.becomes {
        let json: Value = serde_json::from_slice(&from_protobuf(message, &body).unwrap()).unwrap();
        assert_eq!(&json, becomes, "{name}");
    }
}

/// The message of this name (without its package), looked up from the four requests.
fn message(name: &str) -> &'static Message {
    fn find(message: &'static Message, name: &str, seen: &mut Vec<&'static str>) -> Option<&'static Message> {
        if message.name.rsplit('.').next() == Some(name) {
            return Some(message);
        }
        if seen.contains(&message.name) {
            return None;
        }
        seen.push(message.name);
        message.fields.iter().find_map(|field| match field.kind {
            Kind::Message(nested) => find(nested, name, seen),
            _ => None,
        })
    }
    let found = Signal::ALL.iter().find_map(|signal| find(signal.request(), name, &mut Vec::new()));
    found.unwrap_or_else(|| panic!("no message {name}"))
}

#[test]
fn raw_bytes_that_are_no_json() {
    let refused = |json: &[u8]| to_protobuf(Signal::Logs.request(), json).unwrap_err().what;
    assert_eq!(refused(b"\xef\xbb\xbf{}"), "invalid JSON");
    assert_eq!(refused(b"{\"x\":\"\xff\"}"), "invalid UTF-8");
    assert_eq!(refused(b"{\"resourceLogs\":[{\"schemaUrl\":\"\xc3\x28\"}]}"), "invalid UTF-8");
    assert_eq!(refused(b"{}\0"), "invalid JSON");
}

#[test]
fn what_grows_in_protobuf_is_stopped_at_the_limit_and_not_after_it() {
    let metrics = Signal::Metrics.request();
    let json = |end: &str| {
        let counts = "1,".repeat(100_000);
        format!(
            r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{"histogram":{{"dataPoints":[{{"bucketCounts":[{counts}1]}}]}}}}]}}]}}{end}"#
        )
    };
    let whole = json("]}");
    let body = to_protobuf(metrics, whole.as_bytes()).unwrap();
    assert!(body.len() > 3 * whole.len());
    assert_eq!(to_protobuf_within(metrics, whole.as_bytes(), body.len()).as_ref(), Ok(&body));
    for limit in [0, 1000, body.len() - 1] {
        assert!(to_protobuf_within(metrics, whole.as_bytes(), limit).unwrap_err().is_too_long(), "{limit}");
    }
    // What stands behind is not looked at any more.
    assert!(to_protobuf_within(metrics, json("no JSON").as_bytes(), 1000).unwrap_err().is_too_long());
}

#[test]
fn an_error_says_where_but_quotes_nothing() {
    let json = b"{\n \"resourceLogs\": [\n  {\"schemaUrl\": 4111111111111111}\n ]\n}";
    let error = to_protobuf(Signal::Logs.request(), json).unwrap_err();
    let after_the_number = json.iter().rposition(|byte| *byte == b'1').unwrap() + 1;
    assert_eq!(error, JsonError { what: "expected a string", offset: Some(after_the_number) });
    assert_eq!(error.to_string(), format!("expected a string at byte {after_the_number}"));
}

/// A log request whose body is `levels` key-value lists one in the other: two messages for each.
fn nested_json(levels: usize) -> String {
    let open = r#"{"kvlistValue":{"values":[{"key":"k","value":"#;
    let close = "}]}}";
    let value = [&open.repeat(levels), r#"{"stringValue":"x"}"#, &close.repeat(levels)].concat();
    format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"body":{value}}}]}}]}}]}}"#)
}

#[test]
fn nesting_up_to_the_limit_passes_and_beyond_it_is_refused() {
    // Under the request: resource logs, scope logs, log record, body: 4, and 3 for each level.
    let deepest = nested_json(32);
    let body = to_protobuf(Signal::Logs.request(), deepest.as_bytes()).unwrap();
    assert_eq!(from_protobuf(Signal::Logs.request(), &body).unwrap(), deepest.as_bytes());
    for levels in [33, 10_000] {
        let error = to_protobuf(Signal::Logs.request(), nested_json(levels).as_bytes()).unwrap_err();
        assert_eq!(error.what, "nested too deep", "{levels}");
    }
}

#[test]
fn unknown_fields_may_nest_but_not_without_end() {
    let json = |levels: usize| format!(r#"{{"future":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let objects =
        |levels: usize| format!(r#"{{"future":{}1{}}}"#, "{\"a\":".repeat(levels), "}".repeat(levels));
    assert_eq!(to_protobuf(Signal::Logs.request(), json(200).as_bytes()), Ok(Vec::new()));
    assert_eq!(to_protobuf(Signal::Logs.request(), objects(200).as_bytes()), Ok(Vec::new()));
    for levels in [201, 10_000, 1_000_000] {
        for json in [json(levels), objects(levels)] {
            let error = to_protobuf(Signal::Logs.request(), json.as_bytes()).unwrap_err();
            assert_eq!(error.what, "nested too deep", "{levels}");
        }
    }
    // Never closed: no overflow either.
    let open = format!(r#"{{"future":{}"#, "[".repeat(1_000_000));
    assert_eq!(
        to_protobuf(Signal::Logs.request(), open.as_bytes()).unwrap_err().what,
        "unexpected end of JSON"
    );
}

#[test]
fn deep_protobuf_is_refused() {
    let mut body = Vec::new();
    for _ in 0..10_000 {
        // AnyValue.array_value.values, inside out
        for number in [1_u8, 5] {
            let mut outer = vec![(number << 3) | 2];
            prost::encoding::encode_varint(body.len() as u64, &mut outer);
            outer.append(&mut body);
            body = outer;
        }
    }
    let error = from_protobuf(&schema::common::ANY_VALUE, &body).unwrap_err();
    assert_eq!(error.what, "nested too deeply");
}

/// Long messages in long messages, so that lengths of every size have to be put in afterwards.
#[test]
fn lengths_of_any_size() {
    for size in [0, 1, 100, 126, 127, 128, 129, 16_380, 16_384, 16_390, 300_000, 2_100_000] {
        let value = serde_json::json!({"arrayValue": {"values": [
            {"stringValue": "s".repeat(size)}, {"stringValue": "t"}, {"stringValue": "u".repeat(size / 2)}]}});
        let body = to_protobuf(&schema::common::ANY_VALUE, value.to_string().as_bytes()).unwrap();
        let typed: opentelemetry_proto::tonic::common::v1::AnyValue =
            prost::Message::decode(body.as_slice()).unwrap();
        assert_eq!(prost::Message::encode_to_vec(&typed), body, "{size}");
        let back: Value =
            serde_json::from_slice(&from_protobuf(&schema::common::ANY_VALUE, &body).unwrap()).unwrap();
        assert_eq!(back, value, "{size}");
    }
}

#[test]
fn a_message_in_absurdly_many_pieces_is_refused() {
    // LogRecord.body, empty, again and again
    let body = |pieces| [0x2a_u8, 0].repeat(pieces);
    let record = message("LogRecord");
    assert_eq!(from_protobuf(record, &body(1000)).unwrap(), br#"{"body":{}}"#);
    assert_eq!(from_protobuf(record, &body(1001)).unwrap_err().what, "a message in too many pieces");
}

/// The table doesn't say which fields are `optional`: the transcoder takes every double for one, and no other scalar.
#[test]
fn every_optional_field_is_a_double() {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let files = [
        "opentelemetry/proto/collector/trace/v1/trace_service.proto",
        "opentelemetry/proto/collector/metrics/v1/metrics_service.proto",
        "opentelemetry/proto/collector/logs/v1/logs_service.proto",
        "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto",
    ];
    let descriptors = protox::compile(files, [proto]).unwrap();
    let pool = prost_reflect::DescriptorPool::from_file_descriptor_set(descriptors).unwrap();
    let optional: Vec<_> = pool
        .all_messages()
        .flat_map(|message| message.fields().collect::<Vec<_>>())
        .filter(|field| field.containing_oneof().is_some_and(|oneof| oneof.is_synthetic()))
        .collect();
    assert!(!optional.is_empty());
    for field in optional {
        assert_eq!(field.kind(), prost_reflect::Kind::Double, "{}", field.full_name());
    }
}
