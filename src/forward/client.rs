//! The pooled HTTP client under both protocols: HTTP/1.1 or HTTP/2, TLS by scheme, proxies, keep-alive.
//!
//! Sends one request once. Knows no OTLP, no deadline and no retry.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use bytes::buf::{Buf as _, Chain};
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{DefaultServerNameResolver, FixedServerNameResolver, HttpsConnector, ResolveServerName};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::BuildError;
use super::connect::Route;
use super::proxy::Proxies;
use super::reason::reason;
use super::settings::{Remote, TlsClient};
use super::targets::Targets;
use super::tls;
use crate::error::Backend;
use crate::otlp::Protocol;

/// The largest answer that is read: OTLP replies are at most 4 MiB (OTLP 1.11).
pub(super) const MAX_ANSWER: usize = 4 << 20;
/// Windows bound what the *backend* may send before we read: answers are small, so a few of the largest suffice.
/// How fast we send is up to the backend's windows.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;
/// What one HTTP/2 stream buffers on its way out.
const SEND_BUFFER: usize = 1 << 20;
/// Finds a dead HTTP/2 connection before a request does.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the idle timeouts of usual load balancers (60 s and more).
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);
/// Idle HTTP/1.1 connections that are kept.
const MAX_IDLE: usize = 64;

/// A request body in two parts, neither of them copied: the gRPC message prefix (or nothing), and the message.
type Body = Full<Chain<Bytes, Bytes>>;

/// Joins a prefix and a message to one body.
pub(super) fn body(prefix: Bytes, message: Bytes) -> Body {
    Full::new(prefix.chain(message))
}

/// The client of one exporter.
pub(super) struct Client {
    exporter: String,
    route: Route,
    http: legacy::Client<HttpsConnector<Route>, Body>,
    /// Whether the last exchange found no backend: said once, not for every request.
    down: AtomicBool,
}

impl Client {
    /// Builds the client for these URLs. Connects to nothing yet.
    ///
    /// # Errors
    ///
    /// What of the TLS or proxy settings can't be used.
    pub(super) fn new(
        exporter: &str,
        remote: &Remote,
        protocol: Protocol,
        targets: &Targets,
    ) -> Result<Self, BuildError> {
        let grpc = protocol == Protocol::Grpc;
        let mut config = if targets.want_tls() {
            tls::client_config(exporter, &remote.tls)?
        } else {
            tls::unused_config(exporter)?
        };
        config.alpn_protocols =
            if grpc { vec![b"h2".to_vec()] } else { vec![b"h2".to_vec(), b"http/1.1".to_vec()] };
        let resolver: Arc<dyn ResolveServerName + Send + Sync> =
            match tls::server_name(exporter, &remote.tls)? {
                Some(name) => Arc::new(FixedServerNameResolver::new(name)),
                None => Arc::new(DefaultServerNameResolver::default()),
            };
        let route = route(exporter, remote, grpc)?;
        let connector = HttpsConnector::new(route.clone(), config, false, resolver);
        let http = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE)
            .http2_only(grpc)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_max_send_buf_size(SEND_BUFFER)
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .http2_keep_alive_while_idle(false)
            .build(connector);
        Ok(Self { exporter: exporter.to_owned(), route, http, down: AtomicBool::new(false) })
    }

    /// Sends one request and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// [`Backend::Unreachable`]: no connection, or it broke.
    pub(super) async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, Backend> {
        let proxy = self.route.forwarding_proxy(request.uri());
        if let Some(auth) = proxy.and_then(|proxy| proxy.basic_auth()) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, auth.clone());
        }
        match self.http.request(request).await {
            Ok(response) => {
                if self.down.swap(false, Ordering::Relaxed) {
                    tracing::info!(exporter = self.exporter, "the backend answers again");
                }
                Ok(response)
            }
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    /// Reads a whole answer: its body and its trailers.
    ///
    /// # Errors
    ///
    /// [`Backend::Unreachable`] where the connection broke, [`Backend::Garbage`] where the answer is too large.
    pub(super) async fn read(&self, body: Incoming) -> Result<(Bytes, Option<HeaderMap>), Backend> {
        match Limited::new(body, MAX_ANSWER).collect().await {
            Ok(answer) => {
                let trailers = answer.trailers().cloned();
                Ok((answer.to_bytes(), trailers))
            }
            Err(error) if error.is::<LengthLimitError>() => Err(Backend::Garbage),
            Err(error) => Err(self.unreachable(error.as_ref())),
        }
    }

    fn unreachable(&self, error: &(dyn Error + 'static)) -> Backend {
        let reason = reason(error);
        if self.down.swap(true, Ordering::Relaxed) {
            tracing::debug!(exporter = self.exporter, reason, "the backend can't be reached");
        } else {
            tracing::warn!(exporter = self.exporter, reason, "the backend can't be reached");
        }
        Backend::Unreachable
    }
}

fn route(exporter: &str, remote: &Remote, grpc: bool) -> Result<Route, BuildError> {
    let proxies = Proxies::new(&remote.proxy).map_err(|reason| BuildError::setting(exporter, reason))?;
    // The backend's CA and client certificate are not the proxy's.
    let proxy_tls = if proxies.want_tls() {
        tls::client_config(exporter, &TlsClient::default())?
    } else {
        tls::unused_config(exporter)?
    };
    Ok(Route::new(Arc::new(proxies), proxy_tls, grpc))
}
