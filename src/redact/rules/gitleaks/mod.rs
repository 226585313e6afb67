//! Reads a configuration of gitleaks: its rules become rules of ours, and what can't is told.
//!
//! A gitleaks rule searches where one of its keywords stands anywhere in the text; so does ours, and closer by where the
//! pattern can't match without one. Paths and commits mean nothing in telemetry: what hangs on them is left out, always so
//! that more is found rather than less. Reads a tree whose nodes know their places, as `load` does.

mod allowlists;
mod pattern;
mod tree;

use std::sync::Arc;

use self::tree::{Entries, Tree};
use super::rule::{Confidence, Group, Mode, Origin, Rule, Specificity};
use super::set::{RuleError, RuleErrors, RuleSet};
use super::shape;
use super::spare::SpareList;
use crate::redact::marker;
use crate::redact::validate::Validator;

/// What became of a part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it stands.
    pub origin: Origin,
    /// What does not count here, and why.
    pub message: String,
    /// A whole rule is missing.
    pub left_out: bool,
}

/// Keys of a rule that are read or mean nothing.
const RULE_KEYS: &[&str] = &[
    "id",
    "description",
    "regex",
    "secretGroup",
    "entropy",
    "keywords",
    "allowlist",
    "allowlists",
    "path",
    "tags",
    "skipReport",
    "report",
];
const FILE_KEYS: &[&str] = &[
    "title",
    "description",
    "extend",
    "rules",
    "allowlist",
    "allowlists",
    "minVersion",
    "betterleaksMinVersion",
];

/// Reads a file. `source_name` stands in messages.
///
/// # Errors
///
/// If it is not TOML, with the line; what is TOML and doesn't fit is left out and noted.
pub(super) fn load(source_name: &str, toml: &str) -> Result<(RuleSet, Vec<Note>), RuleErrors> {
    let file: Arc<str> = Arc::from(source_name);
    let tree = Tree::parse(toml).map_err(|(line, message)| {
        RuleErrors(vec![RuleError { origin: Origin { file: Arc::clone(&file), line }, message }])
    })?;
    let mut import = Import { file, notes: Vec::new() };
    let rules = import.file(tree.root());
    Ok((RuleSet::of(rules), import.notes))
}

struct Import {
    file: Arc<str>,
    notes: Vec<Note>,
}

impl Import {
    fn file(&mut self, entries: Entries<'_>) -> Vec<Rule> {
        self.unknown(&entries, FILE_KEYS, "the file");
        self.extend(&entries);
        let shared = self.shared_lists(&entries);
        let mut rules: Vec<Rule> = Vec::new();
        for item in entries.tables("rules") {
            let Some(mut rule) = self.rule(&item) else { continue };
            if rules.iter().any(|other| other.id == rule.id) {
                self.left_out(item.line(), format!("a second rule `{}`", rule.id));
                continue;
            }
            let id = rule.id.clone();
            let lists =
                shared.iter().filter(|(targets, _)| targets.is_empty() || targets.iter().any(|t| **t == *id));
            rule.spare.extend(lists.map(|(_, list)| list.clone()));
            rules.push(rule);
        }
        rules
    }

    fn extend(&mut self, entries: &Entries<'_>) {
        let Some(extend) = entries.table("extend") else { return };
        let line = extend.line();
        if extend.boolean("useDefault") == Some(true) {
            self.note(
                line,
                "[extend] useDefault: gitleaks' own rules are not loaded; Blackbar's stand in their place",
            );
        }
        for key in ["path", "url"] {
            if extend.has(key) {
                self.note(line, format!("[extend] {key}: is not followed; list that file too"));
            }
        }
        if extend.has("disabledRules") {
            self.note(
                line,
                "[extend] disabledRules: there is nothing of gitleaks' to switch off; see rules.disable",
            );
        }
    }

    fn rule(&mut self, entries: &Entries<'_>) -> Option<Rule> {
        let line = entries.line();
        let Some(id) = entries.text("id").filter(|id| !id.is_empty()) else {
            self.left_out(line, "a rule without an `id`");
            return None;
        };
        let named = format!("rule `{id}`");
        self.unknown(entries, RULE_KEYS, &named);
        if entries.boolean("skipReport") == Some(true) || entries.boolean("report") == Some(false) {
            self.left_out(line, format!("{named}: it reports nothing by itself"));
            return None;
        }
        let Some(go) = entries.text("regex").filter(|regex| !regex.is_empty()) else {
            self.left_out(line, format!("{named}: it has no regex, and telemetry has no paths"));
            return None;
        };
        if entries.has("path") {
            self.note(line, format!("{named}: counts everywhere, since telemetry has no paths"));
        }
        let pattern = pattern::translate(go);
        let hir = match pattern::compile(&pattern) {
            Ok(hir) => hir,
            Err(why) => {
                self.left_out(line, format!("{named}: its regex does not compile: {why}"));
                return None;
            }
        };
        if hir.properties().minimum_len().unwrap_or(0) == 0 {
            self.left_out(line, format!("{named}: its regex matches the empty text"));
            return None;
        }
        let groups = hir.properties().explicit_captures_len();
        let group = match entries.integer("secretGroup") {
            Some(number) if number > 0 => Some(Group::Index(number)),
            _ => match groups {
                0 => None,
                1 => Some(Group::Index(1)),
                _ => Some(Group::First),
            },
        };
        if matches!(&group, Some(Group::Index(number)) if *number > groups) {
            self.left_out(line, format!("{named}: its regex has no group of the number `secretGroup`"));
            return None;
        }
        let folded = pattern::folded(&hir);
        let (anchors, before) = self.anchors(entries, &folded, &named);
        let number = match &group {
            Some(Group::Index(number)) => u32::try_from(*number).ok(),
            _ => None,
        };
        // A secret that begins with its vendor's sign needs no name beside it.
        let own_form = group != Some(Group::First)
            && pattern::secret(&folded, number).is_some_and(|secret| pattern::literals(secret).is_some());
        let entropy = entries.number("entropy").filter(|bits| *bits > 0.0);
        Some(Rule {
            id: Arc::from(id),
            kind: Arc::from(kind_of(id)),
            description: entries.text("description").unwrap_or(id).to_owned(),
            source: None,
            confidence: if own_form { Confidence::Confident } else { Confidence::Contextual },
            anchors,
            ignore_case: false,
            pattern,
            group,
            before_anchor: before,
            before_secret: usize::MAX,
            ends_with_secret: false,
            word_start: false,
            word_end: false,
            integers: false,
            validate: entropy.map(Validator::Entropy).into_iter().collect(),
            mode: Mode::Active,
            action: None,
            replacement: None,
            specificity: if own_form { Specificity::KnownFormat } else { Specificity::Contextual },
            cut: None,
            preceded_by: None,
            spare: self.lists(entries, &named),
            examples: Vec::new(),
            counterexamples: Vec::new(),
            origin: Origin { file: Arc::clone(&self.file), line },
        })
    }

    /// The literals to look for first, and how far before one a match may begin.
    fn anchors(
        &mut self,
        entries: &Entries<'_>,
        folded: &regex_syntax::hir::Hir,
        named: &str,
    ) -> (Vec<String>, usize) {
        let keywords = entries.texts("keywords");
        let keywords: Vec<String> =
            keywords.into_iter().filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
        if !keywords.is_empty() {
            // A keyword that need not stand in the match may stand anywhere: then the whole text is searched.
            let before = shape::depth_of(folded, &keywords).unwrap_or(usize::MAX);
            return (keywords, before);
        }
        match pattern::literals(folded) {
            Some(found) => (found.texts, found.before),
            None => {
                let message = "has no keywords and no literal in its regex, so every text is searched: slow";
                self.note(entries.line(), format!("{named}: {message}"));
                (Vec::new(), 0)
            }
        }
    }

    fn lists(&mut self, entries: &Entries<'_>, named: &str) -> Vec<SpareList> {
        let old = entries.table("allowlist").into_iter();
        let lists: Vec<Entries<'_>> = old.chain(entries.tables("allowlists")).collect();
        lists.iter().filter_map(|list| allowlists::read(self, list, named)).collect()
    }

    /// The lists of the file, each with the rules that it counts for; none: for all.
    fn shared_lists(&mut self, entries: &Entries<'_>) -> Vec<(Vec<String>, SpareList)> {
        let old = entries.table("allowlist").into_iter();
        let lists: Vec<Entries<'_>> = old.chain(entries.tables("allowlists")).collect();
        let read = lists.iter().filter_map(|list| {
            let targets = list.texts("targetRules").into_iter().map(str::to_owned).collect();
            Some((targets, allowlists::read(self, list, "the file")?))
        });
        read.collect()
    }

    fn unknown(&mut self, entries: &Entries<'_>, known: &[&str], what: &str) {
        for (key, line) in entries.keys().filter(|(key, _)| !known.contains(key)) {
            self.note(line, format!("{what}: `{key}` has no effect here"));
        }
    }

    fn note(&mut self, line: usize, message: impl Into<String>) {
        self.add(line, message.into(), false);
    }

    fn left_out(&mut self, line: usize, message: impl Into<String>) {
        self.add(line, format!("left out: {}", message.into()), true);
    }

    fn add(&mut self, line: usize, message: String, left_out: bool) {
        let origin = Origin { file: Arc::clone(&self.file), line };
        self.notes.push(Note { origin, message, left_out });
    }
}

/// A kind made of an id: its words, cut to what a kind's words may be.
fn kind_of(id: &str) -> String {
    const LONGEST: usize = 48;
    let lower = id.to_ascii_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if marker::is_kind(word.as_bytes()) {
            words.push(word.to_owned());
            continue;
        }
        let mut bytes = word.as_bytes();
        while let Some(first) = bytes.first() {
            let same = |b: &&u8| b.is_ascii_digit() == first.is_ascii_digit();
            let run = bytes.iter().take_while(same).count();
            let (part, rest) = bytes.split_at(run.min(if first.is_ascii_digit() { 4 } else { 16 }));
            words.push(String::from_utf8_lossy(part).into_owned());
            bytes = rest;
        }
    }
    let mut kind = String::new();
    for word in words {
        let joined = if kind.is_empty() { word } else { format!("{kind}-{word}") };
        if joined.len() > LONGEST {
            break;
        }
        kind = joined;
    }
    if kind.is_empty() { "gitleaks".to_owned() } else { kind }
}

#[cfg(test)]
mod tests {
    use super::kind_of;
    use crate::redact::marker::is_kind;

    #[test]
    fn any_id_makes_a_kind() {
        for (id, kind) in [
            ("aws-access-token", "aws-access-token"),
            ("1password-secret-key", "1-password-secret-key"),
            ("My_Org.Token v2", "my-org-token-v2"),
            ("sha256abc", "sha-256-abc"),
            ("internationalizationservice", "internationaliza-tionservice"),
            ("123456", "1234-56"),
            ("!!!", "gitleaks"),
            ("aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-cccccccccccccccc", "aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb"),
        ] {
            assert_eq!(kind_of(id), kind);
            assert!(is_kind(kind.as_bytes()), "{kind}");
        }
    }
}
