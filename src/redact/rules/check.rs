//! Runs the rules' own tests: what `blackbar rules check` shows.
//!
//! Works on the patterns alone, rule by rule, so that what it says of a rule does not depend on how texts are searched; that
//! the scanner finds the same is the scanner's own test.

use std::ops::Range;
use std::sync::Arc;

use regex::bytes::Regex;

use super::load::bytes_regex;
use super::portable;
use super::rule::{Example, Group, Origin, Rule};
use super::set::RuleSet;
use crate::redact::validate::Verdict;

/// One thing that is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule's kind.
    pub kind: Arc<str>,
    /// The rule's, or the example's, file and line.
    pub origin: Origin,
    /// What is wrong, without the expanded example.
    pub message: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Rules looked at.
    pub rules: usize,
    /// Examples and counterexamples run.
    pub examples: usize,
    /// Everything that is wrong, in the order of the rules.
    pub problems: Vec<Problem>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, rule: &Rule, line: usize, message: impl Into<String>) {
        let origin = Origin { file: Arc::clone(&rule.origin.file), line };
        self.problems.push(Problem { kind: Arc::clone(&rule.kind), origin, message: message.into() });
    }
}

/// Checks every rule: it has examples, they match, their secrets are wholly covered and no other rule takes them,
/// cut short they still match, counterexamples don't, ids are unique, the pattern is portable.
///
/// That an anchor stands in every match is proved when a rule is loaded, not tried on examples here.
pub fn check(set: &RuleSet) -> CheckReport {
    let mut report = CheckReport::default();
    let mut matchers = Vec::new();
    for (order, rule) in set.rules().iter().enumerate() {
        report.rules += 1;
        match Matcher::new(rule, order) {
            Ok(matcher) => matchers.push(matcher),
            Err(why) => report.problem(rule, rule.origin.line, format!("bad pattern: {why}")),
        }
    }
    for (at, matcher) in matchers.iter().enumerate() {
        let rule = matcher.rule;
        if matchers.iter().take(at).any(|other| other.rule.id == rule.id) {
            report.problem(rule, rule.origin.line, format!("there is another rule `{}`", rule.id));
        }
        for message in portable::problems(&rule.pattern) {
            report.problem(rule, rule.origin.line, message);
        }
        if rule.examples.is_empty() {
            report.problem(rule, rule.origin.line, "no example");
        }
        for example in &rule.examples {
            report.examples += 1;
            check_example(matcher, example, &matchers, &mut report);
        }
        for example in &rule.counterexamples {
            report.examples += 1;
            if !matcher.find(example.text.as_bytes()).is_empty() {
                report.problem(rule, example.line, "the rule matches its counterexample");
            }
        }
    }
    report
}

fn check_example(matcher: &Matcher<'_>, example: &Example, all: &[Matcher<'_>], report: &mut CheckReport) {
    let rule = matcher.rule;
    let text = example.text.as_bytes();
    let found = matcher.find(text);
    if found.is_empty() {
        return report.problem(rule, example.line, "the rule does not match its example");
    }
    let uncovered =
        |secret: &Range<usize>| !found.iter().any(|f| f.start <= secret.start && secret.end <= f.end);
    if example.secrets.iter().any(uncovered) {
        report.problem(rule, example.line, "part of the marked secret stays");
    }
    for other in all.iter().filter(|other| other.wins_over(matcher) && other.rule.kind != rule.kind) {
        if other.find(text).iter().any(|o| found.iter().any(|f| o.start < f.end && f.start < o.end)) {
            report.problem(
                rule,
                example.line,
                format!("`{}` also matches the example and wins", other.rule.id),
            );
        }
    }
    if let Some(secret) = found.last()
        && let Some(end) = matcher.first_uncut(text, secret)
    {
        let kept = end - secret.start;
        report.problem(
            rule,
            example.line,
            format!("the example cut off after {kept} bytes of the secret stays"),
        );
    }
}

/// A rule with its regexes.
struct Matcher<'r> {
    rule: &'r Rule,
    /// Place in the set.
    order: usize,
    regex: Regex,
    cut: Option<Regex>,
}

impl<'r> Matcher<'r> {
    fn new(rule: &'r Rule, order: usize) -> Result<Self, String> {
        let cut = rule.cut.as_ref().map(|cut| bytes_regex(&cut.pattern)).transpose()?;
        Ok(Self { rule, order, regex: bytes_regex(&rule.pattern)?, cut })
    }

    /// The secrets that the rule alone finds, in order, without overlap.
    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(captures) = self.regex.captures_at(text, at) {
            let Some(whole) = captures.get(0) else { break };
            let secret = match &self.rule.group {
                None => Some(whole),
                Some(Group::Index(index)) => captures.get(*index),
                Some(Group::Name(name)) => captures.name(name),
                Some(Group::First) => captures.iter().skip(1).flatten().find(|group| !group.is_empty()),
            };
            match secret.filter(|secret| self.accepts(text, whole.range(), secret.as_bytes())) {
                Some(secret) => {
                    found.push(secret.range());
                    at = secret.end().max(whole.start() + 1);
                }
                None => at = whole.start() + 1,
            }
        }
        found
    }

    fn accepts(&self, text: &[u8], found: Range<usize>, secret: &[u8]) -> bool {
        self.rule.starts_well(text.get(..found.start).unwrap_or_default())
            && self.rule.ends_well(text.get(found.end..).unwrap_or_default())
            && self.rule.verdict(secret) != Verdict::Rejected
    }

    fn wins_over(&self, other: &Self) -> bool {
        self.rule.specificity.cmp(&other.rule.specificity).then(other.order.cmp(&self.order)).is_gt()
    }

    /// The first end, from the rule's floor on, at which the text cut off there is no longer found.
    fn first_uncut(&self, text: &[u8], secret: &Range<usize>) -> Option<usize> {
        // A pattern of its own says itself how much must be there.
        let cut = self.cut.as_ref().filter(|_| !self.rule.cut.as_ref().is_some_and(|cut| cut.own))?;
        let tries = secret.start + 1..secret.end;
        tries.filter(|end| self.rule.accepts_cut(text.get(secret.start..*end).unwrap_or_default())).find(
            |end| {
                let short = text.get(..*end).unwrap_or_default();
                let tail = cut.captures_iter(short).any(|captures| {
                    let group = captures.get(usize::from(self.rule.group.is_some()));
                    group.is_some_and(|group| group.start() <= secret.start && group.end() == *end)
                });
                !tail && !self.find(short).iter().any(|f| f.start <= secret.start && f.end == *end)
            },
        )
    }
}
