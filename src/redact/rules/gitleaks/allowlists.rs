//! Allowlists: what of them can be judged on a text.

use super::tree::Entries;
use super::{Import, pattern};
use crate::redact::rules::load::bytes_regex;
use crate::redact::rules::spare::{SpareList, SpareTarget};

const KEYS: &[&str] =
    &["description", "condition", "regexes", "regexTarget", "stopwords", "paths", "commits", "targetRules"];

/// Reads one list. `None`: nothing of it counts here.
pub(super) fn read(import: &mut Import, list: &Entries<'_>, named: &str) -> Option<SpareList> {
    let line = list.line();
    import.unknown(list, KEYS, &format!("an allowlist of {named}"));
    let all = list.text("condition").is_some_and(|word| word.eq_ignore_ascii_case("and") || word == "&&");
    let unjudged: Vec<&str> = ["paths", "commits"].into_iter().filter(|key| list.has(key)).collect();
    if !unjudged.is_empty() {
        import.note(line, format!("an allowlist of {named}: no {} in telemetry", unjudged.join(" and no ")));
        if all {
            return None;
        }
    }
    let target = match list.text("regexTarget").map(str::to_ascii_lowercase).as_deref() {
        Some("match") => SpareTarget::Match,
        Some("line") => SpareTarget::Line,
        _ => SpareTarget::Secret,
    };
    let mut regexes = Vec::new();
    for go in list.texts("regexes") {
        match bytes_regex(&pattern::translate(go)) {
            Ok(regex) => regexes.push(regex),
            Err(why) => {
                import.note(line, format!("an allowlist of {named}: a regex does not compile: {why}"));
                if all {
                    return None;
                }
            }
        }
    }
    let stopwords: Vec<String> = list
        .texts("stopwords")
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let empty = regexes.is_empty() && stopwords.is_empty();
    (!empty).then_some(SpareList { all, regexes, target, stopwords })
}
