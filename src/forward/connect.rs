//! The way to a backend on the TCP side: straight, through a proxy's CONNECT tunnel, or to a proxy that forwards.
//!
//! TLS to the backend is a layer above; TLS to a proxy is done here.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{DefaultServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use super::proxy::Proxies;

/// Leaves room for a second try within a client's usual deadline of 10 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Finds idle connections that a NAT or load balancer dropped silently: after 30 s, then in three probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 3;
/// Finds busy ones, which keep-alive doesn't: a request that meets a dead HTTP/2 connection times out long before TCP
/// gives up, and the next would meet it again.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);

type Failure = Box<dyn Error + Send + Sync>;

/// Opens connections. Cheap to clone.
#[derive(Clone)]
pub(super) struct Route {
    tcp: HttpConnector,
    /// TCP, or TLS where the proxy's URL says `https`.
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Arc<Proxies>,
    /// gRPC can't be forwarded by an HTTP/1.1 proxy: it takes a tunnel without TLS too.
    always_tunnel: bool,
}

impl Route {
    /// `proxy_tls` is for proxies with an `https` URL.
    pub(super) fn new(proxies: Arc<Proxies>, proxy_tls: rustls::ClientConfig, always_tunnel: bool) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE_IDLE));
        tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_retries(Some(KEEPALIVE_PROBES));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let resolver = Arc::new(DefaultServerNameResolver::default());
        let to_proxy = HttpsConnector::new(tcp.clone(), proxy_tls, false, resolver);
        Self { tcp, to_proxy, proxies, always_tunnel }
    }

    /// The proxy that requests to this URL are handed to in absolute form.
    pub(super) fn forwarding_proxy(&self, destination: &Uri) -> Option<&Intercept> {
        if self.always_tunnel || is_https(destination) {
            return None;
        }
        self.proxies.on_the_way_to(destination)
    }

    async fn open(mut self, destination: Uri) -> Result<Leg, Failure> {
        let proxies = Arc::clone(&self.proxies);
        let Some(proxy) = proxies.on_the_way_to(&destination) else {
            let stream = MaybeHttpsStream::Http(self.tcp.call(destination).await?);
            return Ok(Leg { stream, absolute_form: false });
        };
        if self.forwarding_proxy(&destination).is_some() {
            let stream = self.to_proxy.call(proxy.uri().clone()).await?;
            return Ok(Leg { stream, absolute_form: true });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxy);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let stream = tunnel.call(with_port(destination)?).await.map_err(ProxyFailure::new)?;
        Ok(Leg { stream, absolute_form: false })
    }
}

impl Service<Uri> for Route {
    type Response = Leg;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Leg, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        Box::pin(self.clone().open(destination))
    }
}

/// No tunnel. The text says why, in fixed words.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct ProxyFailure {
    reason: String,
    source: Option<Failure>,
}

impl ProxyFailure {
    fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self { reason: format!("proxy: {error}"), source: Some(Box::new(error)) }
    }
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme() == Some(&http::uri::Scheme::HTTPS)
}

/// CONNECT needs a port; a URL may leave it out.
fn with_port(destination: Uri) -> Result<Uri, http::Error> {
    if destination.port().is_some() {
        return Ok(destination);
    }
    let port = if is_https(&destination) { 443 } else { 80 };
    let authority = format!("{}:{port}", destination.host().unwrap_or_default());
    let scheme = destination.scheme_str().unwrap_or("http");
    Uri::builder().scheme(scheme).authority(authority).path_and_query("/").build()
}

/// One connection, to the backend or to a proxy before it.
pub(super) struct Leg {
    stream: MaybeHttpsStream<TokioIo<TcpStream>>,
    absolute_form: bool,
}

impl Connection for Leg {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.absolute_form)
    }
}

impl Read for Leg {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl Write for Leg {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::forward::settings::ProxySettings;

    /// By the front door a proxy's certificate must be of a system CA.
    #[tokio::test]
    async fn an_https_proxy_is_spoken_to_in_tls() {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = rustls::pki_types::PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(cert.der().clone()).unwrap();
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let proxy = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = TlsAcceptor::from(Arc::new(server)).accept(stream).await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            String::from_utf8(head).unwrap()
        });
        let settings = ProxySettings { https: Some(url.into()), ..ProxySettings::default() };
        let proxies = Arc::new(Proxies::new(&settings).unwrap());
        assert!(proxies.want_tls());
        let mut route = Route::new(proxies, client, false);
        let leg = route.call(Uri::from_static("https://[2001:db8::1]/v1/traces")).await.unwrap();
        assert!(!leg.absolute_form);
        assert!(proxy.await.unwrap().starts_with("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n"));
    }
}
