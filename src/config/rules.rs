//! Of a `scrub` processor: what is a secret, what is harmless, and what becomes of what is found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::components::Context;
use super::node::{Node, Value};
use super::problem::Origin;
use super::section::{Located, MASK, Section, unknown};
use super::settings::SparedService;
use crate::redact::action::{ACTIONS, Action, HmacKey, LEAST_KEY};
use crate::redact::policy::Policy;
use crate::redact::replacements;
use crate::redact::rules::{NAMED_PAIR_KIND, RuleErrors, RuleSet};

/// The largest rule file, in bytes.
const MAX_RULE_FILE: u64 = 16 << 20;

/// Reads the keys about rules: what counts, and the services that some of it does not count for.
pub(crate) fn read(
    section: &mut Section<'_>,
    policy: &Policy,
    context: &Context<'_>,
) -> (RuleSet, Vec<SparedService>) {
    let mut rules = section.child("rules");
    let mut set = if rules.boolean("builtin", true) { RuleSet::builtin() } else { RuleSet::empty() };
    let mut taken: Vec<String> = Vec::new();
    for pack in rules.list("packs", &[]) {
        // `pii` holds the others.
        let held = taken.contains(&pack.value)
            || (taken.iter().any(|name| name == "pii") && pack.value.starts_with("pii"));
        match RuleSet::optional(&pack.value) {
            Some(_) if held => {}
            Some(more) => set.extend(more),
            None => {
                let message = unknown("pack", &pack.value, RuleSet::optional_packs());
                rules.problem(&pack.origin, "packs", message);
            }
        }
        taken.push(pack.value);
    }
    for file in rules.list("files", &[]) {
        match read_file(&file, context) {
            Ok(more) => set.extend(more),
            Err(problems) => {
                for (origin, message) in problems {
                    context.sink.add(&origin, rules.path_of("files"), message);
                }
            }
        }
    }
    for file in rules.list("gitleaks", &[]) {
        let read = read_text(&file, context)
            .and_then(|(name, text)| RuleSet::from_gitleaks(&name, &text).map_err(|errors| placed(&errors)));
        match read {
            Ok((more, notes)) => {
                set.extend(more);
                for note in notes {
                    let message = format!("{}:{}: {}", note.origin.file, note.origin.line, note.message);
                    if note.left_out { context.warning(message) } else { context.notice(message) }
                }
            }
            Err(problems) => {
                for (origin, message) in problems {
                    context.sink.add(&origin, rules.path_of("gitleaks"), message);
                }
            }
        }
    }
    let disable = rules.list("disable", &[]);
    let chosen = actions(&mut rules, &mut set);
    section.show("rules", rules.finish());
    let (spared, spared_kinds) = allow(section, &mut set);

    let known: Vec<String> = names(&set).map(str::to_owned).collect();
    let told = |missing: &str, list: &[Located<String>], key: &str| {
        let origin = list.iter().find(|name| name.value == missing).map(|name| name.origin.clone());
        let message = unknown("kind of rule", missing, known.iter().map(String::as_str));
        section.problem(&origin.unwrap_or(Origin::Default), key, message);
    };
    let by_name: Vec<(&str, Action)> =
        chosen.iter().map(|(name, action)| (name.value.as_str(), *action)).collect();
    let chosen: Vec<Located<String>> = chosen.iter().map(|(name, _)| name.clone()).collect();
    for missing in set.set_actions(&by_name) {
        told(missing, &chosen, &format!("rules.actions.{missing}"));
    }
    let disabled: Vec<&str> = disable.iter().map(|name| name.value.as_str()).collect();
    for missing in set.disable(&disabled) {
        told(missing, &disable, "rules.disable");
    }
    for kind in spared_kinds.iter().filter(|kind| !known.contains(&kind.value)) {
        told(&kind.value, &spared_kinds, "allow.services");
    }
    hmac_key(section, &mut set, policy);
    for problem in replacements::problems(&set) {
        let message = format!("{}: {}", problem.kind, problem.message);
        context.sink.add(&place(&problem.origin), "rules.files", message);
    }
    (set, spared)
}

/// Every name that a rule can be called by.
fn names(set: &RuleSet) -> impl Iterator<Item = &str> {
    set.rules().iter().flat_map(|rule| [&*rule.kind, &*rule.id]).chain([NAMED_PAIR_KIND])
}

/// The default action, and those of single kinds or ids.
fn actions(rules: &mut Section<'_>, set: &mut RuleSet) -> Vec<(Located<String>, Action)> {
    set.set_default_action(rules.choice("action", Action::default(), &ACTIONS));
    let mut chosen = rules.child("actions");
    let names = chosen.keys();
    let actions =
        names.into_iter().map(|name| (name.clone(), chosen.choice(&name.value, Action::default(), &ACTIONS)));
    let actions = actions.collect();
    rules.show("actions", chosen.finish());
    actions
}

fn hmac_key(section: &mut Section<'_>, set: &mut RuleSet, policy: &Policy) {
    const KEY: &str = "hmac_key";
    match section.text(KEY) {
        Some(key) => {
            section.show(KEY, Node::literal(MASK, key.origin.clone()));
            match HmacKey::new(key.value.text.into()) {
                Some(key) => set.set_hmac_key(key),
                None => section.problem(
                    &key.origin,
                    KEY,
                    format!("is shorter than {LEAST_KEY} bytes, so that it could be guessed"),
                ),
            }
        }
        None if section.has(KEY) => {}
        None => {
            let wanted = match set.lacks_key() {
                Some(kind) => format!("`{kind}` has the action hmac"),
                None if policy.wants_tags() => "an attribute has the action hmac".to_owned(),
                None => return,
            };
            let origin = section.origin.clone();
            section.problem(&origin, KEY, format!("is missing: {wanted}"));
        }
    }
}

/// Known harmless values go into the set; services, and the kinds that they name, are given back.
fn allow(section: &mut Section<'_>, set: &mut RuleSet) -> (Vec<SparedService>, Vec<Located<String>>) {
    let mut allow = section.child("allow");
    let sha256 = allow.list("sha256", &[]);
    let patterns = allow.list("patterns", &[]);
    for item in &sha256 {
        spare(set, "sha256", item, &allow);
    }
    for item in &patterns {
        spare(set, "patterns", item, &allow);
    }
    let services = services(&mut allow);
    section.show("allow", allow.finish());
    services
}

fn services(allow: &mut Section<'_>) -> (Vec<SparedService>, Vec<Located<String>>) {
    const KEY: &str = "services";
    let nodes = allow.nodes(KEY);
    let list_origin = if allow.has(KEY) { allow.origin_of(KEY) } else { Origin::Default };
    let mut spared: Vec<SparedService> = Vec::new();
    let mut all_kinds = Vec::new();
    let mut shown = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let mut item = allow.item(KEY, index, node);
        let origin = item.origin.clone();
        let name = item.plain_text("name");
        let kinds = item.list("kinds", &[]);
        if name.is_none() && !item.has("name") {
            item.problem(&origin, "name", "is missing");
        }
        if kinds.is_empty() {
            item.problem(
                &origin,
                "kinds",
                "must list the kinds that the service is spared, each by its name",
            );
        }
        if let Some(name) = name {
            if spared.iter().any(|other| other.name == name.value) {
                item.problem(&name.origin, "name", "names a service a second time");
            }
            let kinds = kinds.iter().map(|kind| kind.value.clone()).collect();
            spared.push(SparedService { name: name.value, kinds });
        }
        all_kinds.extend(kinds);
        shown.push(item.finish());
    }
    allow.show(KEY, Node { value: Value::List(shown), origin: list_origin });
    (spared, all_kinds)
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
fn read_file(file: &Located<String>, context: &Context<'_>) -> Result<RuleSet, Misplaced> {
    let (name, text) = read_text(file, context)?;
    RuleSet::from_yaml(&name, &text).map_err(|errors| placed(&errors))
}

/// Problems with their places.
type Misplaced = Vec<(Origin, String)>;

/// The name of a file for messages, and its text.
fn read_text(file: &Located<String>, context: &Context<'_>) -> Result<(String, String), Misplaced> {
    let path = relative_to(&file.origin, &file.value, context);
    let shown = path.display().to_string();
    let at_list = |message: String| vec![(file.origin.clone(), message)];
    let cannot = |error: std::io::Error| at_list(format!("rule file {shown} cannot be read: {error}"));
    let size = std::fs::metadata(&path).map_err(cannot)?;
    if size.len() > MAX_RULE_FILE {
        return Err(at_list(format!("rule file {shown} is larger than {MAX_RULE_FILE} bytes")));
    }
    let text = std::fs::read_to_string(&path).map_err(cannot)?;
    Ok((shown, text))
}

fn placed(errors: &RuleErrors) -> Misplaced {
    errors.0.iter().map(|error| (place(&error.origin), error.message.clone())).collect()
}

fn place(origin: &crate::redact::rules::Origin) -> Origin {
    Origin::File { name: Arc::clone(&origin.file), line: origin.line, column: 1 }
}

fn relative_to(origin: &Origin, path: &str, context: &Context<'_>) -> PathBuf {
    let directory = match origin {
        Origin::File { name, .. } => context.directories.get(&**name).map(PathBuf::as_path),
        _ => None,
    };
    directory.unwrap_or(Path::new("")).join(path)
}
