//! `blackbar check`: is the configuration right? Tells every problem at once, and what would be said at a start.

use std::process::ExitCode;

use clap::Args;

use super::arguments::ProxyArguments;
use super::{print, say_notices};
use crate::app;

/// Check the configuration and tell every problem with its place
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar check --config relay.yaml
  OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4317 blackbar check

Rule files that the configuration names are read too.
Exit codes: 0 it is right, 78 it is not.")]
pub(super) struct Arguments {
    #[command(flatten)]
    proxy: ProxyArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let config = arguments.proxy.load()?.config;
    for pipeline in config.pipelines.values() {
        app::redactor(&pipeline.scrub)?;
    }
    say_notices(&config.notices);
    print("the configuration is right\n")?;
    Ok(ExitCode::SUCCESS)
}
