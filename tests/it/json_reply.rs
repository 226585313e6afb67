//! Replies: export responses and `google.rpc.Status` in both encodings, and what must not pass for one.

use std::time::Duration;

use blackbar::otlp::reply::{Status, read_response, write_response};
use blackbar::otlp::{Encoding, Signal};
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use serde_json::json;
use tonic_types::{StatusExt, pb};

fn partial_success() -> ExportTraceServiceResponse {
    let partial_success =
        ExportTracePartialSuccess { rejected_spans: 3, error_message: "too old: \"x\"\n".to_owned() };
    ExportTraceServiceResponse { partial_success: Some(partial_success) }
}

#[test]
fn success_is_an_empty_message_in_each_encoding() {
    for signal in Signal::ALL {
        for encoding in [Encoding::Protobuf, Encoding::Json] {
            let read = read_response(signal, encoding, Bytes::new()).unwrap();
            assert!(read.is_empty());
        }
        assert!(read_response(signal, Encoding::Json, Bytes::from("{}")).unwrap().is_empty());
        assert!(write_response(signal, Encoding::Protobuf, &Bytes::new()).unwrap().is_empty());
        assert_eq!(write_response(signal, Encoding::Json, &Bytes::new()).unwrap(), "{}");
    }
}

#[test]
fn partial_success_passes_between_the_encodings() {
    let protobuf = Bytes::from(partial_success().encode_to_vec());
    let read = read_response(Signal::Traces, Encoding::Protobuf, protobuf.clone()).unwrap();
    assert_eq!(read, protobuf);
    let json = write_response(Signal::Traces, Encoding::Json, &read).unwrap();
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&json).unwrap(),
        json!({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old: \"x\"\n"}})
    );
    assert_eq!(read_response(Signal::Traces, Encoding::Json, json).unwrap(), protobuf);
}

#[test]
fn each_signal_counts_what_it_rejects() {
    for (signal, name) in [
        (Signal::Traces, "rejectedSpans"),
        (Signal::Metrics, "rejectedDataPoints"),
        (Signal::Logs, "rejectedLogRecords"),
        (Signal::Profiles, "rejectedProfiles"),
    ] {
        let json = json!({"partialSuccess": {name: "7"}}).to_string();
        let message = read_response(signal, Encoding::Json, Bytes::from(json.clone())).unwrap();
        assert_eq!(message.as_ref(), [0x0a, 2, 0x08, 7]);
        assert_eq!(write_response(signal, Encoding::Json, &message).unwrap(), json);
    }
}

#[test]
fn a_new_field_inside_of_partial_success_passes_unchanged() {
    let message = Bytes::from_static(&[0x0a, 5, 0x08, 7, 0x1a, 1, b'x']);
    assert_eq!(read_response(Signal::Logs, Encoding::Protobuf, message.clone()).unwrap(), message);
}

#[test]
fn garbage_is_no_success() {
    let bodies: [&[u8]; 17] = [
        b"<!DOCTYPE html><html><body>Sign in</body></html>",
        b"\n<html></html>",
        b"<html>",
        b"ok",
        b"OK\n",
        b"success",
        b"accepted",
        b"{}",
        b"{\"partialSuccess\":{}}",
        b"null",
        b" ",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
        b"\x10\x01",             // an unknown field
        b"\x0a\x05\x08",         // cut
        b"\x08\x01",             // partial_success as a number
        b"\x0a\x02\x0a\x00",     // rejected_spans as text
        b"\x0a\x03\x12\x01\xff", // a message that isn't UTF-8
    ];
    for body in bodies {
        for signal in Signal::ALL {
            let read = read_response(signal, Encoding::Protobuf, Bytes::from_static(body));
            assert!(read.is_err(), "{:?}", String::from_utf8_lossy(body));
        }
    }
    for body in ["<html></html>", "ok", "null", "[]", "\"\"", "{", "{}{}", "{\"partialSuccess\":1}", " "] {
        assert!(read_response(Signal::Traces, Encoding::Json, Bytes::from(body)).is_err(), "{body}");
    }
}

proptest! {
    /// What passes for a response is one: the typed decoder reads it, and loses nothing outside of `partial_success`.
    #[test]
    fn random_bytes_are_no_success(bytes in vec(any::<u8>(), 1..40)) {
        if read_response(Signal::Traces, Encoding::Protobuf, Bytes::from(bytes.clone())).is_ok() {
            let typed = ExportTraceServiceResponse::decode(bytes.as_slice()).unwrap();
            prop_assert!(typed.partial_success.is_some());
        }
    }

    #[test]
    fn printable_text_is_no_success(text in "[ -~\r\t][ -~\r\n\t]{0,60}") {
        prop_assert!(read_response(Signal::Traces, Encoding::Protobuf, Bytes::from(text)).is_err());
    }

    #[test]
    fn a_status_survives_both_encodings(
        code in any::<i32>(),
        message in any::<String>(),
        delay in prop::option::of((0..=315_576_000_000_u64, 0..1_000_000_000_u32)),
    ) {
        let delay = delay.map(|(seconds, nanos)| Duration::new(seconds, nanos));
        let status = Status::new(code, message, delay);
        for encoding in [Encoding::Protobuf, Encoding::Json] {
            let read = Status::decode(encoding, &status.encode(encoding)).unwrap();
            prop_assert_eq!(&read, &status);
            prop_assert_eq!(read.retry_after(), delay);
        }
    }

    #[test]
    fn random_bytes_as_a_status_never_panic(bytes in vec(any::<u8>(), 0..60)) {
        let _ = Status::decode(Encoding::Protobuf, &bytes);
        let _ = Status::decode(Encoding::Json, &bytes);
    }
}

#[test]
fn a_status_in_json_has_code_and_message_always() {
    assert_eq!(Status::new(0, "", None).encode(Encoding::Json), br#"{"code":0,"message":""}"#);
    let status = Status::new(14, "full", Some(Duration::from_millis(1500)));
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&status.encode(Encoding::Json)).unwrap(),
        json!({"code": 14, "message": "full", "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.500s"}]})
    );
}

#[test]
fn grpc_reads_the_retry_info() {
    let status = Status::new(8, "slow down", Some(Duration::from_secs(30)));
    let details = Bytes::from(status.encode(Encoding::Protobuf));
    let grpc = tonic::Status::with_details(tonic::Code::ResourceExhausted, "slow down", details);
    assert_eq!(grpc.get_details_retry_info().unwrap().retry_delay, Some(Duration::from_secs(30)));
}

#[test]
fn a_backends_details_of_other_types_stay_in_protobuf_and_not_in_json() {
    let other = prost_types::Any { type_url: "type.googleapis.com/x.Y".to_owned(), value: vec![1, 2] };
    let sent = pb::Status { code: 3, message: "no".to_owned(), details: vec![other] }.encode_to_vec();
    let status = Status::decode(Encoding::Protobuf, &sent).unwrap();
    assert_eq!(status.encode(Encoding::Protobuf), sent);
    assert_eq!(status.encode(Encoding::Json), br#"{"code":3,"message":"no"}"#);
    assert_eq!(status.retry_after(), None);
}

#[test]
fn statuses_as_backends_write_them() {
    let read = |json: &str| Status::decode(Encoding::Json, json.as_bytes());
    assert_eq!(read(r#"{"message":"only words"}"#).unwrap().code(), 0);
    assert_eq!(read(r#"{"code":7,"message":null,"details":null,"extra":[1]}"#).unwrap().code(), 7);
    let with_delay = |delay: &str| {
        let detail = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
        read(&json!({"code": 8, "details": [{"@type": "x"}, detail]}).to_string()).unwrap().retry_after()
    };
    assert_eq!(with_delay("2s"), Some(Duration::from_secs(2)));
    assert_eq!(with_delay("0.25s"), Some(Duration::from_millis(250)));
    assert_eq!(with_delay("-1s"), Some(Duration::ZERO));
    for odd in ["", "s", "2", "two s", "1.1234567890s", "1.x5s", "99999999999999999999s"] {
        assert_eq!(with_delay(odd), None, "{odd}");
    }
    for garbage in ["", "<html>", "null", "[]", "{}", r#"{"error":"x"}"#, r#"{"code":"x"}"#] {
        assert!(read(garbage).is_err(), "{garbage}");
    }
}

#[test]
fn a_status_is_never_printed() {
    let status = Status::new(13, "hunter2", None);
    assert_eq!(format!("{status:?}"), "Status(13, 7 B)");
}
