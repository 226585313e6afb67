//! The validated configuration: what the rest of the program is told. Nothing here can be wrong any more, and `Debug`
//! shows no credential.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::forward::settings::ExporterSettings;
use crate::otlp::{Protocol, Signal};
use crate::queue::settings::QueueSettings;
use crate::receive::settings::{DoorSettings, LimitSettings};
use crate::redact::policy::Policy;
use crate::redact::rules::RuleSet;
use crate::telemetry::logs::LogSettings;

/// Everything that a proxy needs to run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The listeners.
    pub doors: Vec<Door>,
    /// Bounds shared by all listeners.
    pub limits: LimitSettings,
    /// Exporters that a pipeline uses, by their names in the configuration.
    pub exporters: BTreeMap<String, ExporterSettings>,
    /// The queues of those of them that have one.
    pub queues: BTreeMap<String, QueueSettings>,
    /// The path of each signal that is accepted. A signal that is missing has no backend.
    pub pipelines: BTreeMap<Signal, PipelineSettings>,
    /// The settings of the processor named `scrub`, or the defaults: what commands without a pipeline redact by.
    pub scrub: Arc<ScrubSettings>,
    /// The health endpoint, if there is one.
    pub health: Option<HealthSettings>,
    /// A separate `host:port` that serves Prometheus metrics, as the Collector's `service.telemetry.metrics` has it.
    pub metrics_endpoint: Option<String>,
    /// Our own log.
    pub log: LogSettings,
    /// How the process ends.
    pub shutdown: ShutdownSettings,
    /// Time between two runs of the self-canary.
    pub canary_interval: Duration,
    /// What should be said in the log at each start: settings that have no effect here, pipelines that do not scrub.
    pub notices: Vec<Notice>,
}

/// One listener.
#[derive(Debug, Clone)]
pub struct Door {
    /// Its key in the configuration, `otlp/grpc`.
    pub name: String,
    /// The protocol of that key. Both ports serve both.
    pub protocol: Protocol,
    /// What it may be told.
    pub settings: DoorSettings,
}

/// The path of one signal.
#[derive(Debug, Clone)]
pub struct PipelineSettings {
    /// A key of [`Config::exporters`].
    pub exporter: String,
    /// How it scrubs.
    pub scrub: Arc<ScrubSettings>,
    /// It does not scrub at all; said at each start.
    pub unsafe_no_scrub: bool,
}

/// What one `scrub` processor was told.
#[derive(Clone)]
pub struct ScrubSettings {
    /// Its key in the configuration: `scrub` or `scrub/<name>`.
    pub name: String,
    /// Where and how hard.
    pub policy: Policy,
    /// What is a secret: the built-in rules and the operator's, less those switched off.
    pub rules: RuleSet,
    /// Services that are spared some of it.
    pub spared: Vec<SparedService>,
}

/// A service that some kinds do not count for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparedService {
    /// `service.name` of its resource.
    pub name: String,
    /// Kinds or ids of rules.
    pub kinds: Vec<String>,
}

// By hand: hundreds of rules would bury everything else.
impl fmt::Debug for ScrubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScrubSettings")
            .field("name", &self.name)
            .field("policy", &self.policy)
            .field("rules", &self.rules.rules().len())
            .field("spared", &self.spared)
            .finish()
    }
}

/// The health endpoint (`extensions.health_check`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthSettings {
    /// `host:port` to bind.
    pub endpoint: String,
    /// The path that answers whether the process is live, besides `/healthz`.
    pub path: String,
}

/// How the process ends after SIGTERM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownSettings {
    /// Stop accepting after this long without a request.
    pub quiet: Duration,
    /// Stop accepting after this long in any case.
    pub linger: Duration,
    /// Then wait this long for requests in flight.
    pub drain: Duration,
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(3),
            linger: Duration::from_secs(20),
            drain: Duration::from_secs(10),
        }
    }
}

/// A remark for the log at start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// It deserves a warning, not just a line.
    pub warning: bool,
    /// What to say.
    pub message: String,
}
