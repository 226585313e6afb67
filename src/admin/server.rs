//! The admin listener: a small HTTP/1.1 server for probes and scrapers. Never on an OTLP port.
//!
//! Bounded on its own: few connections, each with a short time for its request head and a short life, so that a
//! stalled scraper can't keep the probes out for long. Bodies are never read.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderName, StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Health, Readiness};
use crate::telemetry::{CONTENT_TYPE, Metrics};

const MAX_CONNECTIONS: usize = 64;
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION_LIFE: Duration = Duration::from_secs(60);
const LAST_REPLY: Duration = Duration::from_secs(5);
const PAUSE_AFTER_ACCEPT_ERROR: Duration = Duration::from_millis(100);

/// What the pages show.
#[derive(Debug, Clone)]
pub struct State {
    /// Liveness and readiness.
    pub health: Arc<Health>,
    /// The counters.
    pub metrics: Arc<Metrics>,
}

/// Serves `/healthz`, `/readyz`, `/metrics` and, at `path`, the same as `/healthz`, until `shutdown`; open requests
/// are answered first. `path` is `/` by default, and the operator's to choose, as in the Collector.
pub async fn serve(listener: TcpListener, path: String, state: State, shutdown: CancellationToken) {
    // By comparison, not as a route: the router's pattern syntax is none of the operator's business.
    let at_path = move |state: Shared<State>, uri: Uri| async move {
        if uri.path() == path {
            live(state).await.into_response()
        } else {
            StatusCode::NOT_FOUND.into_response()
        }
    };
    let app = Router::new()
        .route("/healthz", get(live))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback_service(get(at_path).with_state(state.clone()))
        .with_state(state);
    run(listener, app, shutdown).await;
}

/// Serves `/metrics` alone until `shutdown`, for a scraper that may not see the rest.
pub async fn serve_metrics(listener: TcpListener, state: State, shutdown: CancellationToken) {
    let app = Router::new().route("/metrics", get(metrics)).with_state(state);
    run(listener, app, shutdown).await;
}

async fn live(Shared(state): Shared<State>) -> impl IntoResponse {
    match state.health.is_live() {
        true => page(StatusCode::OK, "Server available"),
        false => page(StatusCode::SERVICE_UNAVAILABLE, Readiness::CanarySurvived.as_str()),
    }
}

async fn ready(Shared(state): Shared<State>) -> impl IntoResponse {
    let readiness = state.health.readiness();
    let status = match readiness {
        Readiness::Ready => StatusCode::OK,
        Readiness::Starting
        | Readiness::CanarySurvived
        | Readiness::QueueUnwritable
        | Readiness::Draining => StatusCode::SERVICE_UNAVAILABLE,
    };
    page(status, readiness.as_str())
}

async fn metrics(Shared(state): Shared<State>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], state.metrics.render())
}

/// The shape of the Collector's health page, without its clock.
fn page(status: StatusCode, text: &str) -> (StatusCode, [(HeaderName, &'static str); 1], String) {
    let body = serde_json::json!({ "status": text, "version": env!("CARGO_PKG_VERSION") });
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string())
}

async fn run(listener: TcpListener, app: Router, shutdown: CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        let (app, shutdown) = (app.clone(), shutdown.clone());
        connections.spawn(async move {
            converse(stream, app, shutdown).await;
            drop(place);
        });
    }
    connections.close();
    connections.wait().await;
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            // Often "too many open files": without a pause this would spin.
            tracing::warn!(kind = ?error.kind(), "admin: accept failed");
            tokio::time::sleep(PAUSE_AFTER_ACCEPT_ERROR).await;
            None
        }
    }
}

/// One connection, from its first request to its end, its limit or shutdown.
async fn converse(stream: TcpStream, app: Router, shutdown: CancellationToken) {
    let service = TowerToHyperService::new(app);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let limit = tokio::time::sleep(CONNECTION_LIFE);
    tokio::select! {
        // A prober that hangs up is no news.
        _ = connection.as_mut() => return,
        () = limit => {}
        () = shutdown.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_REPLY, connection).await;
}
