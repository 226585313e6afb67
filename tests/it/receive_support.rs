//! A door with a scripted handler behind it, and clients that show the bytes.

use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use blackbar::error::Error;
use blackbar::pipeline::{Reply, Request};
use blackbar::receive::settings::{DoorSettings, LimitSettings};
use blackbar::receive::{Door, Handler, Limits, Shutdown, serve};
use blackbar::telemetry::Metrics;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const MIB: usize = 1 << 20;

/// Long for what finishes, short for what does not.
pub(crate) const FINISH_WITHIN: Duration = Duration::from_secs(3);

pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send>>;

/// A handler that does what a test says, and tells what it was handed.
pub(crate) struct Scripted {
    script: Box<dyn Fn() -> Answer + Send + Sync>,
    seen: mpsc::UnboundedSender<Request>,
}

impl Handler for Scripted {
    fn handle(&self, request: Request) -> impl Future<Output = Result<Reply, Error>> + Send {
        let _ = self.seen.send(request);
        (self.script)()
    }
}

/// A running door.
pub(crate) struct Served {
    pub(crate) addr: SocketAddr,
    pub(crate) limits: Arc<Limits>,
    pub(crate) ready: watch::Sender<bool>,
    pub(crate) stop: CancellationToken,
    pub(crate) seen: mpsc::UnboundedReceiver<Request>,
    pub(crate) task: JoinHandle<usize>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Answers every request with this.
pub(crate) fn always(result: Result<Reply, Error>) -> impl Fn() -> Answer + Send + Sync {
    move || {
        let result = result.clone();
        Box::pin(async move { result })
    }
}

/// Accepts every request.
pub(crate) fn accept() -> impl Fn() -> Answer + Send + Sync {
    always(Ok(Reply::default()))
}

pub(crate) async fn start(script: impl Fn() -> Answer + Send + Sync + 'static) -> Served {
    start_with(64 * MIB, LimitSettings::default(), script).await
}

pub(crate) async fn start_with(
    max_body: usize,
    limits: LimitSettings,
    script: impl Fn() -> Answer + Send + Sync + 'static,
) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let metrics = Arc::new(Metrics::default());
    let limits = Limits::new(limits, Arc::clone(&metrics));
    let (ready, ready_now) = watch::channel(true);
    let (seen_by, seen) = mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let door = Door {
        settings: DoorSettings { endpoint: addr.to_string(), max_body },
        handler: Arc::new(Scripted { script: Box::new(script), seen: seen_by }),
        limits: Arc::clone(&limits),
        ready: ready_now,
    };
    let shutdown = Shutdown { stop: stop.clone(), finish_within: FINISH_WITHIN };
    let task = tokio::spawn(serve(listener, door, shutdown));
    Served { addr, limits, ready, stop, seen, task, metrics }
}

/// Fails a test that would hang.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("took too long")
}

/// A response, whole.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: HeaderMap,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// `grpc-status`, from the trailers or, without a body, from the headers.
    pub(crate) fn grpc_status(&self) -> i32 {
        let value = self.trailers.get("grpc-status").or(self.headers.get("grpc-status"));
        value.expect("grpc-status").to_str().unwrap().parse().unwrap()
    }

    /// The body as `google.rpc.Status`, in the encoding that its content type names.
    pub(crate) fn status_body(&self) -> (i32, String) {
        match self.header("content-type") {
            Some("application/json") => {
                let json: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
                let code = json["code"].as_i64().unwrap();
                (i32::try_from(code).unwrap(), json["message"].as_str().unwrap().to_owned())
            }
            Some("application/x-protobuf") => {
                let status: tonic_types::Status = prost::Message::decode(self.body.clone()).unwrap();
                (status.code, status.message)
            }
            other => panic!("content type {other:?}"),
        }
    }
}

/// Sends bytes over a new TCP connection.
pub(crate) async fn connect(addr: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Reads one HTTP/1.1 response with a `Content-Length`.
pub(crate) async fn read_response(stream: &mut TcpStream) -> Got {
    let mut bytes = Vec::new();
    let start = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "closed in the head");
    };
    let head = String::from_utf8(bytes[..start].to_vec()).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in lines.map(|line| line.split_once(':').unwrap()) {
        headers.append(name.parse::<http::HeaderName>().unwrap(), value.trim().parse().unwrap());
    }
    let length = headers.get("content-length").map_or(0, |value| value.to_str().unwrap().parse().unwrap());
    while bytes.len() < start + length {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "closed in the body");
    }
    let body = Bytes::from(bytes).slice(start..start + length);
    Got { status, headers, body, trailers: HeaderMap::new() }
}

/// Sends an HTTP/1.1 request as these bytes, and reads the response.
pub(crate) async fn exchange(addr: SocketAddr, bytes: &[u8]) -> Got {
    soon(async { read_response(&mut connect(addr, bytes).await).await }).await
}

/// A `POST` over HTTP/1.1 with a `Content-Length`. `headers` are whole lines, each with its line end.
pub(crate) fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) const PROTOBUF: &str = "content-type: application/x-protobuf\r\n";
pub(crate) const JSON: &str = "content-type: application/json\r\n";

/// An HTTP/2 connection.
pub(crate) async fn h2c(addr: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TokioIo::new(TcpStream::connect(addr).await.unwrap());
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// One exchange over HTTP/2.
pub(crate) async fn over_h2(
    sender: &mut SendRequest<Full<Bytes>>,
    path: &str,
    headers: &[(&'static str, &str)],
    body: Bytes,
) -> Got {
    let mut request = http::Request::post(format!("http://x{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    soon(async {
        sender.ready().await.unwrap();
        let sent = sender.send_request(request.body(Full::new(body)).unwrap());
        let (parts, body) = sent.await.unwrap().into_parts();
        let body = body.collect().await.unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        Got { status: parts.status.as_u16(), headers: parts.headers, body: body.to_bytes(), trailers }
    })
    .await
}

pub(crate) const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// One gRPC exchange over a new connection; `body` is everything between the headers and the end of the stream.
pub(crate) async fn grpc(
    addr: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
    body: impl Into<Bytes>,
) -> Got {
    let mut all = vec![("te", "trailers"), ("content-type", "application/grpc")];
    all.retain(|(name, _)| !headers.iter().any(|(given, _)| given == name));
    all.extend_from_slice(headers);
    let got = over_h2(&mut h2c(addr).await, path, &all, body.into()).await;
    assert_eq!(got.status, 200);
    got
}

/// A gRPC frame.
pub(crate) fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut frame = vec![flag];
    frame.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(message);
    frame
}

/// The one message of a gRPC response body.
pub(crate) fn unframe(mut body: Bytes) -> Bytes {
    assert_eq!(body.get_u8(), 0, "replies are not compressed");
    assert_eq!(body.get_u32() as usize, body.len());
    body
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn raw_deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::encode_all(data, 1).unwrap()
}
