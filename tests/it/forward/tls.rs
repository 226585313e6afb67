//! TLS towards a backend.

use std::path::Path;

use super::*;
use crate::support::backend::Backend;
use crate::support::backend_pki::Pki;

fn trusting(backend: &Backend, pki: &Pki) -> Remote {
    let mut remote = once(&backend.http_url());
    remote.tls.ca_file = Some(pki.ca_file());
    remote
}

#[tokio::test]
async fn a_backend_of_a_trusted_ca_is_spoken_to_in_http2() {
    let pki = Pki::new();
    for dialect in DIALECTS {
        let backend = Backend::start_tls(pki.server("localhost")).await;
        let exporter = exporter(dialect, trusting(&backend, &pki));
        send(&exporter).await.unwrap();
        send(&exporter).await.unwrap();
        assert!(backend.requests().iter().all(|request| request.version == http::Version::HTTP_2));
        assert_eq!(backend.connections(), 1, "{dialect:?}");
    }
}

#[tokio::test]
async fn a_backend_that_has_only_http1_is_spoken_to_in_http1() {
    let pki = Pki::new();
    let mut config = Arc::unwrap_or_clone(pki.server("localhost"));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let backend = Backend::start_tls(Arc::new(config)).await;
    send(&exporter(Dialect::Protobuf, trusting(&backend, &pki))).await.unwrap();
    assert_eq!(backend.requests()[0].version, http::Version::HTTP_11);
}

#[tokio::test]
async fn a_backend_of_another_ca_gets_nothing() {
    let (pki, other) = (Pki::new(), Pki::new());
    for dialect in DIALECTS {
        let backend = Backend::start_tls(pki.server("localhost")).await;
        let result = send(&exporter(dialect, trusting(&backend, &other))).await;
        assert_eq!(result, Err(Failure::Unreachable), "{dialect:?}");
        // The system's CAs don't know it either; where the system has none, the exporter is not even built.
        let settings = settings(dialect, once(&backend.http_url()));
        if let Ok(exporter) = Exporter::new("out", &settings, Arc::new(Metrics::default())) {
            assert_eq!(send(&exporter).await, Err(Failure::Unreachable), "{dialect:?}");
        } else {
            assert!(build_error(&settings).contains("set ca_file"));
        }
        assert!(backend.requests().is_empty());
    }
}

#[tokio::test]
async fn the_name_must_be_right() {
    let pki = Pki::new();
    for dialect in DIALECTS {
        let backend = Backend::start_tls(pki.server("backend.test")).await;
        let mut remote = trusting(&backend, &pki);
        assert_eq!(send(&exporter(dialect, remote.clone())).await, Err(Failure::Unreachable), "{dialect:?}");
        assert!(backend.requests().is_empty());
        remote.tls.server_name_override = Some("backend.test".to_owned());
        send(&exporter(dialect, remote)).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_one_is_set() {
    let pki = Pki::new();
    for dialect in DIALECTS {
        let backend = Backend::start_tls(pki.server_for_known_clients("localhost")).await;
        let mut remote = trusting(&backend, &pki);
        assert_eq!(send(&exporter(dialect, remote.clone())).await, Err(Failure::Unreachable), "{dialect:?}");
        assert!(backend.requests().is_empty());
        remote.tls.cert_file = Some(pki.client_cert_file());
        remote.tls.key_file = Some(pki.client_key_file());
        send(&exporter(dialect, remote)).await.unwrap();
    }
}

#[tokio::test]
async fn plain_text_to_a_tls_port_and_back_is_unreachable() {
    let pki = Pki::new();
    for dialect in DIALECTS {
        let secure = Backend::start_tls(pki.server("localhost")).await;
        let plain = Backend::start().await;
        let mut to_plain = once(&plain.http_url().replace("http://127.0.0.1", "https://localhost"));
        to_plain.tls.ca_file = Some(pki.ca_file());
        let to_secure = once(&secure.http_url().replace("https:", "http:"));
        for remote in [to_plain, to_secure] {
            assert_eq!(send(&exporter(dialect, remote)).await, Err(Failure::Unreachable), "{dialect:?}");
        }
    }
}

#[test]
fn files_that_cannot_be_used_stop_the_start() {
    let pki = Pki::new();
    let broken = pki.ca_file().with_file_name("broken.pem");
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nhunter2\n").unwrap();
    let missing = pki.ca_file().with_file_name("missing.pem");
    type Change<'a> = &'a dyn Fn(&mut TlsClient);
    let cases: [(&Path, Change<'_>); 5] = [
        (&missing, &|tls| tls.ca_file = Some(missing.clone())),
        (&broken, &|tls| tls.ca_file = Some(broken.clone())),
        (&pki.client_key_file(), &|tls| tls.ca_file = Some(pki.client_key_file())),
        (&pki.ca_file(), &|tls| {
            tls.cert_file = Some(pki.client_cert_file());
            tls.key_file = Some(pki.ca_file());
        }),
        (&pki.ca_file(), &|tls| {
            tls.cert_file = Some(pki.ca_file());
            tls.key_file = Some(pki.client_key_file());
        }),
    ];
    for (file, change) in cases {
        let mut remote = once("https://backend:4317");
        remote.tls.ca_file = Some(pki.ca_file());
        change(&mut remote.tls);
        let settings = settings(Dialect::Grpc, remote);
        let error = build_error(&settings);
        assert!(error.starts_with(&format!("exporter out: {}: ", file.display())), "{error}");
        assert!(!error.contains("hunter2"));
    }
}

#[test]
fn half_a_client_certificate_stops_the_start() {
    let pki = Pki::new();
    let mut remote = once("https://backend:4317");
    remote.tls.ca_file = Some(pki.ca_file());
    remote.tls.cert_file = Some(pki.client_cert_file());
    let settings = settings(Dialect::Grpc, remote);
    let error = build_error(&settings);
    assert_eq!(error, "exporter out: cert_file and key_file belong together");
}
