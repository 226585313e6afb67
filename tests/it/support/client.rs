//! A client that sends one export request by any transport and encoding, and shows the whole answer.
//!
//! Own gRPC framing, so that a test sees the raw bytes; the SDKs are tried in `tests/interop`.

use blackbar::otlp::{Signal, json};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP with protobuf.
    Protobuf,
    /// OTLP/HTTP with JSON.
    Json,
}

impl Via {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Grpc, Self::Protobuf, Self::Json];
}

/// The whole answer.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers, for gRPC with the trailers.
    pub headers: HeaderMap,
    /// The body; for gRPC the message without its frame.
    pub body: Bytes,
}

impl Answer {
    /// `grpc-status`, from headers or trailers.
    pub fn grpc_status(&self) -> Option<i32> {
        self.headers.get("grpc-status")?.to_str().ok()?.parse().ok()
    }

    /// Whether the request was accepted.
    pub fn is_ok(&self) -> bool {
        self.status == 200 && self.grpc_status().is_none_or(|code| code == 0)
    }
}

/// The client: HTTP/1.1 for HTTP, h2c for gRPC.
pub struct Client {
    http: Hyper<HttpConnector, Full<Bytes>>,
    grpc: Hyper<HttpConnector, Full<Bytes>>,
}

impl Client {
    /// A client with empty connection pools.
    pub fn new() -> Self {
        Self {
            http: Hyper::builder(TokioExecutor::new()).build_http(),
            grpc: Hyper::builder(TokioExecutor::new()).http2_only(true).build_http(),
        }
    }

    /// Sends an encoded (protobuf) export request to `base` (`http://host:port`).
    pub async fn export(&self, base: &str, signal: Signal, via: Via, request: &[u8]) -> Answer {
        match via {
            Via::Grpc => {
                let mut frame = BytesMut::with_capacity(request.len() + 5);
                frame.put_u8(0);
                frame.put_u32(request.len().try_into().unwrap());
                frame.put_slice(request);
                let url = format!("{base}{}", signal.grpc_path());
                self.send(&url, &[("content-type", "application/grpc"), ("te", "trailers")], frame.freeze())
                    .await
            }
            Via::Protobuf => {
                let url = format!("{base}{}", signal.http_path());
                let body = Bytes::copy_from_slice(request);
                self.send(&url, &[("content-type", "application/x-protobuf")], body).await
            }
            Via::Json => {
                let url = format!("{base}{}", signal.http_path());
                let body = json::from_protobuf(signal.request(), request).unwrap();
                self.send(&url, &[("content-type", "application/json")], body.into()).await
            }
        }
    }

    /// Sends any POST; one with a gRPC content type goes over h2c.
    pub async fn send(&self, url: &str, headers: &[(&str, &str)], body: Bytes) -> Answer {
        let grpc = headers.iter().any(|(_, value)| value.starts_with("application/grpc"));
        let mut request = Request::post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let client = if grpc { &self.grpc } else { &self.http };
        let response = client.request(request.body(Full::new(body)).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let collected = body.collect().await.unwrap();
        let mut headers = head.headers;
        headers.extend(collected.trailers().cloned().unwrap_or_default());
        let mut body = collected.to_bytes();
        if grpc && body.len() >= 5 {
            body = body.slice(5..);
        }
        Answer { status: head.status.as_u16(), headers, body }
    }
}
