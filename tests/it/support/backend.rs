//! An OTLP backend that records what it gets and answers by script.
//!
//! Speaks HTTP/1.1 and h2c (or TLS) on a free loopback port, OTLP/HTTP and gRPC alike. An empty script means success.

use std::collections::VecDeque;
use std::io::Read as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use blackbar::otlp::{Signal, json};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

pub use super::backend_answer::Answer;
use super::backend_answer::{self, Body};

/// How long a test waits for what must come: far longer than it takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// One request as the backend saw it.
#[derive(Debug, Clone)]
pub struct Received {
    /// gRPC, by its content type.
    pub grpc: bool,
    /// HTTP version.
    pub version: Version,
    /// Which connection it came by, counted from 0.
    pub connection: usize,
    /// The path with the query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding` or `grpc-encoding`.
    pub encoding: Option<String>,
    /// The body as it came.
    pub raw: Bytes,
    /// The message: without gRPC framing, decompressed, in protobuf or JSON.
    pub message: Bytes,
    /// When its body was complete.
    pub at: Instant,
}

impl Received {
    /// Whether the message is OTLP/JSON.
    pub fn is_json(&self) -> bool {
        self.content_type.as_deref().is_some_and(|value| value.starts_with("application/json"))
    }

    /// The signal, by the path.
    pub fn signal(&self) -> Signal {
        let path = self.path.split('?').next().unwrap();
        let is_its = |signal: &Signal| path == signal.grpc_path() || path.ends_with(signal.http_path());
        Signal::ALL.into_iter().find(is_its).unwrap_or_else(|| panic!("{path} is of no signal"))
    }

    /// The message in protobuf, transcoded where it came in JSON.
    pub fn protobuf(&self) -> Bytes {
        if !self.is_json() {
            return self.message.clone();
        }
        json::to_protobuf(self.signal().request(), &self.message).unwrap().into()
    }

    /// The message as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.message).unwrap()
    }

    /// The value of a header, empty where it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The backend. Stops when it is dropped.
pub struct Backend {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct State {
    requests: Mutex<Vec<Received>>,
    script: Mutex<VecDeque<Answer>>,
    arrived: Notify,
    released: watch::Sender<bool>,
    connections: AtomicUsize,
    cuts: Mutex<Vec<Arc<Cut>>>,
}

impl Backend {
    /// Listens on a free loopback port, in plain text.
    pub async fn start() -> Self {
        Self::listen(None).await
    }

    /// Listens on a free loopback port, with TLS.
    pub async fn start_tls(tls: Arc<rustls::ServerConfig>) -> Self {
        Self::listen(Some(tls)).await
    }

    async fn listen(tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let scheme = if tls.is_some() { "https" } else { "http" };
        let task = tokio::spawn(accept(listener, tls, Arc::clone(&state)));
        Self { address, scheme, state, task }
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for an OTLP/gRPC exporter.
    pub fn grpc_url(&self) -> String {
        // A certificate is for a name; a plain address spares the lookup.
        let host = if self.scheme == "https" { "localhost" } else { "127.0.0.1" };
        format!("{}://{host}:{}", self.scheme, self.address.port())
    }

    /// The base URL for an OTLP/HTTP exporter.
    pub fn http_url(&self) -> String {
        self.grpc_url()
    }

    /// Adds answers to the script; one is used up by each request.
    pub fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.script.lock().unwrap().extend(answers);
    }

    /// Lets every `Slow` answer go, those to come too.
    pub fn release(&self) {
        self.state.released.send_replace(true);
    }

    /// Everything received so far.
    pub fn requests(&self) -> Vec<Received> {
        self.state.requests.lock().unwrap().clone()
    }

    /// The newest request: there is one, since a client that was answered has been recorded before.
    pub fn last(&self) -> Received {
        self.state.requests.lock().unwrap().last().unwrap().clone()
    }

    /// Waits until at least `n` requests have come, and gives all of them.
    pub async fn received(&self, n: usize) -> Vec<Received> {
        let wait = async {
            loop {
                let arrived = self.state.arrived.notified();
                tokio::pin!(arrived);
                arrived.as_mut().enable();
                let requests = self.requests();
                if requests.len() >= n {
                    return requests;
                }
                arrived.await;
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(requests) => requests,
            Err(_) => panic!("{} of {n} requests came within {PATIENCE:?}", self.requests().len()),
        }
    }

    /// Closes every connection, as a backend that restarts does.
    pub fn close_connections(&self) {
        for cut in self.state.cuts.lock().unwrap().drain(..) {
            cut.pulled.notify_one();
        }
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, tls: Option<Arc<rustls::ServerConfig>>, state: Arc<State>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let number = state.connections.fetch_add(1, Ordering::SeqCst);
        let cut = Arc::new(Cut::default());
        state.cuts.lock().unwrap().push(Arc::clone(&cut));
        let stream = Resettable { stream, cut: Arc::clone(&cut) };
        let (tls, state) = (tls.clone(), Arc::clone(&state));
        connections.spawn(async move {
            let serving = async {
                match tls {
                    None => serve(stream, number, &cut, state).await,
                    Some(tls) => {
                        let acceptor = tokio_rustls::TlsAcceptor::from(tls);
                        if let Ok(stream) = acceptor.accept(stream).await {
                            serve(stream, number, &cut, state).await;
                        }
                    }
                }
            };
            // Dropping the connection's future closes its socket.
            tokio::select! {
                () = serving => {}
                () = cut.pulled.notified() => {}
            }
        });
    }
}

async fn serve<S>(stream: S, number: usize, cut: &Arc<Cut>, state: Arc<State>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(|request| {
        let (state, cut) = (Arc::clone(&state), Arc::clone(cut));
        async move { Ok::<_, std::convert::Infallible>(answer(request, number, &cut, &state).await) }
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http2().max_frame_size(1 << 20).initial_stream_window_size(1 << 20);
    // An error here is a client that went away: its own test sees that.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(request: Request<Incoming>, number: usize, cut: &Cut, state: &State) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        // The client gave up while it sent: nothing to record, nobody to answer.
        return std::future::pending().await;
    };
    let received = record(parts, body.to_bytes(), number);
    let answer = {
        let mut requests = state.requests.lock().unwrap();
        requests.push(received.clone());
        state.script.lock().unwrap().pop_front().unwrap_or(Answer::Success)
    };
    state.arrived.notify_waiters();
    match answer {
        Answer::Slow => {
            let _ = state.released.subscribe().wait_for(|released| *released).await;
        }
        Answer::Reset => {
            cut.reset.store(true, Ordering::SeqCst);
            cut.pulled.notify_one();
            return std::future::pending().await;
        }
        _ => {}
    }
    backend_answer::respond(&answer, &received)
}

fn record(parts: http::request::Parts, raw: Bytes, connection: usize) -> Received {
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let content_type = text("content-type");
    let grpc = content_type.as_deref().is_some_and(|value| value.starts_with("application/grpc"));
    let encoding = text(if grpc { "grpc-encoding" } else { "content-encoding" });
    let message =
        if grpc { unframe(&raw, encoding.as_deref()) } else { decompress(&raw, encoding.as_deref()) };
    let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    Received {
        grpc,
        version: parts.version,
        connection,
        path,
        headers: parts.headers,
        content_type,
        encoding,
        raw,
        message,
        at: Instant::now(),
    }
}

/// The one message of a unary gRPC body.
fn unframe(raw: &Bytes, encoding: Option<&str>) -> Bytes {
    let length = u32::from_be_bytes(raw[1..5].try_into().unwrap()) as usize;
    assert_eq!(raw.len(), 5 + length, "one whole message");
    let message = raw.slice(5..);
    if raw[0] == 0 { message } else { decompress(&message, encoding) }
}

fn decompress(raw: &Bytes, encoding: Option<&str>) -> Bytes {
    let mut out = Vec::new();
    match encoding {
        None | Some("identity") => return raw.clone(),
        Some("gzip") => flate2::read::MultiGzDecoder::new(raw.as_ref()).read_to_end(&mut out).unwrap(),
        Some("deflate") => flate2::read::ZlibDecoder::new(raw.as_ref()).read_to_end(&mut out).unwrap(),
        Some("zstd") => {
            zstd::stream::read::Decoder::new(raw.as_ref()).unwrap().read_to_end(&mut out).unwrap()
        }
        Some(other) => panic!("unknown encoding {other}"),
    };
    Bytes::from(out)
}

/// Ends a connection from inside of a request.
#[derive(Default)]
struct Cut {
    pulled: Notify,
    reset: AtomicBool,
}

/// A socket that closes with RST where it is told so.
struct Resettable {
    stream: TcpStream,
    cut: Arc<Cut>,
}

impl Drop for Resettable {
    fn drop(&mut self) {
        if self.cut.reset.load(Ordering::SeqCst) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
