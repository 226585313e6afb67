//! Rules without an anchor whose value is a random run: they are looked for at each such run.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::value_after;
use crate::redact::pattern::build;
use crate::redact::rules::Rule;

/// In longer runs it is not looked where a match begins, in bytes.
const LONGEST: usize = 2048;

/// Such a rule.
#[derive(Debug)]
pub(super) struct ByValue {
    pub(super) index: usize,
    rule: Rule,
    before: usize,
    regex: OnceLock<Option<Regex>>,
}

impl ByValue {
    pub(super) fn new(index: usize, rule: &Rule) -> Self {
        let before = value_after(rule).unwrap_or_default();
        Self { index, rule: rule.clone(), before, regex: OnceLock::new() }
    }

    /// Where a match may begin that has its value in this run. Says so too often, never too seldom.
    pub(super) fn start(&self, text: &[u8], run: Range<usize>) -> Option<usize> {
        let first = run.start.saturating_sub(self.before);
        if run.len() > LONGEST {
            return Some(first);
        }
        let Some(regex) = self.regex.get_or_init(|| build(&self.rule.pattern)) else { return Some(first) };
        let upto = text.get(..run.end)?;
        let mut at = first;
        while let Some(found) = regex.find_at(upto, at) {
            if self.rule.starts_well(upto.get(..found.start())?) {
                return Some(found.start());
            }
            at = found.start() + 1;
        }
        None
    }
}
