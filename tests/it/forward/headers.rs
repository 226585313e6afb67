//! Which headers reach the backend.

use blackbar::forward::hops;
use http::{HeaderName, HeaderValue};

use super::*;
use crate::support::backend::{Answer, Backend, Received};

/// Sends a request with these client headers.
async fn received(dialect: Dialect, client: &[(&str, &str)], change: impl Fn(&mut Remote)) -> Received {
    let backend = Backend::start().await;
    let mut remote = once(&backend.http_url());
    change(&mut remote);
    let mut headers = HeaderMap::new();
    for (name, value) in client {
        headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    send_with(&exporter(dialect, remote), &headers, Duration::from_secs(30)).await.unwrap();
    backend.requests().remove(0)
}

#[tokio::test]
async fn custom_headers_pass_and_no_others() {
    let client = [
        ("x-api-key", "key of the client"),
        ("authorization", "Bearer of bad news"),
        ("x-trace-bin", "AAEC"),
        ("x-many", "one"),
        ("x-many", "two"),
        // Never.
        ("connection", "keep-alive, X-Once"),
        ("x-once", "for this connection"),
        ("keep-alive", "timeout=5"),
        ("te", "deflate"),
        ("trailer", "x-checksum"),
        ("upgrade", "h2c"),
        ("proxy-authorization", "Basic AA=="),
        ("proxy-connection", "close"),
        ("host", "front.example"),
        ("content-md5", "AA=="),
        ("content-language", "en"),
        ("accept", "*/*"),
        ("accept-language", "en"),
        ("user-agent", "OTel-Python/1"),
        ("cookie", "session=1"),
        ("baggage", "user=1"),
        ("expect", "100-continue"),
        ("date", "today"),
        ("via", "1.1 front"),
        ("grpc-trace-bin", "AAEC"),
        ("traceparent", "00-1-2-00"),
        ("tracestate", "a=b"),
        ("x-forwarded-for", "10.0.0.1"),
        ("referer", "https://app.example/?token=1"),
    ];
    for dialect in DIALECTS {
        let received = received(dialect, &client, |_| {}).await;
        assert_eq!(received.header("x-api-key"), "key of the client");
        assert_eq!(received.header("authorization"), "Bearer of bad news");
        assert_eq!(received.header("x-trace-bin"), "AAEC");
        let many: Vec<&HeaderValue> = received.headers.get_all("x-many").iter().collect();
        assert_eq!(many, ["one", "two"]);
        for (name, value) in &client[5..] {
            assert!(received.headers.get_all(*name).iter().all(|got| got != value), "{dialect:?} {name}");
        }
        assert_eq!(received.header("user-agent"), concat!("blackbar/", env!("CARGO_PKG_VERSION")));
        let protocol: &[&str] = match dialect {
            Dialect::Grpc => {
                &["content-type", "te", "grpc-accept-encoding", "grpc-timeout", "content-length"]
            }
            _ => &["content-type", "accept-encoding", "content-length", "host"],
        };
        let own = ["x-api-key", "authorization", "x-trace-bin", "x-many", "user-agent", "blackbar-hops"];
        for name in received.headers.keys() {
            assert!(own.contains(&name.as_str()) || protocol.contains(&name.as_str()), "{dialect:?} {name}");
        }
    }
}

#[tokio::test]
async fn with_names_only_the_named_pass() {
    let client = [("x-api-key", "1"), ("x-tenant", "2"), ("traceparent", "3"), ("cookie", "4"), ("te", "5")];
    let named = ["x-tenant", "traceparent", "cookie", "te"].map(HeaderName::from_static);
    for dialect in DIALECTS {
        let received = received(dialect, &client, |remote| {
            remote.forward_headers = ForwardHeaders::Named(named.to_vec());
        })
        .await;
        assert_eq!((received.header("x-tenant"), received.header("traceparent")), ("2", "3"));
        assert!(!received.headers.contains_key("x-api-key") && !received.headers.contains_key("cookie"));
        assert_ne!(received.header("te"), "5");
    }
}

#[tokio::test]
async fn the_exporters_own_headers_win() {
    let client = [("x-api-key", "the client's"), ("user-agent", "the client's")];
    for dialect in DIALECTS {
        let received = received(dialect, &client, |remote| {
            remote.headers = vec![
                (HeaderName::from_static("x-api-key"), "the exporter's".into()),
                (HeaderName::from_static("user-agent"), "ours/2".into()),
                (HeaderName::from_static("content-type"), "text/plain".into()),
            ];
        })
        .await;
        let values: Vec<&HeaderValue> = received.headers.get_all("x-api-key").iter().collect();
        assert_eq!(values, ["the exporter's"]);
        assert_eq!(received.header("user-agent"), "ours/2");
        assert_ne!(received.header("content-type"), "text/plain");
    }
}

#[tokio::test]
async fn each_proxy_counts_as_one_hop() {
    for (came, left) in [(None, "1"), (Some("1"), "2"), (Some("7"), "8"), (Some("nonsense"), "1")] {
        for dialect in DIALECTS {
            let client: Vec<_> = came.iter().map(|value| ("blackbar-hops", *value)).collect();
            let received = received(dialect, &client, |_| {}).await;
            let values: Vec<&HeaderValue> = received.headers.get_all(hops::HEADER).iter().collect();
            assert_eq!(values, [left]);
        }
    }
    let mut headers = HeaderMap::new();
    assert_eq!(hops::count(&headers), 0);
    headers.append(hops::HEADER, HeaderValue::from_static("2"));
    headers.append(hops::HEADER, HeaderValue::from_static("5"));
    assert_eq!(hops::count(&headers), 5);
}

#[test]
fn a_header_that_cannot_be_sent_stops_the_start() {
    let mut remote = once("http://backend:4317");
    remote.headers = vec![(HeaderName::from_static("x-api-key"), "hunter2\n".into())];
    let settings = settings(Dialect::Grpc, remote);
    let error = build_error(&settings);
    assert!(error.contains("x-api-key") && !error.contains("hunter2"), "{error}");
}

#[test]
fn nothing_secret_is_printed() {
    let mut remote = once("http://backend:4317");
    remote.headers = vec![(HeaderName::from_static("x-api-key"), "hunter2".into())];
    remote.proxy.http = Some("http://user:hunter2@proxy:3128".into());
    let settings = settings(Dialect::Grpc, remote);
    let exporter = Exporter::new("out", &settings, Arc::new(Metrics::default())).unwrap();
    assert!(!format!("{settings:?} {exporter:?}").contains("hunter2"));
}

#[tokio::test(flavor = "current_thread")]
async fn neither_headers_nor_bodies_nor_a_backends_words_are_logged() {
    let (log, _recording) = Log::record();
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("a header's value"));
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        let grpc = Answer::Grpc { code: 14, message: "the backend's words", retry_after: None };
        let http = Answer::Http { status: 503, retry_after: None, message: "the backend's words" };
        let refusal = if dialect == Dialect::Grpc { grpc } else { http };
        backend.script([Answer::Reset, Answer::CloseMidBody, refusal, Answer::Garbage]);
        let exporter = exporter(dialect, remote(&backend.http_url()));
        let result = send_with(&exporter, &headers, Duration::from_secs(30)).await;
        assert_eq!(result, Err(Failure::Garbage));
    }
    let log = log.text();
    assert!(log.contains("the backend can't be reached") && log.contains("reason="), "{log}");
    for secret in ["a header's value", "a span", "the backend's words", "Sign in"] {
        assert!(!log.contains(secret), "{log}");
    }
}
