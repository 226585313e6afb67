//! `blackbar healthcheck`: asks the health endpoint of a running proxy. Plain sockets, so that it works in an image that
//! holds nothing but this binary.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use http::Uri;

use super::arguments::ConfigArguments;
use super::print;

/// The longest reply that is read, in bytes.
const MAX_REPLY: u64 = 16 << 10;

/// Ask a running proxy whether it is healthy
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar healthcheck                        the default, 127.0.0.1:13133
  blackbar healthcheck --config relay.yaml    where its health_check listens
  blackbar healthcheck --endpoint 127.0.0.1:13133/readyz
                                              is it ready, not only alive?

Exit codes: 0 healthy, 1 not healthy or not there, 78 wrong configuration.")]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Ask here instead of where the configuration says: HOST:PORT, with a path or without
    #[arg(long, value_name = "HOST:PORT[/PATH]")]
    endpoint: Option<String>,
    /// Wait at most this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let (endpoint, path) = match &arguments.endpoint {
        Some(given) => split(given)?,
        None => {
            let health = arguments.config.load_without_backend()?.config.health;
            let health = health.context("the configuration has no health endpoint (service.extensions)")?;
            (reachable(&health.endpoint), health.path)
        }
    };
    let reply = ask(&endpoint, &path, Duration::from_secs(arguments.timeout))
        .with_context(|| format!("{endpoint}{path}"))?;
    let status = reply.split(' ').nth(1).unwrap_or_default();
    ensure!(reply.starts_with("HTTP/1.") && status.len() == 3, "{endpoint}{path}: not an HTTP reply");
    ensure!(status == "200", "{endpoint}{path}: not healthy, status {status}");
    print("healthy\n")?;
    Ok(ExitCode::SUCCESS)
}

fn split(given: &str) -> anyhow::Result<(String, String)> {
    let url = if given.contains("://") { given.to_owned() } else { format!("http://{given}") };
    let uri: Uri = url.parse().context("--endpoint: expected HOST:PORT or HOST:PORT/PATH")?;
    let (Some("http"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        bail!("--endpoint: expected HOST:PORT or HOST:PORT/PATH");
    };
    let endpoint = match authority.port() {
        Some(_) => authority.to_string(),
        None => format!("{authority}:80"),
    };
    Ok((endpoint, uri.path().to_owned()))
}

/// Where to reach a listener: one on all interfaces is on loopback too.
fn reachable(endpoint: &str) -> String {
    match endpoint.rsplit_once(':') {
        Some(("0.0.0.0", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => endpoint.to_owned(),
    }
}

fn ask(endpoint: &str, path: &str, timeout: Duration) -> anyhow::Result<String> {
    let until = Instant::now() + timeout;
    let left = || until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut refused = None;
    for address in endpoint.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left()) {
            Ok(mut stream) => {
                stream.set_write_timeout(Some(left()))?;
                stream.set_read_timeout(Some(left()))?;
                let request = format!("GET {path} HTTP/1.1\r\nHost: {endpoint}\r\nConnection: close\r\n\r\n");
                stream.write_all(request.as_bytes())?;
                return first_line(stream);
            }
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) => Err(error.into()),
        None => bail!("no such host"),
    }
}

fn first_line(stream: TcpStream) -> anyhow::Result<String> {
    let mut reply = Vec::new();
    let mut piece = [0; 512];
    let mut stream = stream.take(MAX_REPLY);
    while !reply.contains(&b'\n') {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            break;
        }
        reply.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
    let line = reply.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).trim_end().to_owned())
}
