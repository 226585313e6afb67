//! Each answer that a backend may give, over each protocol, and what it means.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use blackbar::otlp::Signal;
use prost::Message;

use super::*;
use crate::support::backend::{Answer, Backend};
use crate::support::backend_answer::{ExportResponse, PartialSuccess};

/// Sends one request, without retries, to a backend that answers so.
async fn outcome(dialect: Dialect, answer: Answer) -> Result<Reply, Failure> {
    let backend = Backend::start().await;
    backend.script([answer]);
    let result = send(&exporter(dialect, once(&backend.http_url()))).await;
    assert_eq!(backend.requests().len(), 1);
    result
}

fn html(status: u16) -> Answer {
    let headers = vec![("content-type", "text/html; charset=utf-8".to_owned())];
    Answer::Raw { status, headers, body: b"<html>Sign in</html>".to_vec() }
}

fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer::Raw { status, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
}

#[tokio::test]
async fn success_is_an_empty_reply() {
    for dialect in DIALECTS {
        assert_eq!(outcome(dialect, Answer::Success).await, Ok(Reply::default()), "{dialect:?}");
    }
}

#[tokio::test]
async fn what_arrives_is_what_was_redacted() {
    let backend = Backend::start().await;
    for dialect in DIALECTS {
        send(&exporter(dialect, once(&backend.http_url()))).await.unwrap();
    }
    let [grpc, protobuf, json] = &backend.requests()[..] else { panic!("three requests") };
    assert_eq!((&grpc.message, &protobuf.message), (&trace("a span"), &trace("a span")));
    assert_eq!(grpc.path, Signal::Traces.grpc_path());
    assert_eq!((protobuf.path.as_str(), json.path.as_str()), ("/v1/traces", "/v1/traces"));
    assert_eq!((grpc.version, protobuf.version), (http::Version::HTTP_2, http::Version::HTTP_11));
    assert_eq!(protobuf.header("content-type"), "application/x-protobuf");
    assert_eq!(json.header("content-type"), "application/json");
    let span = &json.json()["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!((&span["name"], &span["traceId"]), (&"a span".into(), &"07".repeat(16).into()));
}

#[tokio::test]
async fn partial_success_passes_unchanged() {
    let partial = PartialSuccess { rejected: 3, error_message: "three are too old".to_owned() };
    let expected = ExportResponse { partial_success: Some(partial) };
    for dialect in DIALECTS {
        let answer = Answer::PartialSuccess { rejected: 3, message: "three are too old" };
        let reply = outcome(dialect, answer).await.unwrap();
        if dialect == Dialect::Json {
            // Transcoded: the same message, in an order of its own.
            assert_eq!(ExportResponse::decode(reply.message).unwrap(), expected);
        } else {
            assert_eq!(reply.message, expected.encode_to_vec(), "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn any_2xx_is_success_and_so_is_an_empty_body() {
    for dialect in [Dialect::Protobuf, Dialect::Json] {
        for answer in [Answer::EmptySuccess, raw(202, "text/plain", ""), raw(204, "text/html", "")] {
            assert_eq!(outcome(dialect, answer).await, Ok(Reply::default()), "{dialect:?}");
        }
    }
    // The answer's own type counts, not the request's.
    assert_eq!(outcome(Dialect::Protobuf, raw(200, "application/json", "{}")).await, Ok(Reply::default()));
}

#[tokio::test]
async fn an_answer_that_is_not_otlp_is_garbage() {
    let large = vec![b' '; (4 << 20) + 1];
    let gzipped = Answer::Raw {
        status: 200,
        headers: vec![("content-type", "application/json".into()), ("content-encoding", "gzip".into())],
        body: b"{}".to_vec(),
    };
    for answer in [
        Answer::Garbage,
        raw(200, "text/plain", "ok"),
        raw(200, "application/json", "[]"),
        raw(200, "application/json", large),
        raw(200, "application/x-protobuf", "<html>"),
        gzipped,
    ] {
        for dialect in DIALECTS {
            assert_eq!(
                outcome(dialect, answer.clone()).await,
                Err(Failure::Garbage),
                "{dialect:?} {answer:?}"
            );
        }
    }
}

/// One gRPC message as it stands in a body.
fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

fn gzipped(message: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(message).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn grpc_framing_that_is_not_one_whole_message_is_garbage() {
    let short = [&b"\0\0\0\0"[..], b"\0\0\0\0\x01", b"\0\0\0\0\0\0", b"\x02\0\0\0\0"]
        .map(|body| (None, body.to_vec()));
    let whole = gzipped(&[]);
    let compressed = [
        (None, framed(1, &whole)),
        (Some("identity"), framed(1, &whole)),
        (Some("snappy"), framed(1, &whole)),
        (Some("gzip"), framed(1, b"not gzip")),
        (Some("gzip"), framed(1, &whole[..whole.len() - 1])),
        (Some("gzip"), framed(1, &gzipped(&vec![0; 5 << 20]))),
        (Some("zstd"), framed(1, &whole)),
    ];
    for (encoding, body) in short.into_iter().chain(compressed) {
        let answer = Answer::GrpcBody { encoding, body: body.clone() };
        assert_eq!(outcome(Dialect::Grpc, answer).await, Err(Failure::Garbage), "{encoding:?} {body:?}");
    }
}

#[tokio::test]
async fn a_compressed_grpc_answer_is_read_though_none_was_asked_for() {
    let partial = PartialSuccess { rejected: 3, error_message: "three are too old".to_owned() };
    let message = ExportResponse { partial_success: Some(partial) }.encode_to_vec();
    let zstd = zstd::bulk::compress(&message, 0).unwrap();
    let answers = [
        (None, framed(0, &message)),
        (Some("gzip"), framed(0, &message)),
        (Some("gzip"), framed(1, &gzipped(&message))),
        (Some("zstd"), framed(1, &zstd)),
    ];
    for (encoding, body) in answers {
        let reply = outcome(Dialect::Grpc, Answer::GrpcBody { encoding, body }).await.unwrap();
        assert_eq!(reply.message, message, "{encoding:?}");
    }
}

#[tokio::test]
async fn an_http_refusal_is_passed_with_its_words() {
    for dialect in [Dialect::Protobuf, Dialect::Json] {
        for status in [307, 400, 401, 403, 404, 413, 429, 500, 502, 503, 504] {
            let answer =
                Answer::Http { status, retry_after: Some("17".to_owned()), message: "the backend's words" };
            let expected = Failure::Http {
                status,
                retry_after: Some(Duration::from_secs(17)),
                message: "the backend's words".to_owned(),
            };
            assert_same(outcome(dialect, answer).await, expected);
        }
    }
}

#[tokio::test]
async fn a_gateway_before_a_grpc_backend_is_understood() {
    let answer = Answer::Http { status: 503, retry_after: Some("2".to_owned()), message: "" };
    let expected =
        Failure::Http { status: 503, retry_after: Some(Duration::from_secs(2)), message: String::new() };
    assert_same(outcome(Dialect::Grpc, answer).await, expected);
}

#[tokio::test]
async fn short_plain_text_is_a_message_and_html_is_not() {
    let refusal =
        |message: &str| Failure::Http { status: 400, retry_after: None, message: message.to_owned() };
    let cases = [
        (raw(400, "text/plain; charset=utf-8", "no such tenant\n"), refusal("no such tenant")),
        (raw(400, "text/plain", [0xff, 0xfe]), refusal("")),
        (raw(400, "application/json", "{\"error\":"), refusal("")),
        (raw(400, "text/plain", "ü".repeat(5000)), refusal(&"ü".repeat(1024))),
        (html(400), refusal("")),
    ];
    for (answer, expected) in cases {
        assert_same(outcome(Dialect::Protobuf, answer).await, expected);
    }
}

#[tokio::test]
async fn retry_after_may_be_a_date() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
    let answer = Answer::Http { status: 503, retry_after: Some(date), message: "" };
    let Err(failure) = outcome(Dialect::Protobuf, answer).await else { panic!("refused") };
    let wait = failure.retry_after().unwrap();
    assert!((80..=90).contains(&wait.as_secs()), "{wait:?}");
    let past =
        Answer::Http { status: 503, retry_after: Some("Thu, 01 Jan 1970 00:00:00 GMT".into()), message: "" };
    let Err(failure) = outcome(Dialect::Protobuf, past).await else { panic!("refused") };
    assert_eq!(failure.retry_after(), Some(Duration::ZERO));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Backend::start().await;
    let location = format!("{}/v1/traces", elsewhere.http_url());
    for status in [301, 302, 307, 308] {
        let answer = Answer::Raw { status, headers: vec![("location", location.clone())], body: Vec::new() };
        let expected = Failure::Http { status, retry_after: None, message: String::new() };
        assert_same(outcome(Dialect::Protobuf, answer).await, expected);
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_grpc_refusal_is_passed_whole() {
    for code in 1..=16 {
        for retry_after in [None, Some(Duration::from_millis(1500))] {
            let answer = Answer::Grpc { code, message: "wörds, 100% of them", retry_after };
            let Err(Failure::Grpc { code: got, retry_after: wait, message, details }) =
                outcome(Dialect::Grpc, answer).await
            else {
                panic!("code {code} is a refusal")
            };
            assert_eq!((got, wait, message.as_str()), (code, retry_after, "wörds, 100% of them"));
            assert_eq!(details.is_empty(), retry_after.is_none());
        }
    }
}

#[tokio::test]
async fn a_malformed_grpc_status_is_still_a_refusal() {
    let refusal = |code, message: &str| Failure::Grpc {
        code,
        retry_after: None,
        message: message.to_owned(),
        details: Bytes::new(),
    };
    let status = |headers: &[(&'static str, &str)]| {
        let mut all = vec![("content-type", "application/grpc".to_owned())];
        all.extend(headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Answer::Raw { status: 200, headers: all, body: Vec::new() }
    };
    let cases = [
        (status(&[("grpc-status", "14"), ("grpc-status-details-bin", "!not base64!")]), refusal(14, "")),
        (status(&[("grpc-status", "13"), ("grpc-message", "%ff%fe")]), refusal(13, "\u{fffd}\u{fffd}")),
        (status(&[("grpc-status", "99")]), refusal(2, "")),
        (status(&[("grpc-status", "")]), refusal(2, "")),
    ];
    for (answer, expected) in cases {
        assert_same(outcome(Dialect::Grpc, answer).await, expected);
    }
    assert_eq!(outcome(Dialect::Grpc, status(&[])).await, Err(Failure::Garbage));
}

#[tokio::test]
async fn a_connection_that_breaks_is_unreachable() {
    for dialect in DIALECTS {
        for answer in [Answer::Reset, Answer::CloseMidBody] {
            assert_eq!(
                outcome(dialect, answer.clone()).await,
                Err(Failure::Unreachable),
                "{dialect:?} {answer:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let gone = Backend::start().await;
    let url = gone.http_url();
    drop(gone);
    for dialect in DIALECTS {
        assert_eq!(send(&exporter(dialect, once(&url))).await, Err(Failure::Unreachable), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_unreachable() {
    let exporter = exporter(Dialect::Grpc, once("http://backend.invalid:4317"));
    assert_eq!(send(&exporter).await, Err(Failure::Unreachable));
}

/// `Backend`'s `Debug` hides the message, so a failed comparison says the fields here.
fn assert_same(result: Result<Reply, Failure>, expected: Failure) {
    let words = |failure: &Failure| match failure {
        Failure::Http { status, retry_after, message } => {
            format!("HTTP {status} {retry_after:?} {message:?}")
        }
        Failure::Grpc { code, retry_after, message, details } => {
            format!("gRPC {code} {retry_after:?} {message:?} {details:?}")
        }
        other => other.to_string(),
    };
    match result {
        Ok(_) => panic!("accepted, expected {}", words(&expected)),
        Err(failure) => assert_eq!(words(&failure), words(&expected)),
    }
}
