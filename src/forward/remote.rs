//! An exporter that reaches its backend over the network: encodes once, then tries under the retry policy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use tokio::time::Instant;

use super::client::{self, Client};
use super::compress::compress;
use super::headers::Headers;
use super::settings::{Compression, Remote, Retry};
use super::targets::{Dialect, Targets};
use super::{BuildError, Call, grpc, http as otlp_http, json_of, retry};
use crate::error::Backend;
use crate::forward::Reply;
use crate::offload::offload;
use crate::otlp::{Encoding, Protocol, Signal};
use crate::redact::Redacted;
use crate::telemetry::Metrics;

/// Above this size encoding is moved off the threads that serve sockets.
const INLINE_ENCODING: usize = 64 << 10;

/// The exporter.
pub(super) struct RemoteExporter {
    dialect: Dialect,
    targets: Targets,
    client: Client,
    headers: Headers,
    compression: Compression,
    timeout: Duration,
    retry: Retry,
    metrics: Arc<Metrics>,
}

impl RemoteExporter {
    /// Checks the settings and reads the files they name; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: which setting or file, and why.
    pub(super) fn new(
        exporter: &str,
        remote: &Remote,
        dialect: Dialect,
        metrics: Arc<Metrics>,
    ) -> Result<Self, BuildError> {
        let targets = Targets::new(exporter, remote, dialect)?;
        let protocol = match dialect {
            Dialect::Grpc => Protocol::Grpc,
            Dialect::Http(_) => Protocol::Http,
        };
        let client = Client::new(exporter, remote, protocol, &targets)?;
        let headers = Headers::new(&remote.headers, &remote.forward_headers).map_err(|name| {
            BuildError::setting(
                exporter,
                format!("the value of header {name} holds characters that can't be sent"),
            )
        })?;
        Ok(Self {
            dialect,
            targets,
            client,
            headers,
            compression: remote.compression,
            timeout: remote.timeout,
            retry: remote.retry.clone(),
            metrics,
        })
    }

    /// Sends one request, trying again where that can help.
    ///
    /// # Errors
    ///
    /// The backend's last answer, where it did not accept.
    pub(super) async fn export(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Backend> {
        let deadline = self.deadline(call);
        let signal = request.signal();
        let (prefix, message) = self.encode(signal, request.body()).await?;
        let outgoing = Outgoing { signal, prefix, message, deadline };
        retry::run(&self.retry, deadline, || self.measured_attempt(&outgoing, call)).await
    }

    fn deadline(&self, call: &Call<'_>) -> Instant {
        let deadline = Instant::from_std(call.deadline);
        if self.timeout.is_zero() {
            return deadline;
        }
        Instant::now().checked_add(self.timeout).map_or(deadline, |own| own.min(deadline))
    }

    /// What goes out in each attempt: the gRPC prefix, or nothing, and the encoded and compressed message.
    async fn encode(&self, signal: Signal, body: &Bytes) -> Result<(Bytes, Bytes), Backend> {
        let (dialect, compression, body) = (self.dialect, self.compression, body.clone());
        let as_it_is = compression == Compression::None && !matches!(dialect, Dialect::Http(Encoding::Json));
        if as_it_is || body.len() <= INLINE_ENCODING {
            return encode(dialect, compression, signal, body);
        }
        let work = move || encode(dialect, compression, signal, body);
        offload(work).await.unwrap_or(Err(Backend::Sink))
    }

    async fn measured_attempt(&self, outgoing: &Outgoing, call: &Call<'_>) -> Result<Reply, Backend> {
        let mut exchange =
            Exchange { metrics: &self.metrics, signal: outgoing.signal, start: Instant::now(), ok: false };
        let result = self.attempt(outgoing, call).await;
        exchange.ok = result.is_ok();
        result
    }

    async fn attempt(&self, outgoing: &Outgoing, call: &Call<'_>) -> Result<Reply, Backend> {
        let mut headers = self.headers.outgoing(call.headers);
        match self.dialect {
            Dialect::Grpc => {
                let remaining = outgoing.deadline.saturating_duration_since(Instant::now());
                grpc::head(&mut headers, self.compression, Some(remaining));
            }
            Dialect::Http(encoding) => otlp_http::head(&mut headers, encoding, self.compression),
        }
        let mut request = Request::new(client::body(outgoing.prefix.clone(), outgoing.message.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.targets.of(outgoing.signal).clone();
        *request.headers_mut() = headers;
        let response = self.client.send(request).await?;
        match self.dialect {
            Dialect::Grpc => grpc::answer(&self.client, outgoing.signal, response).await,
            Dialect::Http(_) => otlp_http::answer(&self.client, outgoing.signal, response).await,
        }
    }
}

/// One request, ready to be sent any number of times.
struct Outgoing {
    signal: Signal,
    prefix: Bytes,
    message: Bytes,
    deadline: Instant,
}

/// Counts one exchange when it is over, also where the deadline ends it.
struct Exchange<'a> {
    metrics: &'a Metrics,
    signal: Signal,
    start: Instant,
    ok: bool,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.metrics.backend(self.signal, self.start.elapsed(), self.ok);
    }
}

fn encode(
    dialect: Dialect,
    compression: Compression,
    signal: Signal,
    body: Bytes,
) -> Result<(Bytes, Bytes), Backend> {
    let message = match dialect {
        Dialect::Grpc | Dialect::Http(Encoding::Protobuf) => body,
        Dialect::Http(Encoding::Json) => json_of(signal, &body)?,
    };
    let message = compress(message, compression).map_err(|_| Backend::Sink)?;
    let prefix = match dialect {
        Dialect::Grpc => grpc::prefix(&message, compression).ok_or(Backend::Sink)?,
        Dialect::Http(_) => Bytes::new(),
    };
    Ok((prefix, message))
}
