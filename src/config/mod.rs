//! What the file, the environment and flags may say, made into validated settings.
//!
//! ```text
//!   files ─┐ (yaml)
//!   BLACKBAR__* ─┼─> one tree of nodes ──> expand ──> read each section ──> Config
//!   flags ─┘ (sources)   (node)          ${...}      (types, defaults,       and the effective tree
//!   OTEL_* without a file                             unknown keys)          that print-config shows
//! ```
//!
//! Every step notes problems in one list: a start reports all mistakes at once, each with its place. This is the only
//! module that reads the environment. It opens no listener and no connection; only the loop check may look up a name.

mod components;
mod duration;
mod env;
mod expand;
mod exporters;
mod headers;
mod loops;
mod node;
mod otel;
mod pipelines;
mod policy;
mod print;
mod problem;
mod processors;
mod queue;
mod receivers;
mod remote;
mod rules;
mod section;
mod service;
mod settings;
mod sources;
mod url;
mod yaml;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use env::Env;
pub use problem::{Origin, Problem, Problems};
pub use settings::{
    Config, Door, HealthSettings, Notice, PipelineSettings, ScrubSettings, ShutdownSettings, SparedService,
};
pub use sources::Sources;

use components::Context;
use node::Node;
use pipelines::{Defined, Parts, Pipelines};
use problem::Sink;
use receivers::ReadDoor;
use remote::ReadExporter;
use section::Section;

/// A valid configuration, and what it looks like with all defaults.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    effective: Node,
}

impl Loaded {
    /// The effective configuration as YAML, with a comment per line on where the value came from. Secrets are masked.
    pub fn to_yaml(&self) -> String {
        print::to_yaml(&self.effective)
    }
}

/// Reads and checks the whole configuration.
///
/// # Errors
///
/// All problems at once, in the order of the sections.
pub fn load(sources: &Sources, env: &Env) -> Result<Loaded, Problems> {
    let sink = Sink::default();
    let mut directories = HashMap::new();
    let with_file = !sources.files.is_empty();
    let tree = if with_file {
        sources::documents(sources, env, &mut directories, &sink)
    } else {
        let mut tree = service::without_file();
        // A flag that says where to send wins over the variables: they are not even looked at. Nor are they by a
        // command that sends nothing.
        if sources.exporter.is_none() && !sources.without_backend {
            tree.overlay(otel::layer(env, &sink));
        }
        Some(tree)
    };
    let Some(mut tree) = tree else { return Err(sink.into_problems()) };
    sources::variables(&mut tree, env, &sink);
    sources::flags(&mut tree, sources, &sink);
    if !with_file {
        sources::complete(&mut tree);
    }
    expand::expand(&mut tree, "", env, &sink);
    let (config, effective) = read(&tree, sources, env, &Context::new(&sink, &directories, with_file));
    match config {
        Some(config) if sink.is_empty() => Ok(Loaded { config, effective }),
        _ => Err(sink.into_problems()),
    }
}

/// Reads every section. `None`: something could not be made, and a problem says why.
fn read(tree: &Node, sources: &Sources, env: &Env, context: &Context<'_>) -> (Option<Config>, Node) {
    let sink = context.sink;
    let mut top = Section::open(Some(tree), "", &tree.origin, sink);
    let receivers = receivers::read(&mut top, context);
    let scrubs = processors::read(&mut top, context);
    let exporters = exporters::read(&mut top, context, &otel::proxies(env, sink));
    let mut service = top.child("service");
    let (health, storages) = service::extensions(&mut top, &mut service, context);
    let rest = service::read(&mut service);
    let parts =
        Parts { receivers: &receivers, scrubs: &scrubs, exporters: &exporters, defined: defined(tree) };
    let pipelines = pipelines::read(&mut service, &parts, context, context.with_file);
    top.show("service", service.finish());
    let effective = top.finish();

    if !context.with_file
        && !sources.without_backend
        && sources.exporter.is_none()
        && pipelines.by_signal.is_empty()
        && exporters.is_empty()
    {
        sink.add(&Origin::Default, "", NO_BACKEND);
    }
    let (doors, used) = in_use(&receivers, &exporters, &pipelines);
    check_doors(&doors, rest.limits.max_in_flight_bytes, sink);
    loops::check(&doors, &used, sink);
    let queues = queue::join(&used, &storages, &pipelines.by_signal, sink);

    let exporters = used.into_iter().map(|(name, read)| (name.clone(), read.settings.clone())).collect();
    let doors = doors.into_iter().map(|read| read.door.clone()).collect();
    let config = scrubs.get(processors::IMPLIED).map(|scrub| Config {
        doors,
        limits: rest.limits,
        exporters,
        queues,
        pipelines: pipelines.by_signal,
        scrub: Arc::clone(scrub),
        health,
        metrics_endpoint: rest.metrics_endpoint,
        log: rest.log,
        shutdown: rest.shutdown,
        canary_interval: rest.canary_interval,
        notices: context.take_notices(),
    });
    (config, effective)
}

const NO_BACKEND: &str = "no backend: set OTEL_EXPORTER_OTLP_ENDPOINT to its URL, such as http://collector:4317, \
                          or name a configuration file with --config, or print with --exporter stdout";

fn defined(tree: &Node) -> Defined {
    let keys = |section: &str| {
        let map = tree.at(&[section]).and_then(Node::as_map);
        map.map(|map| map.0.iter().map(|e| e.key.clone()).collect()).unwrap_or_default()
    };
    Defined { receivers: keys("receivers"), processors: keys("processors"), exporters: keys("exporters") }
}

type InUse<'a> = (Vec<&'a ReadDoor>, BTreeMap<&'a String, &'a ReadExporter>);

/// The doors and exporters that some pipeline names.
fn in_use<'a>(
    receivers: &'a BTreeMap<String, Vec<ReadDoor>>,
    exporters: &'a BTreeMap<String, ReadExporter>,
    pipelines: &Pipelines,
) -> InUse<'a> {
    let doors =
        receivers.iter().filter(|(name, _)| pipelines.receivers.contains(*name)).flat_map(|(_, doors)| doors);
    let named = |name: &str| pipelines.by_signal.values().any(|p| p.exporter == name);
    (doors.collect(), exporters.iter().filter(|(name, _)| named(name)).collect())
}

/// Two doors can't share an address, and a body must fit into what may be in flight.
fn check_doors(doors: &[&ReadDoor], max_in_flight: usize, sink: &Sink) {
    for (i, read) in doors.iter().enumerate() {
        let (name, settings) = (&read.door.name, &read.door.settings);
        if settings.max_body > max_in_flight {
            let message = format!(
                "accepts bodies of {} bytes, more than service.limits.max_in_flight_bytes ({max_in_flight})",
                settings.max_body
            );
            sink.add(&read.origin, format!("receiver {name}"), message);
        }
        let earlier = doors.iter().take(i);
        let system_chosen = settings.endpoint.ends_with(":0");
        for other in
            earlier.filter(|other| other.door.settings.endpoint == settings.endpoint && !system_chosen)
        {
            let message = format!("listens on {}, as {} does", settings.endpoint, other.door.name);
            sink.add(&read.origin, format!("receiver {name}"), message);
        }
    }
}
