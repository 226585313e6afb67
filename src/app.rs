//! Settings -> bind -> run -> drain: the life of a proxy process.
//!
//! Parts build themselves; this file only puts them together and ends them in order. Reads no configuration and parses
//! no signal numbers: `cli` gives it a [`Config`] and says when to stop.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::join_all;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::admin::canary::{self, RedactFn};
use crate::admin::{self, Health};
use crate::config::{Config, PipelineSettings, ScrubSettings, ShutdownSettings};
use crate::forward::{BuildError, Exporter, Outlet, Queued, Redactors};
use crate::otlp::{Payload, Signal};
use crate::pipeline::{Lane, Pipeline, Scrub};
use crate::queue::{OpenError, Queue, Storage, StorageError};
use crate::receive::{self, Door, Limits};
use crate::redact::{CompileError, Redactor, Service, TextScrubber};
use crate::telemetry::Metrics;

/// Why a proxy could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A listener could not be opened.
    #[error("cannot listen on {endpoint} ({name})")]
    Bind {
        /// The listener's name.
        name: String,
        /// What it should have bound.
        endpoint: String,
        /// Why not.
        source: io::Error,
    },
    /// An exporter could not be built.
    #[error(transparent)]
    Exporter(#[from] BuildError),
    /// The directory of a `file_storage` can't be used.
    #[error("file_storage: {0}")]
    Storage(#[from] StorageError),
    /// A queue could not be opened.
    #[error(transparent)]
    Queue(#[from] OpenError),
    /// The rules could not be compiled.
    #[error(transparent)]
    Rules(#[from] CompileError),
}

/// A proxy whose listeners are open and whose parts are built, but which does not accept yet.
#[derive(Debug)]
pub struct App {
    doors: Vec<(Listener, Door<Pipeline>)>,
    limits: Arc<Limits>,
    admin: Vec<(Listener, AdminPage)>,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    redactors: Vec<Arc<Redactor>>,
    queues: Vec<(Arc<Queued>, Redactors)>,
    canary_interval: Duration,
    shutdown: ShutdownSettings,
}

#[derive(Debug)]
struct Listener {
    name: String,
    address: SocketAddr,
    socket: TcpListener,
}

#[derive(Debug)]
enum AdminPage {
    Health { path: String },
    MetricsOnly,
}

impl App {
    /// Builds every part and opens every listener.
    ///
    /// # Errors
    ///
    /// [`StartError`] names the part and the reason.
    pub async fn bind(config: Config) -> Result<Self, StartError> {
        let metrics = Arc::new(Metrics::default());
        let health = Arc::new(Health::default());
        let exporters = outlets(&config, &metrics, &health)?;
        let limits = Limits::new(config.limits, Arc::clone(&metrics));
        let (lanes, redactors) = lanes(&config.pipelines, &exporters)?;
        let queues = queues(&config.pipelines, &exporters, &lanes);
        let pipeline = Arc::new(Pipeline::new(lanes, Arc::clone(&metrics), Arc::clone(&health)));

        let mut doors = Vec::new();
        for door in config.doors {
            let listener = listen(door.name, &door.settings.endpoint).await?;
            let (handler, limits) = (Arc::clone(&pipeline), Arc::clone(&limits));
            doors.push((listener, Door { settings: door.settings, handler, limits, ready: health.watch() }));
        }
        let mut admin = Vec::new();
        if let Some(settings) = config.health {
            let listener = listen("health_check".to_owned(), &settings.endpoint).await?;
            admin.push((listener, AdminPage::Health { path: settings.path }));
        }
        if let Some(endpoint) = config.metrics_endpoint {
            admin.push((listen("metrics".to_owned(), &endpoint).await?, AdminPage::MetricsOnly));
        }
        let (canary_interval, shutdown) = (config.canary_interval, config.shutdown);
        Ok(Self { doors, limits, admin, health, metrics, redactors, queues, canary_interval, shutdown })
    }

    /// Name and address of every listener, as bound.
    pub fn addresses(&self) -> impl Iterator<Item = (&str, SocketAddr)> {
        let doors = self.doors.iter().map(|(listener, _)| listener);
        let admin = self.admin.iter().map(|(listener, _)| listener);
        doors.chain(admin).map(|listener| (listener.name.as_str(), listener.address))
    }

    /// The counters.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }

    /// Serves until `stop`, then drains: not ready, accept until clients are quiet, finish what is in flight.
    pub async fn run(self, stop: CancellationToken) {
        for (name, address) in self.addresses() {
            tracing::info!(name, %address, "listening");
        }
        let Self { doors, limits, admin, health, metrics, redactors, queues, canary_interval, shutdown } =
            self;

        // Admin and canary outlive the doors: probes are answered, and redaction is watched, to the last request.
        let (close_doors, end) = (CancellationToken::new(), CancellationToken::new());
        let mut background = JoinSet::new();
        for (listener, page) in admin {
            let state = admin::State { health: Arc::clone(&health), metrics: Arc::clone(&metrics) };
            let (socket, end) = (listener.socket, end.clone());
            background.spawn(async move {
                match page {
                    AdminPage::Health { path } => admin::serve(socket, path, state, end).await,
                    AdminPage::MetricsOnly => admin::serve_metrics(socket, state, end).await,
                }
            });
        }
        if redactors.is_empty() {
            // Every pipeline says unsafe_no_scrub: there is no redactor to check.
            health.canary_passed();
        } else {
            let redact = every_redactor(redactors);
            canary::check_and_tell(redact.as_ref(), &health, &metrics);
            let (health, metrics, end) = (Arc::clone(&health), Arc::clone(&metrics), end.clone());
            background.spawn(canary::run(redact, canary_interval, health, metrics, end));
        }

        let (end_delivery, mut deliveries) = (CancellationToken::new(), JoinSet::new());
        for (queued, redactors) in &queues {
            deliveries.spawn(Arc::clone(queued).deliver(redactors.clone(), end_delivery.clone()));
        }

        let mut open = JoinSet::new();
        for (listener, door) in doors {
            let close = receive::Shutdown { stop: close_doors.clone(), finish_within: shutdown.drain };
            open.spawn(receive::serve(listener.socket, door, close));
        }
        health.set_serving();
        tracing::info!("ready");

        stop.cancelled().await;
        let linger_until = Instant::now() + shutdown.linger;
        health.set_draining();
        tracing::info!("draining: accepting until clients are quiet");
        limits.quiet(shutdown.quiet, shutdown.linger).await;
        close_doors.cancel();
        let mut cut = 0;
        while let Some(closed) = open.join_next().await {
            cut += closed.unwrap_or_default();
        }
        if cut > 0 {
            tracing::warn!(connections = cut, "requests were still in flight at the end of the drain time");
        }
        // Nothing comes any more. What the time does not suffice for is on disk for the next start.
        let all_delivered = join_all(queues.iter().map(|(queued, _)| queued.empty()));
        let _ = timeout_at(linger_until, all_delivered).await;
        end_delivery.cancel();
        let _ = timeout(shutdown.drain, async { while deliveries.join_next().await.is_some() {} }).await;
        deliveries.shutdown().await;
        for (queued, _) in &queues {
            queued.close().await;
        }
        end.cancel();
        while background.join_next().await.is_some() {}
        tracing::info!("stopped");
    }
}

async fn listen(name: String, endpoint: &str) -> Result<Listener, StartError> {
    let opened = async {
        let socket = TcpListener::bind(endpoint).await?;
        Ok((socket.local_addr()?, socket))
    };
    match opened.await {
        Ok((address, socket)) => Ok(Listener { name, address, socket }),
        Err(source) => Err(StartError::Bind { name, endpoint: endpoint.to_owned(), source }),
    }
}

/// The exporters in use, those with a queue behind it.
fn outlets(
    config: &Config,
    metrics: &Arc<Metrics>,
    health: &Arc<Health>,
) -> Result<HashMap<String, Arc<Outlet>>, StartError> {
    let mut storages: HashMap<PathBuf, Arc<Storage>> = HashMap::new();
    let mut outlets = HashMap::new();
    for (name, settings) in &config.exporters {
        let Some(queue) = config.queues.get(name) else {
            let exporter = Exporter::new(name, settings, Arc::clone(metrics))?;
            outlets.insert(name.clone(), Arc::new(Outlet::Direct(exporter)));
            continue;
        };
        let storage = match storages.get(&queue.storage.directory) {
            Some(storage) => Arc::clone(storage),
            None => Arc::new(Storage::open(&queue.storage)?),
        };
        storages.insert(queue.storage.directory.clone(), Arc::clone(&storage));
        let opened = Queue::open(name, queue, storage, Arc::clone(metrics), Arc::clone(health))?;
        let parts = (opened, queue.consumers);
        let queued = Queued::new(name, settings, parts, Arc::clone(metrics), Arc::clone(health))?;
        outlets.insert(name.clone(), Arc::new(Outlet::Queued(Arc::new(queued))));
    }
    for path in storages.values().flat_map(|storage| storage.unclaimed()) {
        tracing::warn!(path = %path.display(), "holds the queue of an exporter that is not used: it is not delivered");
    }
    Ok(outlets)
}

/// The exporters with a queue, and what scrubs what they read back.
fn queues(
    pipelines: &BTreeMap<Signal, PipelineSettings>,
    exporters: &HashMap<String, Arc<Outlet>>,
    lanes: &Lanes,
) -> Vec<(Arc<Queued>, Redactors)> {
    let mut queues = Vec::new();
    for (name, outlet) in exporters {
        let Outlet::Queued(queued) = &**outlet else { continue };
        let mut redactors = Redactors::new();
        for (signal, _) in pipelines.iter().filter(|(_, pipeline)| pipeline.exporter == *name) {
            if let Some(Lane { scrub: Scrub::With(redactor), .. }) = lanes.get(signal) {
                redactors.insert(*signal, Arc::clone(redactor));
            }
        }
        queues.push((Arc::clone(queued), redactors));
    }
    queues
}

type Lanes = HashMap<Signal, Lane>;

/// One redactor for each `scrub` processor in use, shared by the pipelines that name it.
fn lanes(
    pipelines: &BTreeMap<Signal, PipelineSettings>,
    exporters: &HashMap<String, Arc<Outlet>>,
) -> Result<(Lanes, Vec<Arc<Redactor>>), StartError> {
    let mut by_name: HashMap<&str, Arc<Redactor>> = HashMap::new();
    let mut lanes = HashMap::new();
    for (&signal, pipeline) in pipelines {
        // The configuration is validated: an exporter that a pipeline names exists.
        let Some(exporter) = exporters.get(&pipeline.exporter) else { continue };
        let scrub = if pipeline.unsafe_no_scrub {
            Scrub::UnsafeNone
        } else {
            let redactor = match by_name.get(pipeline.scrub.name.as_str()) {
                Some(redactor) => Arc::clone(redactor),
                None => Arc::new(redactor(&pipeline.scrub)?),
            };
            by_name.insert(&pipeline.scrub.name, Arc::clone(&redactor));
            Scrub::With(redactor)
        };
        lanes.insert(signal, Lane { scrub, exporter: Arc::clone(exporter) });
    }
    Ok((lanes, by_name.into_values().collect()))
}

/// Compiles what one `scrub` processor was told.
///
/// # Errors
///
/// [`CompileError`] names the rule that does not compile.
pub fn redactor(settings: &ScrubSettings) -> Result<Redactor, CompileError> {
    let services = settings.spared.iter().map(|service| {
        let mut rules = settings.rules.clone();
        let kinds: Vec<&str> = service.kinds.iter().map(String::as_str).collect();
        rules.disable(&kinds);
        Ok(Service { name: service.name.clone(), scrubber: TextScrubber::new(rules)? })
    });
    let services = services.collect::<Result<_, CompileError>>()?;
    let scrubber = TextScrubber::new(settings.rules.clone())?;
    Ok(Redactor::new(scrubber, settings.policy.clone()).with_services(services))
}

/// What the self-canary goes through: every live redactor; it must survive in none.
fn every_redactor(redactors: Vec<Arc<Redactor>>) -> Arc<RedactFn> {
    Arc::new(move |signal: Signal, payload: Payload| -> Option<Bytes> {
        let mut all = BytesMut::new();
        for redactor in &redactors {
            all.extend_from_slice(redactor.redact(signal, payload.clone()).ok()?.body());
        }
        Some(all.freeze())
    })
}
