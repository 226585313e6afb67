//! `grpc.health.v1` on every port: SERVING while the process is ready, else NOT_SERVING, for the server as a whole
//! and for each OTLP service.

use std::convert::Infallible;

use http::{Request, Response};
use hyper::body::Incoming;
use tokio::sync::watch;
use tonic::body::Body;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tower::ServiceExt;

use crate::otlp::Signal;

/// Path prefix of the health service's methods.
pub(super) const PREFIX: &str = "/grpc.health.v1.Health/";

/// The health service of one door.
#[derive(Clone)]
pub(super) struct Health {
    server: HealthServer<HealthService>,
}

impl Health {
    /// A service that asks `reporter`.
    pub(super) fn new(reporter: HealthReporter) -> Self {
        Self { server: HealthServer::new(HealthService::from_health_reporter(reporter)) }
    }

    /// Answers `Check` and `Watch`.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let answer: Result<Response<Body>, Infallible> = self.server.clone().oneshot(request).await;
        answer.unwrap_or_else(|never| match never {})
    }
}

/// Tells `reporter` what `ready` says, for as long as it says anything.
pub(super) async fn follow(reporter: HealthReporter, mut ready: watch::Receiver<bool>) {
    loop {
        let status =
            if *ready.borrow_and_update() { ServingStatus::Serving } else { ServingStatus::NotServing };
        for name in services() {
            reporter.set_service_status(name, status).await;
        }
        if ready.changed().await.is_err() {
            return;
        }
    }
}

/// Ends every `Watch`, so that none keeps a connection open.
pub(super) async fn end_watches(mut reporter: HealthReporter) {
    for name in services() {
        reporter.clear_service_status(name).await;
    }
}

/// The server as a whole, and each OTLP service by its gRPC name.
fn services() -> impl Iterator<Item = &'static str> {
    let service = |signal: Signal| signal.grpc_path().trim_start_matches('/').trim_end_matches("/Export");
    std::iter::once("").chain(Signal::ALL.into_iter().map(service))
}
