//! `service.pipelines`: one path per signal. Every pipeline scrubs, unless it says `unsafe_no_scrub: true`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::components::{Context, type_of};
use super::exporters;
use super::processors::{self, IMPLIED};
use super::receivers::{self, ReadDoor};
use super::remote::ReadExporter;
use super::section::{Located, Section, unknown};
use super::settings::{PipelineSettings, ScrubSettings};
use crate::otlp::Signal;

/// The components that pipelines may name.
pub(crate) struct Parts<'a> {
    pub(crate) receivers: &'a BTreeMap<String, Vec<ReadDoor>>,
    pub(crate) scrubs: &'a BTreeMap<String, Arc<ScrubSettings>>,
    pub(crate) exporters: &'a BTreeMap<String, ReadExporter>,
    /// Keys of each section, also of components that could not be made: they are defined, and have their own problem.
    pub(crate) defined: Defined,
}

/// The names that each section defines.
pub(crate) struct Defined {
    pub(crate) receivers: Vec<String>,
    pub(crate) processors: Vec<String>,
    pub(crate) exporters: Vec<String>,
}

/// What the pipelines come to.
pub(crate) struct Pipelines {
    pub(crate) by_signal: BTreeMap<Signal, PipelineSettings>,
    /// The receivers that are used.
    pub(crate) receivers: BTreeSet<String>,
}

/// Reads the section. `required`: that there is none is a problem.
pub(crate) fn read(
    service: &mut Section<'_>,
    parts: &Parts<'_>,
    context: &Context<'_>,
    required: bool,
) -> Pipelines {
    let present = service.has("pipelines");
    let mut section = service.child("pipelines");
    let mut out = Pipelines { by_signal: BTreeMap::new(), receivers: BTreeSet::new() };
    let mut seen = BTreeSet::new();
    let mut first: Option<(String, BTreeSet<String>)> = None;
    for name in section.keys() {
        let Some(signal) = Signal::ALL.into_iter().find(|s| s.as_str() == type_of(&name.value)) else {
            section.node(&name.value);
            let signals = Signal::ALL.map(Signal::as_str);
            let message = unknown("signal", type_of(&name.value), signals.into_iter());
            section.problem(&name.origin, &name.value, message);
            continue;
        };
        let mut pipeline = section.child(&name.value);
        let receivers = receivers(&mut pipeline, parts);
        let settings = pipeline_settings(&mut pipeline, &name, signal, parts, context);
        section.show(&name.value, pipeline.finish());
        match &first {
            None => first = Some((name.value.clone(), receivers.clone())),
            Some((other, theirs)) if *theirs != receivers && !receivers.is_empty() => {
                let message = format!(
                    "other receivers than pipeline {other}; expected the same: every listener serves all signals"
                );
                section.problem(&name.origin, &format!("{}.receivers", name.value), message);
            }
            Some(_) => {}
        }
        out.receivers.extend(receivers);
        if !seen.insert(signal) {
            let message = format!("a second pipeline for {signal}; expected one per signal");
            section.problem(&name.origin, &name.value, message);
        } else if let Some(settings) = settings {
            out.by_signal.insert(signal, settings);
        }
    }
    if required && first.is_none() && section.keys().is_empty() {
        let origin = if present { service.origin_of("pipelines") } else { service.origin.clone() };
        let message = "no pipeline; expected e.g. `traces: { receivers: [otlp], exporters: [otlp_grpc] }`";
        service.problem(&origin, "pipelines", message);
    }
    service.show("pipelines", section.finish());
    unused(parts, &out, context);
    out
}

fn receivers(pipeline: &mut Section<'_>, parts: &Parts<'_>) -> BTreeSet<String> {
    let names = pipeline.list("receivers", &[]);
    if names.is_empty() {
        let origin = pipeline.origin_of("receivers");
        pipeline.problem(&origin, "receivers", "names no receiver");
    }
    let mut used = BTreeSet::new();
    for name in names {
        refer(pipeline, "receivers", &name, &parts.defined.receivers, receivers::TYPES);
        used.insert(name.value);
    }
    used
}

fn pipeline_settings(
    pipeline: &mut Section<'_>,
    name: &Located<String>,
    signal: Signal,
    parts: &Parts<'_>,
    context: &Context<'_>,
) -> Option<PipelineSettings> {
    let unsafe_no_scrub = pipeline.boolean("unsafe_no_scrub", false);
    let scrub = scrub(pipeline, unsafe_no_scrub, parts);
    let exporter = exporter(pipeline, parts);
    if unsafe_no_scrub {
        let path = pipeline.path_of("unsafe_no_scrub");
        context.warning(format!("{path}: pipeline {} forwards everything UNREDACTED", name.value));
    }
    let exporter = exporter?;
    let read = parts.exporters.get(&exporter.value)?;
    if read.only.as_ref().is_some_and(|only| !only.contains(&signal)) {
        let message = format!(
            "exporter {} has no endpoint for {signal}; expected endpoint or {signal}_endpoint",
            exporter.value
        );
        pipeline.problem(&exporter.origin, "exporters", message);
    }
    Some(PipelineSettings { exporter: exporter.value, scrub: scrub?, unsafe_no_scrub })
}

fn scrub(pipeline: &mut Section<'_>, off: bool, parts: &Parts<'_>) -> Option<Arc<ScrubSettings>> {
    let default: &[&str] = if off { &[] } else { &[IMPLIED] };
    let names = pipeline.list("processors", default);
    let mut chosen: Option<Located<String>> = None;
    for name in names {
        // `scrub` is there without being defined: it is implied.
        if name.value != IMPLIED {
            refer(pipeline, "processors", &name, &parts.defined.processors, processors::TYPES);
        }
        if type_of(&name.value) != IMPLIED {
            continue;
        }
        if off {
            let message = format!("{} and `unsafe_no_scrub: true` contradict each other", name.value);
            pipeline.problem(&name.origin, "processors", message);
        }
        if chosen.is_some() {
            pipeline.problem(&name.origin, "processors", "expected one scrub processor");
        }
        chosen = Some(name);
    }
    parts.scrubs.get(chosen.as_ref().map_or(IMPLIED, |name| &name.value)).map(Arc::clone)
}

fn exporter(pipeline: &mut Section<'_>, parts: &Parts<'_>) -> Option<Located<String>> {
    let mut names = pipeline.list("exporters", &[]);
    for name in &names {
        refer(pipeline, "exporters", name, &parts.defined.exporters, exporters::TYPES);
    }
    match names.len() {
        1 => names.pop(),
        0 => {
            let origin = pipeline.origin_of("exporters");
            pipeline.problem(&origin, "exporters", "names no exporter");
            None
        }
        _ => {
            let origin = pipeline.origin_of("exporters");
            let message = "expected one exporter per pipeline: the client is told what the backend said, and two \
                           may say different things";
            pipeline.problem(&origin, "exporters", message);
            None
        }
    }
}

/// Checks that a component is defined.
fn refer(pipeline: &Section<'_>, key: &str, name: &Located<String>, defined: &[String], have: &[&str]) {
    if defined.contains(&name.value) {
        return;
    }
    let message = if have.contains(&type_of(&name.value)) {
        let known = if defined.is_empty() { "nothing".to_owned() } else { defined.join(", ") };
        format!("`{}` is not defined under {key}; defined: {known}", name.value)
    } else {
        format!("`{}` is not defined, and there is no such type; there is: {}", name.value, have.join(", "))
    };
    pipeline.problem(&name.origin, key, message);
}

fn unused(parts: &Parts<'_>, out: &Pipelines, context: &Context<'_>) {
    if out.by_signal.is_empty() {
        return;
    }
    let unused = |what: &str, name: &str| {
        context.notice(format!("{what} {name} is not used: no pipeline names it"));
    };
    for name in parts.receivers.keys().filter(|name| !out.receivers.contains(*name)) {
        unused("receiver", name);
    }
    for name in parts.exporters.keys() {
        if !out.by_signal.values().any(|p| p.exporter == *name) {
            unused("exporter", name);
        }
    }
    for name in parts.scrubs.keys().filter(|name| *name != IMPLIED) {
        if !out.by_signal.values().any(|p| p.scrub.name == *name) {
            unused("processor", name);
        }
    }
    for signal in Signal::ALL {
        if !out.by_signal.contains_key(&signal) {
            context.notice(format!("{signal} are not accepted: no pipeline takes them"));
        }
    }
}
