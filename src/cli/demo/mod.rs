//! `blackbar demo`: the real proxy between a client and a recording backend, all in this process and on loopback ports
//! that the system chooses. Shows what went in, what came out, and what was counted; fails if a fake credential came
//! through. `examples` holds what is sent, `client` sends it, `show` prints.

mod client;
mod examples;
mod show;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use clap::Args;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{plural, print};
use crate::app::App;
use crate::config::{Env, Sources, load};
use crate::error::Error;
use crate::otlp::Signal;
use crate::otlp::json::{from_protobuf, to_protobuf};
use crate::pipeline::{Reply, Request};
use crate::receive::settings::{DoorSettings, LimitSettings};
use crate::receive::{self, Door, Handler, Limits};
use crate::telemetry::Metrics;

/// Show what Blackbar does: fake credentials in, redacted telemetry out
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar demo

Starts the proxy and a backend on free loopback ports, sends an agent's trace,
log and metric with fake credentials over OTLP/HTTP and OTLP/gRPC, and prints
both sides.
Exit codes: 0 nothing leaked, 1 otherwise.")]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(demonstrate())
}

async fn demonstrate() -> anyhow::Result<ExitCode> {
    let stop = CancellationToken::new();
    let (backend, address) = start_backend(stop.clone()).await?;
    let app = App::bind(load(&sources(&address), &Env::default())?.config).await?;
    let (grpc, http) = (listener(&app, "otlp/grpc")?, listener(&app, "otlp/http")?);
    let metrics = app.metrics();
    let proxy = tokio::spawn(app.run(stop.clone()));
    print(&format!("agent -> blackbar (gRPC {grpc}, HTTP {http}) -> backend {address}\n"))?;

    let examples = examples::all();
    for example in &examples {
        let signal = example.signal;
        let protobuf = to_protobuf(signal.request(), example.json.as_bytes())?;
        match example.via {
            client::Via::Json => client::http_json(&http, signal, example.json.clone()).await,
            client::Via::Protobuf => client::http_protobuf(&http, signal, protobuf.clone()).await,
            client::Via::Grpc => client::grpc(&grpc, signal, &protobuf).await,
        }
        .with_context(|| format!("sending the {signal}"))?;
        let received = backend.take().context("the backend got nothing")?;
        ensure!(received.signal == signal, "the backend got another signal");
        let before = from_protobuf(signal.request(), &protobuf)?;
        let after = from_protobuf(signal.request(), &received.body)?;
        print(&show::both(signal, example.via.as_str(), &before, &after)?)?;
        let leaked = example.credentials.iter().filter(|fake| contains(&received.body, fake)).count();
        ensure!(leaked == 0, "{leaked} credential{} came through", plural(leaked));
    }
    print(&show::counts(&metrics.render()))?;
    stop.cancel();
    proxy.await?;
    let sent: usize = examples.iter().map(|example| example.credentials.len()).sum();
    print(&format!("\n{sent} fake credentials went in, none came out.\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn sources(backend: &str) -> Sources {
    let pipeline = "{ receivers: [otlp], exporters: [otlp_grpc] }";
    let yaml = format!(
        "receivers: {{ otlp: {{ protocols: {{ grpc: {{ endpoint: '127.0.0.1:0' }}, http: {{ endpoint: '127.0.0.1:0' }} }} }} }}
exporters: {{ otlp_grpc: {{ endpoint: 'http://{backend}' }} }}
service:
  shutdown: {{ quiet: 0s, linger: 0s, drain: 1s }}
  pipelines: {{ traces: {pipeline}, logs: {pipeline}, metrics: {pipeline} }}"
    );
    Sources { files: vec![format!("yaml:{yaml}")], ..Sources::default() }
}

fn listener(app: &App, name: &str) -> anyhow::Result<String> {
    let found = app.addresses().find(|(listener, _)| *listener == name);
    found.map(|(_, address)| address.to_string()).with_context(|| format!("no listener {name}"))
}

fn contains(body: &[u8], credential: &str) -> bool {
    body.windows(credential.len()).any(|window| window == credential.as_bytes())
}

/// A backend of our own doors, which keeps what it gets.
#[derive(Debug, Default)]
struct Backend {
    received: Mutex<Vec<Received>>,
}

#[derive(Debug)]
struct Received {
    signal: Signal,
    body: Bytes,
}

impl Backend {
    fn take(&self) -> Option<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Handler for Backend {
    async fn handle(&self, request: Request) -> Result<Reply, Error> {
        let received = Received { signal: request.signal, body: request.payload.into_bytes() };
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(received);
        Ok(Reply::default())
    }
}

async fn start_backend(stop: CancellationToken) -> anyhow::Result<(Arc<Backend>, String)> {
    let socket = TcpListener::bind("127.0.0.1:0").await?;
    let address = socket.local_addr()?.to_string();
    let backend = Arc::new(Backend::default());
    // Always ready: the sender is dropped, and the last value stays.
    let (_, ready) = watch::channel(true);
    let door = Door {
        settings: DoorSettings { endpoint: address.clone(), max_body: 1 << 20 },
        handler: Arc::clone(&backend),
        limits: Limits::new(LimitSettings::default(), Arc::new(Metrics::default())),
        ready,
    };
    let shutdown = receive::Shutdown { stop, finish_within: Duration::from_secs(1) };
    tokio::spawn(receive::serve(socket, door, shutdown));
    Ok((backend, address))
}
