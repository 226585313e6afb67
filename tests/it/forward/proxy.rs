//! `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
//!
//! The backend's names here exist nowhere: only the proxy can reach them.

use super::*;
use crate::support::backend::Backend;
use crate::support::backend_pki::Pki;
use crate::support::backend_proxy::RecordingProxy;

/// `user:pa ss` in Basic authentication.
const BASIC: &str = "Basic dXNlcjpwYSBzcw==";

fn through(proxy: &RecordingProxy, url: &str) -> Remote {
    let mut remote = once(url);
    let url = proxy.url("user:pa%20ss");
    remote.proxy.http = Some(url.clone().into());
    remote.proxy.https = Some(url.into());
    remote
}

#[tokio::test]
async fn tls_goes_through_a_tunnel() {
    let pki = Pki::new();
    for dialect in DIALECTS {
        let backend = Backend::start_tls(pki.server("backend.test")).await;
        let proxy = RecordingProxy::start(backend.address()).await;
        let mut remote = through(&proxy, "https://backend.test");
        remote.tls.ca_file = Some(pki.ca_file());
        send(&exporter(dialect, remote)).await.unwrap();
        let head = proxy.heads().remove(0);
        assert!(head.starts_with("CONNECT backend.test:443 HTTP/1.1\r\n"), "{head}");
        assert!(
            head.to_ascii_lowercase().contains(&format!("proxy-authorization: {}", BASIC.to_lowercase()))
        );
        // What the proxy was told is not for the backend.
        assert!(!backend.requests()[0].headers.contains_key("proxy-authorization"));
    }
}

#[tokio::test]
async fn plain_grpc_goes_through_a_tunnel() {
    let backend = Backend::start().await;
    let proxy = RecordingProxy::start(backend.address()).await;
    send(&exporter(Dialect::Grpc, through(&proxy, "http://backend.test"))).await.unwrap();
    let head = proxy.heads().remove(0);
    assert!(head.starts_with("CONNECT backend.test:80 HTTP/1.1\r\n") && head.contains(BASIC), "{head}");
    assert!(!backend.requests()[0].headers.contains_key("proxy-authorization"));
}

#[tokio::test]
async fn plain_http_is_handed_over_in_absolute_form() {
    for dialect in [Dialect::Protobuf, Dialect::Json] {
        let backend = Backend::start().await;
        let proxy = RecordingProxy::start(backend.address()).await;
        let exporter = exporter(dialect, through(&proxy, "http://backend.test:4318/base"));
        send(&exporter).await.unwrap();
        send(&exporter).await.unwrap();
        let heads = proxy.heads();
        assert_eq!(heads.len(), 1, "the connection to the proxy is reused");
        let start = "POST http://backend.test:4318/base/v1/traces HTTP/1.1\r\n";
        assert!(heads[0].starts_with(start) && heads[0].contains(BASIC), "{}", heads[0]);
    }
}

#[tokio::test]
async fn no_proxy_and_loopback_are_reached_directly() {
    let backend = Backend::start().await;
    let proxy = RecordingProxy::start(backend.address()).await;
    for dialect in DIALECTS {
        send(&exporter(dialect, through(&proxy, &backend.http_url()))).await.unwrap();
        let local = backend.http_url().replace("127.0.0.1", "localhost");
        send(&exporter(dialect, through(&proxy, &local))).await.unwrap();
        // This name leads nowhere but through the proxy.
        let mut remote = through(&proxy, "http://otel.backend.test:4318");
        remote.proxy.no_proxy = "10.0.0.0/8, backend.test".to_owned();
        assert_eq!(send(&exporter(dialect, remote)).await, Err(Failure::Unreachable), "{dialect:?}");
    }
    assert!(proxy.heads().is_empty());
}

#[tokio::test]
async fn each_scheme_has_its_own_proxy() {
    let backend = Backend::start().await;
    let proxy = RecordingProxy::start(backend.address()).await;
    let mut remote = through(&proxy, "http://backend.test:4318");
    remote.proxy.http = None;
    assert_eq!(send(&exporter(Dialect::Protobuf, remote)).await, Err(Failure::Unreachable));
    assert!(proxy.heads().is_empty());
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_unreachable_and_never_gone_around() {
    let backend = Backend::start().await;
    let gone = RecordingProxy::start(backend.address()).await;
    let remote = through(&gone, "http://backend.test:4318");
    drop(gone);
    for dialect in DIALECTS {
        assert_eq!(send(&exporter(dialect, remote.clone())).await, Err(Failure::Unreachable), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_is_no_backend() {
    let proxy = RecordingProxy::start_refusing().await;
    let remote = through(&proxy, "http://backend.test:4318");
    assert_eq!(send(&exporter(Dialect::Grpc, remote.clone())).await, Err(Failure::Unreachable));
    let refusal = send(&exporter(Dialect::Protobuf, remote)).await;
    assert!(matches!(refusal, Err(Failure::Http { status: 407, .. })), "{refusal:?}");
}

#[test]
fn a_proxy_that_cannot_be_used_stops_the_start() {
    for url in ["socks5://user:hunter2@proxy:1080", "http://user:hunter2@", "not a url hunter2"] {
        let mut remote = once("http://backend:4317");
        remote.proxy.http = Some(url.into());
        let settings = settings(Dialect::Grpc, remote);
        let error = build_error(&settings);
        assert!(error.contains("prox") && !error.contains("hunter2"), "{error}");
    }
}
