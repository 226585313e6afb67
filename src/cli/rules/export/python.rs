//! The rules as a Python module of its own: a table written here, and the code that works on it from `runtime.py`.

use std::fmt::Write as _;

use super::{left_out, portable};
use crate::redact::rules::{Group, Rule, RuleSet};
use crate::redact::validate::Validator;

/// What finds and replaces; it reads `RULES`.
const RUNTIME: &str = include_str!("runtime.py");

/// Checks that the runtime knows. Those that only confirm are needed nowhere.
const CHECKS: [&str; 6] = ["jwt", "basic", "has-digit", "mixed-case", "not-hex", "luhn"];

const HEAD: &str = "
What Blackbar finds and this does not: secrets in any encoding (escapes, percent, base64, hex, broken lines), secrets cut
off by the end of a text, and the values of secret-named pairs that no rule describes. Actions and lists of harmless values
are left out. Rules marked approximate stand for rules with tests that are no patterns (whether a word looks like a
password), so they find too much; `scrub(text, approximate=False)` leaves them out.
";

const IMPORTS: &str = "
import base64
import collections
import functools
import math
import re
import unicodedata

__all__ = [\"KINDS\", \"RULES\", \"Rule\", \"find\", \"scrub\"]
";

pub(super) fn module(rules: &RuleSet) -> String {
    let mut out = String::from("\"\"\"");
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(out, "The patterns of Blackbar {version} for use in a process: `scrub(text)`.");
    out.push_str(HEAD);
    let mut heading = "\nRules left out, since their patterns mean something else here:\n";
    for (rule, why) in left_out(rules) {
        let _ = writeln!(out, "{heading}  {}: {}", rule.id, why.replace(['\\', '"'], "'"));
        heading = "";
    }
    out.push_str("\"\"\"\n");
    out.push_str(IMPORTS);
    out.push_str(RUNTIME);
    out.push_str(
        "# kind, pattern, anchors, group, word_start, word_end, checks, approximate, rank, replacement\nRULES = [\n",
    );
    for rule in portable(rules) {
        line(&mut out, rule);
    }
    out.push_str("]\n\nKINDS = sorted({rule.kind for rule in RULES})\n");
    out
}

fn line(out: &mut String, rule: &Rule) {
    let anchors: Vec<String> = rule.anchors.iter().map(|a| literal(&a.to_ascii_lowercase())).collect();
    let group = match &rule.group {
        None => "0".to_owned(),
        Some(Group::Index(index)) => index.to_string(),
        Some(Group::Name(name)) => literal(name),
        Some(Group::First) => "None".to_owned(),
    };
    let checks: Vec<String> = rule.validate.iter().filter_map(check).collect();
    let approximate = rule.validate.iter().any(|test| test.rejects() && check(test).is_none());
    let _ = writeln!(
        out,
        "    Rule({}, {}, {}, {group}, {}, {}, {}, {}, {}, {}),",
        literal(&rule.kind),
        raw(&rule.whole_pattern()),
        tuple(&anchors),
        boolean(rule.word_start),
        boolean(rule.word_end),
        tuple(&checks),
        boolean(approximate),
        rule.specificity as u8,
        rule.replacement.as_deref().map_or_else(|| "None".to_owned(), literal),
    );
}

/// A check as the runtime takes it: its name, or the least entropy.
fn check(validator: &Validator) -> Option<String> {
    match validator {
        Validator::Entropy(least) => Some(format!("{least:?}")),
        other => CHECKS.contains(&other.name()).then(|| literal(other.name())),
    }
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn tuple(items: &[String]) -> String {
    match items {
        [] => "()".to_owned(),
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// A pattern as people write it, where Python can read that.
fn raw(pattern: &str) -> String {
    let quote = ["'", "\"", "'''", "\"\"\""]
        .into_iter()
        .find(|quote| !pattern.contains(quote) && !quote.starts_with(|q: char| pattern.ends_with(q)));
    match quote.filter(|_| !pattern.contains(char::is_control) && !pattern.ends_with('\\')) {
        Some(quote) => format!("r{quote}{pattern}{quote}"),
        None => literal(pattern),
    }
}

/// A Python string of this text, in ASCII.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            other => {
                let _ = write!(out, "\\U{:08x}", u32::from(other));
            }
        }
    }
    out.push('"');
    out
}
