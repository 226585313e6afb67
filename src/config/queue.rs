//! `sending_queue` of an exporter and the storage that it names (`extensions.file_storage`).
//!
//! A queue is durable or it is refused: in memory it would say "accepted" and lose the data when the process ends.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::problem::{Origin, Sink};
use super::remote::ReadExporter;
use super::section::{Located, Section};
use super::settings::PipelineSettings;
use crate::otlp::Signal;
use crate::queue::settings::{QueueSettings, Sizer, StorageSettings};

/// Where queues are kept unless told.
const DIRECTORY: &str = "/var/lib/blackbar";
/// The Collector's defaults.
const SIZE: usize = 1000;
const CONSUMERS: usize = 10;

/// A queue as it is written; its storage is looked up once the extensions are read.
#[derive(Debug, Clone)]
pub(crate) struct ReadQueue {
    storage: Located<String>,
    size: u64,
    sizer: Sizer,
    consumers: usize,
    block_on_overflow: bool,
}

/// The storages that the extensions define.
#[derive(Debug, Default)]
pub(crate) struct Storages {
    pub(crate) defined: BTreeMap<String, StorageSettings>,
    /// Those of them that `service.extensions` lists.
    pub(crate) started: Vec<String>,
}

/// Reads `sending_queue`. `None`: there is none, or a problem says what is wrong with it.
pub(crate) fn read(section: &mut Section<'_>) -> Option<ReadQueue> {
    let given = section.has("sending_queue");
    let mut queue = section.child("sending_queue");
    // Without `enabled` the Collector's queue is on.
    let enabled = queue.boolean("enabled", given);
    let storage = queue.plain_text("storage");
    let size = queue.count("queue_size", SIZE, 1 << 40) as u64;
    let sizers = [Sizer::Requests, Sizer::Items, Sizer::Bytes].map(|sizer| (sizer.as_str(), sizer));
    let sizer = queue.choice("sizer", Sizer::Requests, &sizers);
    let consumers = queue.count("num_consumers", CONSUMERS, 1 << 10);
    let block_on_overflow = queue.boolean("block_on_overflow", false);
    if !enabled {
        // Keys of the Collector's that we don't have do no harm to a queue that is off.
        queue.ignore_the_rest();
    }
    section.show("sending_queue", queue.finish());
    if !enabled {
        return None;
    }
    if storage.is_none() {
        let message = "a queue in memory is refused: it says \"accepted\" and loses the data when the process ends. \
                       Expected `storage: file_storage`, `enabled: false`, or no sending_queue";
        let origin = section.origin_of("sending_queue");
        section.problem(&origin, "sending_queue", message);
    }
    Some(ReadQueue { storage: storage?, size, sizer, consumers, block_on_overflow })
}

/// Reads one `file_storage` extension.
pub(crate) fn storage(extension: &mut Section<'_>) -> StorageSettings {
    let read = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    let show = |path: &PathBuf| path.display().to_string();
    let directory = extension.value("directory", PathBuf::from(DIRECTORY), "a directory", read, show);
    let create_directory = extension.boolean("create_directory", false);
    if !extension.boolean("fsync", true) {
        let message =
            "is not supported: a client is told \"accepted\" once its data is on disk; expected `true`";
        let origin = extension.origin_of("fsync");
        extension.problem(&origin, "fsync", message);
    }
    StorageSettings { directory, create_directory }
}

/// Joins the queues of the exporters in use with their storages, and refuses what must not be written to disk.
pub(crate) fn join(
    exporters: &BTreeMap<&String, &ReadExporter>,
    storages: &Storages,
    pipelines: &BTreeMap<Signal, PipelineSettings>,
    sink: &Sink,
) -> BTreeMap<String, QueueSettings> {
    let mut queues = BTreeMap::new();
    for (name, exporter) in exporters {
        let Some(queue) = &exporter.queue else { continue };
        let key = format!("exporters.{name}.sending_queue");
        for (signal, _) in pipelines.iter().filter(|(_, p)| p.exporter == **name && p.unsafe_no_scrub) {
            let message = format!(
                "pipeline {signal} has `unsafe_no_scrub: true`: what is not redacted is not written to disk"
            );
            sink.add(&queue.storage.origin, key.as_str(), message);
        }
        if let Some(storage) = find(&queue.storage, storages, &key, sink) {
            let ReadQueue { size, sizer, consumers, block_on_overflow, .. } = *queue;
            let settings =
                QueueSettings { storage: storage.clone(), size, sizer, consumers, block_on_overflow };
            queues.insert((*name).clone(), settings);
        }
    }
    queues
}

fn find<'a>(
    wanted: &Located<String>,
    storages: &'a Storages,
    key: &str,
    sink: &Sink,
) -> Option<&'a StorageSettings> {
    let problem = |origin: &Origin, message: String| sink.add(origin, format!("{key}.storage"), message);
    let name = &wanted.value;
    let Some(storage) = storages.defined.get(name) else {
        problem(&wanted.origin, format!("`{name}` is no file_storage that is defined under extensions"));
        return None;
    };
    if !storages.started.contains(name) {
        problem(&wanted.origin, format!("`{name}` is not started: service.extensions does not list it"));
    }
    Some(storage)
}
