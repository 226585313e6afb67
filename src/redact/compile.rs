//! A [`RuleSet`] made ready for scanning: one automaton over all anchors, each regex compiled when first needed.
//!
//! The automaton is the prefilter: it touches each byte once and says which rules are worth their regex. It is a necessary
//! condition only (it ignores case for all rules), so that what stands behind [`Compiled::candidates`] can be exchanged
//! without touching the scan.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::rules::{Group, Rule, RuleSet, Specificity};

/// Largest compiled regex of one rule, in bytes.
const REGEX_LIMIT: usize = 16 << 20;

/// A rule set ready for scanning.
#[derive(Debug)]
pub(super) struct Compiled {
    set: RuleSet,
    anchors: Option<AhoCorasick>,
    /// For each anchor of the automaton, the rules that it stands for.
    rules_of: Vec<Vec<usize>>,
    /// Rules without an anchor, which are looked at in every text.
    always: Vec<usize>,
    regexes: Vec<Lazy>,
}

/// A rule's regexes, compiled when first needed.
#[derive(Debug, Default)]
struct Lazy {
    whole: OnceLock<Option<Regex>>,
    cut: OnceLock<Option<Regex>>,
}

/// A rule whose anchor occurs in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Index of the rule.
    pub(super) rule: usize,
    /// Where its first anchor begins.
    pub(super) first: usize,
    /// Where its last anchor begins.
    pub(super) last: usize,
}

/// A rule set that nothing can be scanned with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The anchors cannot be searched together.
    #[error("the rules' anchors cannot be compiled: {0}")]
    Anchors(String),
    /// A kind has the action `hmac`, and there is no key.
    #[error("`{0}` has the action hmac, which takes an hmac_key")]
    NoKey(String),
}

impl Compiled {
    /// Builds the automaton over the anchors.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if the automaton grows too large.
    pub(super) fn new(set: RuleSet) -> Result<Self, CompileError> {
        let mut anchors: Vec<Vec<u8>> = Vec::new();
        let mut rules_of: Vec<Vec<usize>> = Vec::new();
        for (index, rule) in set.rules().iter().enumerate().filter(|(_, rule)| !rule.integers) {
            for anchor in &rule.anchors {
                let anchor = anchor.to_ascii_lowercase().into_bytes();
                match anchors.iter().position(|known| *known == anchor).and_then(|at| rules_of.get_mut(at)) {
                    Some(rules) if rules.contains(&index) => {}
                    Some(rules) => rules.push(index),
                    None => {
                        anchors.push(anchor);
                        rules_of.push(vec![index]);
                    }
                }
            }
        }
        let automaton = if anchors.is_empty() { None } else { Some(automaton(&anchors)?) };
        let regexes = set.rules().iter().map(|_| Lazy::default()).collect();
        let of_text = set.rules().iter().enumerate().filter(|(_, rule)| !rule.integers);
        let always = of_text.filter(|(_, rule)| rule.anchors.is_empty()).map(|(index, _)| index).collect();
        Ok(Self { set, anchors: automaton, rules_of, always, regexes })
    }

    /// The rules that this was made of.
    pub(super) fn set(&self) -> &RuleSet {
        &self.set
    }

    /// The rule of this index.
    pub(super) fn rule(&self, index: usize) -> Option<&Rule> {
        self.set.rules().get(index)
    }

    /// How specific the rule of this index is.
    pub(super) fn specificity(&self, index: usize) -> Specificity {
        self.rule(index).map_or(Specificity::NamedPair, |rule| rule.specificity)
    }

    /// The rules of which an anchor occurs in `text`, and those without one. Allocates only where there is one.
    pub(super) fn candidates(&self, text: &[u8]) -> Vec<Candidate> {
        let everywhere = |&rule: &usize| Candidate { rule, first: 0, last: text.len() };
        let mut found: Vec<Candidate> = self.always.iter().map(everywhere).collect();
        let Some(anchors) = &self.anchors else { return found };
        // Where a rule stands in `found`, since a long text has many hits of many rules.
        let mut places: Vec<u32> = Vec::new();
        for hit in anchors.find_overlapping_iter(text) {
            if places.is_empty() {
                places = self.places(&found);
            }
            for &rule in self.rules_of.get(hit.pattern().as_usize()).into_iter().flatten() {
                let Some(place) = places.get_mut(rule) else { continue };
                match place.checked_sub(1).and_then(|at| found.get_mut(at as usize)) {
                    Some(known) => {
                        known.first = known.first.min(hit.start());
                        known.last = known.last.max(hit.start());
                    }
                    None => {
                        found.push(Candidate { rule, first: hit.start(), last: hit.start() });
                        *place = u32::try_from(found.len()).unwrap_or(0);
                    }
                }
            }
        }
        found
    }

    /// For each rule its place in `found`, counted from one.
    fn places(&self, found: &[Candidate]) -> Vec<u32> {
        let mut places = vec![0; self.set.rules().len()];
        for (candidate, at) in found.iter().zip(1..) {
            if let Some(place) = places.get_mut(candidate.rule) {
                *place = at;
            }
        }
        places
    }

    /// The regex of a rule; `None`: it doesn't compile, so the text can't be scanned.
    pub(super) fn regex(&self, index: usize) -> Option<&Regex> {
        let rule = self.rule(index)?;
        self.regexes.get(index)?.whole.get_or_init(|| build(&rule.pattern)).as_ref()
    }

    /// The regex of a rule's cut secrets; `None`: it doesn't compile, so the text can't be scanned.
    pub(super) fn cut_regex(&self, index: usize) -> Option<&Regex> {
        let cut = self.rule(index)?.cut.as_ref()?;
        self.regexes.get(index)?.cut.get_or_init(|| build(&cut.pattern)).as_ref()
    }
}

/// The secret's group in a match of `regex` at `start`.
pub(super) fn secret_of(
    rule: &Rule,
    regex: &Regex,
    text: &[u8],
    found: std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let Some(group) = &rule.group else { return found };
    let Some(captures) = regex.captures_at(text, found.start) else { return found };
    let secret = match group {
        Group::Index(index) => captures.get(*index),
        Group::Name(name) => captures.name(name),
        Group::First => captures.iter().skip(1).flatten().find(|group| !group.is_empty()),
    };
    secret.map_or(found, |secret| secret.range())
}

fn automaton(anchors: &[Vec<u8>]) -> Result<AhoCorasick, CompileError> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(anchors)
        .map_err(|error| CompileError::Anchors(error.to_string()))
}

fn build(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(REGEX_LIMIT).dfa_size_limit(REGEX_LIMIT).build().ok()
}
