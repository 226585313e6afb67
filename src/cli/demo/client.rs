//! The demo's OTLP client: one request over HTTP or gRPC, by hand, as any SDK sends it.

use anyhow::{Context as _, bail, ensure};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::{Request, Version};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::otlp::{Encoding, Signal};

/// How an example is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Via {
    /// OTLP/HTTP with JSON.
    Json,
    /// OTLP/HTTP with protobuf.
    Protobuf,
    /// OTLP/gRPC.
    Grpc,
}

impl Via {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "OTLP/HTTP, JSON",
            Self::Protobuf => "OTLP/HTTP, protobuf",
            Self::Grpc => "OTLP/gRPC",
        }
    }
}

pub(super) async fn http_json(address: &str, signal: Signal, body: String) -> anyhow::Result<()> {
    http(address, signal, Encoding::Json, body.into()).await
}

pub(super) async fn http_protobuf(address: &str, signal: Signal, body: Vec<u8>) -> anyhow::Result<()> {
    http(address, signal, Encoding::Protobuf, body.into()).await
}

async fn http(address: &str, signal: Signal, encoding: Encoding, body: Bytes) -> anyhow::Result<()> {
    let request = Request::post(format!("http://{address}{}", signal.http_path()))
        .header(http::header::CONTENT_TYPE, encoding.content_type())
        .body(Full::new(body))?;
    let response = Client::builder(TokioExecutor::new()).build_http().request(request).await?;
    ensure!(response.status().is_success(), "HTTP {}", response.status());
    Ok(())
}

pub(super) async fn grpc(address: &str, signal: Signal, message: &[u8]) -> anyhow::Result<()> {
    // A gRPC message: not compressed, its length, itself.
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len())?);
    frame.put_slice(message);
    let request = Request::post(format!("http://{address}{}", signal.grpc_path()))
        .version(Version::HTTP_2)
        .header(http::header::CONTENT_TYPE, "application/grpc")
        .header(http::header::TE, "trailers")
        .body(Full::new(frame.freeze()))?;
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let (head, body) = client.request(request).await?.into_parts();
    let body = body.collect().await?;
    let status = head.headers.get("grpc-status").or_else(|| body.trailers()?.get("grpc-status"));
    match status.context("no grpc-status")?.as_bytes() {
        b"0" => Ok(()),
        other => bail!("gRPC status {}", String::from_utf8_lossy(other)),
    }
}
