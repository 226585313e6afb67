//! `blackbar print-config`: what counts in the end, and where each value came from.

use std::process::ExitCode;

use clap::Args;

use super::arguments::ProxyArguments;
use super::print;

/// Print the effective configuration with the origin of each value; secrets are masked
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar print-config --config relay.yaml
  blackbar print-config --config base.yaml --config site.yaml --log-level debug
  blackbar print-config --exporter stdout   every default

The output is itself a configuration, masked values apart.")]
pub(super) struct Arguments {
    #[command(flatten)]
    proxy: ProxyArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    print(&arguments.proxy.load()?.to_yaml())?;
    Ok(ExitCode::SUCCESS)
}
