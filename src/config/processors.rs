//! `processors`: how the scrubber scrubs. `batch` and `memory_limiter` are accepted by name only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::components::{Context, components, type_of};
use super::problem::Origin;
use super::section::{Located, Section, unknown};
use super::settings::ScrubSettings;
use crate::redact::policy::{CONTENT_ATTRIBUTES, ContentAction, Policy, Scope};
use crate::redact::rules::{NAMED_PAIR_KIND, RuleSet};

/// The types that we have.
pub(crate) const TYPES: &[&str] = &["scrub", "batch", "memory_limiter"];

/// The name of the processor that is implied in every pipeline.
pub(crate) const IMPLIED: &str = "scrub";

/// The largest rule file, in bytes.
const MAX_RULE_FILE: u64 = 16 << 20;

/// How many bytes of a content attribute `truncate` leaves, unless told.
const MAX_CONTENT: usize = 4096;

/// Reads the section: the settings of each `scrub` processor, the implied one included.
pub(crate) fn read(top: &mut Section<'_>, context: &Context<'_>) -> BTreeMap<String, Arc<ScrubSettings>> {
    let mut section = top.child("processors");
    let mut scrubs = BTreeMap::new();
    let mut names = components(&section, "processor", TYPES);
    if !section.has(IMPLIED) {
        names.insert(0, Located { value: IMPLIED.to_owned(), origin: Origin::Default });
    }
    for name in names {
        let mut processor = section.child(&name.value);
        match type_of(&name.value) {
            "scrub" => {
                let settings = scrub(&mut processor, &name.value, context);
                scrubs.insert(name.value.clone(), Arc::new(settings));
            }
            "batch" => {
                processor.ignore_the_rest();
                context.notice(format!(
                    "processor {} has no effect: a request is answered after the backend has it, so it is not held back",
                    name.value
                ));
            }
            _ => {
                processor.ignore_the_rest();
                context.notice(format!(
                    "processor {} has no effect: memory is bounded by service.limits.max_in_flight_bytes",
                    name.value
                ));
            }
        }
        section.show(&name.value, processor.finish());
    }
    section.ignore_the_rest(); // The strange ones have been reported.
    top.show("processors", section.finish());
    scrubs
}

fn scrub(section: &mut Section<'_>, name: &str, context: &Context<'_>) -> ScrubSettings {
    let scope = section.choice(
        "scope",
        Scope::default(),
        &[("everywhere", Scope::Everywhere), ("listed", Scope::Listed)],
    );
    let content_attributes =
        section.list("content_attributes", CONTENT_ATTRIBUTES).into_iter().map(|a| a.value).collect();
    let action = section.choice(
        "content_action",
        ContentAction::default(),
        &[
            ("scrub", ContentAction::Scrub),
            ("mask", ContentAction::Mask),
            ("drop", ContentAction::Drop),
            ("truncate", ContentAction::Truncate(MAX_CONTENT)),
        ],
    );
    section.expect(&["content_max_bytes"]);
    let content_action = match action {
        ContentAction::Truncate(_) => {
            ContentAction::Truncate(section.count("content_max_bytes", MAX_CONTENT, 1 << 30))
        }
        other if section.has("content_max_bytes") => {
            let origin = section.origin_of("content_max_bytes");
            section.problem(&origin, "content_max_bytes", "only counts with `content_action: truncate`");
            other
        }
        other => other,
    };
    let policy = Policy { scope, content_attributes, content_action };

    let mut rules = section.child("rules");
    let mut set = if rules.boolean("builtin", true) { RuleSet::builtin() } else { RuleSet::empty() };
    for file in rules.list("files", &[]) {
        match read_rules(&file, context) {
            Ok(more) => set.extend(more),
            Err(problems) => {
                for (origin, message) in problems {
                    context.sink.add(&origin, rules.path_of("files"), message);
                }
            }
        }
    }
    let disable = rules.list("disable", &[]);
    section.show("rules", rules.finish());

    let mut allow = section.child("allow");
    let sha256 = allow.list("sha256", &[]);
    let patterns = allow.list("patterns", &[]);
    for item in &sha256 {
        spare(&mut set, "sha256", item, &allow);
    }
    for item in &patterns {
        spare(&mut set, "patterns", item, &allow);
    }
    section.show("allow", allow.finish());

    let mut kinds: Vec<String> = set.rules().iter().map(|rule| rule.kind.to_string()).collect();
    kinds.extend(set.rules().iter().map(|rule| rule.id.to_string()));
    kinds.push(NAMED_PAIR_KIND.to_owned());
    let names: Vec<&str> = disable.iter().map(|d| d.value.as_str()).collect();
    for missing in set.disable(&names) {
        let origin = disable.iter().find(|d| d.value == missing).map(|d| d.origin.clone());
        let message = unknown("kind of rule", missing, kinds.iter().map(String::as_str));
        section.problem(&origin.unwrap_or(Origin::Default), "rules.disable", message);
    }
    ScrubSettings { name: name.to_owned(), policy, rules: set }
}

/// Spares one known harmless value. The rule loader reads it, as it does in a rule file, so that there is one judge of
/// what is allowed.
fn spare(set: &mut RuleSet, key: &str, item: &Located<String>, section: &Section<'_>) {
    let document = serde_json::json!({ "allow": { key: [item.value] } }).to_string();
    match RuleSet::from_yaml(key, &document) {
        Ok(allowed) => set.extend(allowed),
        Err(errors) => {
            for error in errors.0 {
                section.problem(&item.origin, key, error.message);
            }
        }
    }
}

/// Reads a rule file, relative to the configuration file that names it.
fn read_rules(file: &Located<String>, context: &Context<'_>) -> Result<RuleSet, Vec<(Origin, String)>> {
    let path = relative_to(&file.origin, &file.value, context);
    let shown = path.display().to_string();
    let at_list = |message: String| vec![(file.origin.clone(), message)];
    let size =
        std::fs::metadata(&path).map_err(|e| at_list(format!("rule file {shown} cannot be read: {e}")))?;
    if size.len() > MAX_RULE_FILE {
        return Err(at_list(format!("rule file {shown} is larger than {MAX_RULE_FILE} bytes")));
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|e| at_list(format!("rule file {shown} cannot be read: {e}")))?;
    RuleSet::from_yaml(&shown, &text).map_err(|errors| {
        let place = |error: &crate::redact::rules::RuleError| Origin::File {
            name: Arc::clone(&error.origin.file),
            line: error.origin.line,
            column: 1,
        };
        errors.0.iter().map(|error| (place(error), error.message.clone())).collect()
    })
}

fn relative_to(origin: &Origin, path: &str, context: &Context<'_>) -> PathBuf {
    let directory = match origin {
        Origin::File { name, .. } => context.directories.get(&**name).map(PathBuf::as_path),
        _ => None,
    };
    directory.unwrap_or(Path::new("")).join(path)
}
