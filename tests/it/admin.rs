//! The admin endpoint over real sockets: probes, metrics, and what it refuses.

use std::sync::Arc;
use std::time::Duration;

use blackbar::admin::{Health, Readiness, State, serve, serve_metrics};
use blackbar::otlp::{Protocol, Signal};
use blackbar::redact::report::{Report, Unscanned};
use blackbar::telemetry::{Metrics, Outcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct Admin {
    address: std::net::SocketAddr,
    state: State,
    shutdown: CancellationToken,
    server: JoinHandle<()>,
}

impl Admin {
    async fn start(only_metrics: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { health: Arc::new(Health::default()), metrics: Arc::new(Metrics::default()) };
        let shutdown = CancellationToken::new();
        let (s, token) = (state.clone(), shutdown.clone());
        let server = tokio::spawn(async move {
            match only_metrics {
                true => serve_metrics(listener, s, token).await,
                false => serve(listener, "/livez/{x}".into(), s, token).await,
            }
        });
        Self { address, state, shutdown, server }
    }

    /// The reply of one request, whole.
    async fn ask(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        reply
    }

    async fn status(&self, path: &str) -> u16 {
        self.ask("GET", path).await.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

#[tokio::test]
async fn probes_follow_the_life_of_the_process() {
    let admin = Admin::start(false).await;
    let health = &admin.state.health;
    assert!(!health.redaction_works(), "unchecked redaction must not count as working");
    assert_eq!((admin.status("/healthz").await, admin.status("/readyz").await), (200, 503));

    health.canary_passed();
    assert_eq!(admin.status("/readyz").await, 503, "not ready before the listeners are open");
    health.set_serving();
    assert_eq!((admin.status("/healthz").await, admin.status("/readyz").await), (200, 200));

    for (failure, live) in [(1, 200), (2, 200), (3, 503), (4, 503)] {
        assert_eq!(health.canary_survived(), failure);
        assert!(!health.redaction_works());
        assert_eq!((admin.status("/healthz").await, admin.status("/readyz").await), (live, 503));
        assert_eq!(admin.status("/livez/{x}").await, live, "the operator's own path");
    }
    health.canary_passed();
    assert_eq!((admin.status("/healthz").await, admin.status("/readyz").await), (200, 200));

    health.set_draining();
    assert_eq!((admin.status("/healthz").await, admin.status("/readyz").await), (200, 503));
    assert!(health.redaction_works(), "a draining process still takes requests");
}

#[tokio::test]
async fn watchers_see_each_change_of_readiness() {
    let health = Health::default();
    let mut watch = health.watch();
    assert!(!*watch.borrow_and_update());
    health.set_serving();
    assert!(!watch.has_changed().unwrap());
    assert_eq!(health.readiness(), Readiness::Starting);
    for (step, expected) in [
        (Health::canary_passed as fn(&Health), Readiness::Ready),
        (|h| assert_eq!(h.canary_survived(), 1), Readiness::CanarySurvived),
        (Health::canary_passed, Readiness::Ready),
        (Health::set_draining, Readiness::Draining),
    ] {
        step(&health);
        assert!(watch.has_changed().unwrap());
        assert_eq!(*watch.borrow_and_update(), expected == Readiness::Ready);
        assert_eq!(health.readiness(), expected);
    }
}

#[tokio::test]
async fn only_get_and_head_and_only_the_known_pages() {
    let admin = Admin::start(false).await;
    assert!(admin.ask("POST", "/healthz").await.starts_with("HTTP/1.1 405 "));
    for unknown in ["/", "/v1/traces", "/livez/1"] {
        assert_eq!(admin.status(unknown).await, 404);
    }
    let head = admin.ask("HEAD", "/healthz").await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");

    let scraped = Admin::start(true).await;
    assert_eq!((scraped.status("/metrics").await, scraped.status("/healthz").await), (200, 404));
}

#[tokio::test]
async fn shutdown_ends_the_server_even_with_an_idle_client() {
    let admin = Admin::start(false).await;
    let mut idle = TcpStream::connect(admin.address).await.unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert!(idle.read(&mut [0; 4096]).await.unwrap() > 0);
    admin.shutdown.cancel();
    tokio::time::timeout(Duration::from_secs(30), admin.server).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_never_finishes_its_head_is_dropped() {
    let admin = Admin::start(false).await;
    let mut stalled = TcpStream::connect(admin.address).await.unwrap();
    stalled.write_all(b"GET / HT").await.unwrap();
    let end = tokio::time::timeout(Duration::from_secs(30), stalled.read(&mut [0; 64])).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}

#[tokio::test]
async fn metrics_name_what_happened() {
    let admin = Admin::start(false).await;
    let metrics = &admin.state.metrics;
    let mut report = Report { items: 3, dropped_fields: 2, ..Report::default() };
    let kind: Arc<str> = "github-token".into();
    report.count(&kind);
    report.count(&kind);
    report.count_unscanned(Unscanned::Work);
    report.audited.insert("my-rule".into(), 4);
    metrics.redacted(Signal::Traces, &report, Duration::from_micros(30));
    metrics.request(Signal::Traces, Protocol::Grpc, Outcome::Accepted, 3, 1000);
    metrics.request(Signal::Traces, Protocol::Http, Outcome::Accepted, 1, 24);
    metrics.request(Signal::Logs, Protocol::Http, Outcome::BackendFailed, 7, 70);
    metrics.backend(Signal::Traces, Duration::from_millis(3), true);
    metrics.set_in_flight_bytes(512);
    metrics.set_in_flight_requests(5);
    metrics.canary_failed();

    let page = admin.ask("GET", "/metrics").await;
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    let version = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(head.contains(version), "{head}");
    for line in [
        r#"blackbar_requests_total{signal="traces",protocol="grpc",outcome="accepted"} 1"#,
        r#"blackbar_requests_total{signal="logs",protocol="http",outcome="backend_failed"} 1"#,
        r#"blackbar_items_total{signal="traces",outcome="accepted"} 4"#,
        r#"blackbar_bytes_total{signal="traces",outcome="accepted"} 1024"#,
        r#"blackbar_redactions_total{kind="github-token",signal="traces"} 2"#,
        r#"blackbar_audited_total{kind="my-rule",signal="traces"} 4"#,
        r#"blackbar_unscanned_total{reason="work"} 1"#,
        r#"blackbar_dropped_fields_total{signal="traces"} 2"#,
        r#"blackbar_backend_seconds_bucket{le="0.002",signal="traces",outcome="ok"} 0"#,
        r#"blackbar_backend_seconds_bucket{le="0.004",signal="traces",outcome="ok"} 1"#,
        r#"blackbar_backend_seconds_count{signal="traces",outcome="ok"} 1"#,
        r#"blackbar_redact_seconds_bucket{le="+Inf",signal="traces"} 1"#,
        "blackbar_in_flight_bytes 512",
        "blackbar_in_flight_requests 5",
        "blackbar_canary_failures_total 1",
        concat!("blackbar_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(body.lines().any(|l| l == line), "no line {line} in:\n{body}");
    }
    assert!(body.ends_with("# EOF\n"));
}
