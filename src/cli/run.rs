//! `blackbar run`: the proxy itself, from its configuration to its end on SIGTERM.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::FAILED;
use super::arguments::ProxyArguments;
use crate::app::App;
use crate::config::Config;
use crate::telemetry::logs;

/// Run the proxy (also without a subcommand)
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4317 blackbar run
  blackbar run --config relay.yaml --config site.yaml
  blackbar run --exporter stdout       print redacted OTLP JSON lines instead
  blackbar run --exporter file=/tmp/out.jsonl --grpc-endpoint 127.0.0.1:14317

Without a file, the backend comes from the standard OTEL_EXPORTER_OTLP_*
variables. Any key can be set by a variable BLACKBAR__SECTION__KEY, such as
BLACKBAR__SERVICE__SHUTDOWN__QUIET=1s.
Precedence: flags, BLACKBAR__ variables, files, defaults.
SIGTERM drains: accept until clients are quiet, finish what is in flight,
exit 0. A second signal ends at once.")]
pub(super) struct Arguments {
    #[command(flatten)]
    proxy: ProxyArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let config = arguments.proxy.load()?.config;
    logs::init(&config.log)?;
    if arguments.proxy.feature_gates() {
        tracing::info!("--feature-gates has no effect");
    }
    for notice in &config.notices {
        match notice.warning {
            true => tracing::warn!("{}", notice.message),
            false => tracing::info!("{}", notice.message),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new().context("cannot listen for signals")?;
    let app = App::bind(config).await?;
    let stop = CancellationToken::new();
    let life = app.run(stop.clone());
    tokio::pin!(life);
    tokio::select! {
        () = &mut life => return Ok(ExitCode::SUCCESS),
        () = signals.next() => stop.cancel(),
    }
    tokio::select! {
        () = life => Ok(ExitCode::SUCCESS),
        () = signals.next() => {
            tracing::warn!("a second signal: ending at once, requests in flight are cut");
            Ok(ExitCode::from(FAILED))
        }
    }
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
