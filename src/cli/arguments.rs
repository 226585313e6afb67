//! Arguments that several commands share: where the configuration comes from.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::config::{Env, Loaded, Origin, Problem, Problems, ScrubSettings, Sources, load};
use crate::redact::rules::RuleSet;

/// `--config` and what is tolerated besides it.
#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    /// Configuration: FILE, file:FILE, env:NAME (text in a variable) or yaml:TEXT. May be repeated; later ones win
    #[arg(long, value_name = "SOURCE")]
    config: Vec<String>,
    /// Accepted for the OpenTelemetry Collector's sake; has no effect
    #[arg(long, value_name = "GATES", hide = true, require_equals = false)]
    feature_gates: Vec<String>,
}

impl ConfigArguments {
    /// The sources that these arguments name.
    pub(super) fn sources(&self) -> Sources {
        Sources { files: self.config.clone(), ..Sources::default() }
    }

    /// Whether `--feature-gates` was given.
    pub(super) fn feature_gates(&self) -> bool {
        !self.feature_gates.is_empty()
    }

    /// Loads the configuration for a command that forwards nothing: without a file, the backend doesn't matter.
    pub(super) fn load_without_backend(&self) -> Result<Loaded, Problems> {
        load(&Sources { without_backend: true, ..self.sources() }, &Env::of_process())
    }
}

/// Which rules a command works with.
#[derive(Debug, Args)]
pub(super) struct RuleArguments {
    /// Rule files to use besides those of the configuration
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
}

impl RuleArguments {
    /// The settings of the configuration, with the rules of the files on top.
    pub(super) fn load(&self) -> anyhow::Result<ScrubSettings> {
        let config = self.config.load_without_backend()?.config;
        let mut settings = ScrubSettings::clone(&config.scrub);
        let mut problems = Vec::new();
        for file in &self.rules {
            let name = file.display().to_string();
            let text = fs::read_to_string(file).with_context(|| name.clone())?;
            match RuleSet::from_yaml(&name, &text) {
                Ok(more) => settings.rules.extend(more),
                Err(errors) => problems.extend(errors.0.into_iter().map(|error| Problem {
                    origin: Origin::File { name: error.origin.file, line: error.origin.line, column: 1 },
                    key: String::new(),
                    message: error.message,
                })),
            }
        }
        if problems.is_empty() { Ok(settings) } else { Err(Problems(problems).into()) }
    }
}

/// What `run` may be told, and `check` and `print-config` with it.
#[derive(Debug, Args)]
pub(super) struct ProxyArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Listen here for OTLP/gRPC (HTTP too) [default: 127.0.0.1:4317]
    #[arg(long, value_name = "HOST:PORT")]
    grpc_endpoint: Option<String>,
    /// Listen here for OTLP/HTTP (gRPC too) [default: 127.0.0.1:4318]
    #[arg(long, value_name = "HOST:PORT")]
    http_endpoint: Option<String>,
    /// Send everything to stdout or file=PATH, as OTLP JSON lines, instead of to a backend
    #[arg(long, value_name = "EXPORTER")]
    exporter: Option<String>,
    /// How much to log: trace, debug, info, warn, error or off [default: info]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
}

impl ProxyArguments {
    /// Loads the configuration with these flags on top.
    pub(super) fn load(&self) -> Result<Loaded, Problems> {
        let sources = Sources {
            grpc_endpoint: self.grpc_endpoint.clone(),
            http_endpoint: self.http_endpoint.clone(),
            exporter: self.exporter.clone(),
            log_level: self.log_level.clone(),
            ..self.config.sources()
        };
        load(&sources, &Env::of_process())
    }

    /// Whether `--feature-gates` was given.
    pub(super) fn feature_gates(&self) -> bool {
        self.config.feature_gates()
    }
}
