//! Connections, URLs and compression.

use futures_util::future::join_all;

use super::*;
use crate::support::backend::{Answer, Backend};
use crate::support::backend_pki::Pki;
use crate::support::backend_proxy::RecordingProxy;

#[tokio::test]
async fn connections_are_reused() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        let exporter = exporter(dialect, once(&backend.http_url()));
        for _ in 0..10 {
            send(&exporter).await.unwrap();
        }
        assert_eq!(backend.connections(), 1, "{dialect:?}");
    }
}

#[tokio::test]
async fn many_requests_are_in_flight_at_once() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        let exporter = exporter(dialect, once(&backend.http_url()));
        backend.script(vec![Answer::Slow; 20]);
        let all = async {
            // All of them are there before one is answered.
            backend.received(20).await;
            backend.release();
        };
        let (results, ()) = tokio::join!(join_all((0..20).map(|_| send(&exporter))), all);
        assert!(results.iter().all(Result::is_ok), "{dialect:?}");
        if dialect == Dialect::Grpc {
            assert_eq!(backend.connections(), 1, "streams share a connection");
        }
    }
}

#[tokio::test]
async fn an_idle_connection_that_the_backend_closed_does_no_harm() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        let exporter = exporter(dialect, remote(&backend.http_url()));
        for _ in 0..5 {
            send(&exporter).await.unwrap();
            backend.close_connections();
        }
        assert!(backend.connections() >= 2, "{dialect:?}");
    }
}

#[tokio::test]
async fn compression_is_applied() {
    for dialect in DIALECTS {
        for (compression, name) in [(Compression::Gzip, "gzip"), (Compression::Zstd, "zstd")] {
            for size in [10, 1 << 20] {
                let backend = Backend::start().await;
                let mut remote = once(&backend.http_url());
                remote.compression = compression;
                let body = trace(&"a".repeat(size));
                send_body(&exporter(dialect, remote), Signal::Traces, body.clone()).await.unwrap();
                let received = backend.requests().remove(0);
                assert_eq!(received.encoding.as_deref(), Some(name));
                assert!(received.raw.len() < size.max(200), "{dialect:?} {name} {size}");
                if dialect == Dialect::Json {
                    assert_eq!(received.json()["resourceSpans"].as_array().unwrap().len(), 1);
                } else {
                    assert_eq!(received.message, body);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_large_body_arrives_whole() {
    let body = trace(&"0123456789abcdef".repeat(2 << 20));
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        send_body(&exporter(dialect, once(&backend.http_url())), Signal::Traces, body.clone()).await.unwrap();
        assert!(backend.requests()[0].protobuf() == body, "{dialect:?}");
    }
}

#[tokio::test]
async fn every_signal_has_its_path_below_the_base() {
    let backend = Backend::start().await;
    let url = format!("{}/api/public/otel/?tenant=7", backend.http_url());
    let exporter = exporter(Dialect::Protobuf, once(&url));
    for signal in Signal::ALL {
        send_body(&exporter, signal, Bytes::new()).await.unwrap();
    }
    let paths: Vec<String> = backend.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(
        paths,
        [
            "/api/public/otel/v1/traces?tenant=7",
            "/api/public/otel/v1/metrics?tenant=7",
            "/api/public/otel/v1/logs?tenant=7",
            "/api/public/otel/v1development/profiles?tenant=7",
        ]
    );
}

#[tokio::test]
async fn a_signals_own_url_is_used_as_it_is() {
    let (base, own) = (Backend::start().await, Backend::start().await);
    for dialect in DIALECTS {
        let mut remote = once(&base.http_url());
        let url = format!("{}/somewhere/else?a=b", own.http_url());
        remote.signal_endpoints = vec![(Signal::Logs, url.parse().unwrap())];
        let exporter = exporter(dialect, remote);
        send_body(&exporter, Signal::Logs, Bytes::new()).await.unwrap();
        send_body(&exporter, Signal::Metrics, Bytes::new()).await.unwrap();
    }
    let paths = |backend: &Backend| {
        backend.requests().into_iter().map(|request| request.path).collect::<Vec<String>>()
    };
    let expected = [Signal::Logs.grpc_path(), "/somewhere/else?a=b", "/somewhere/else?a=b"];
    assert_eq!(paths(&own), expected);
    assert_eq!(paths(&base), [Signal::Metrics.grpc_path(), "/v1/metrics", "/v1/metrics"]);
}

#[test]
fn an_endpoint_that_cannot_be_used_stops_the_start() {
    for (url, reason) in [
        ("ftp://backend:4317", "is not an http:// or https:// URL"),
        ("backend:4317", "is not an http:// or https:// URL"),
        ("http://user:hunter2@backend:4317", "put credentials into headers"),
    ] {
        for dialect in DIALECTS {
            let settings = settings(dialect, once(url));
            let error = build_error(&settings);
            assert!(error.starts_with("exporter out: ") && error.contains(reason), "{error}");
            assert!(!error.contains("hunter2"));
        }
    }
}

/// The client is told only that the backend can't be reached; the operator needs the reason.
#[tokio::test]
async fn the_log_says_once_why_a_backend_cannot_be_reached() {
    let (pki, other) = (Pki::new(), Pki::new());
    let (plain, secure) = (Backend::start().await, Backend::start_tls(pki.server("backend.test")).await);
    plain.script(vec![Answer::Reset; 2]);
    let proxy = RecordingProxy::start_refusing().await;
    let gone = Backend::start().await;
    let closed = once(&gone.http_url());
    drop(gone);
    let mut trusting = once(&secure.http_url());
    trusting.tls.ca_file = Some(pki.ca_file());
    let mut distrusting = once(&secure.http_url());
    distrusting.tls.ca_file = Some(other.ca_file());
    let mut proxied = once("http://backend.test");
    proxied.proxy.http = Some(proxy.url("user:wrong").into());
    for (remote, reason) in [
        (closed, "connection refused"),
        (once("http://backend.invalid"), "host name not found"),
        (once(&plain.http_url()), "connection reset"),
        (distrusting, "TLS: the backend's certificate is of an unknown issuer"),
        (trusting, "TLS: the backend's certificate is for another name"),
        (proxied, "proxy: tunnel error: proxy authorization required"),
    ] {
        let (log, _recording) = Log::record();
        let exporter = exporter(Dialect::Grpc, remote);
        for _ in 0..2 {
            assert_eq!(send(&exporter).await, Err(Failure::Unreachable), "{reason}");
        }
        let log = log.text();
        assert!(log.contains(&format!("reason=\"{reason}\"")), "{log}");
        assert_eq!(log.matches("WARN").count(), 1, "{log}");
    }
}

#[tokio::test]
async fn the_log_says_when_a_backend_is_back() {
    let backend = Backend::start().await;
    backend.script([Answer::Reset]);
    let (log, _recording) = Log::record();
    send(&exporter(Dialect::Grpc, remote(&backend.http_url()))).await.unwrap();
    let log = log.text();
    assert_eq!(
        (log.matches("WARN").count(), log.matches("the backend answers again").count()),
        (1, 1),
        "{log}"
    );
}
