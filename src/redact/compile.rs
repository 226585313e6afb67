//! A [`RuleSet`] made ready for scanning: the sieve over it, and each regex, compiled when first needed.
//!
//! The sieve is a necessary condition only, so that it can be exchanged without touching the scan. That it hides nothing
//! is seen by scanning without it: then one automaton over all anchors says which rules are worth their regex, and
//! every layer is looked at.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use super::candidates::Candidates;
use super::pattern::{CompileError, build};
use super::rules::{Group, Rule, RuleSet, Specificity};
use super::sieve::{self, Sieve};

/// A rule set ready for scanning.
#[derive(Debug)]
pub(super) struct Compiled {
    set: RuleSet,
    sieve: Sieve,
    /// All anchors, for scans without the sieve, and the rule of each.
    anchors: OnceLock<Option<(AhoCorasick, Vec<usize>)>>,
    /// Rules that are looked at in every text.
    always: Vec<usize>,
    regexes: Vec<Lazy>,
}

/// A rule's regexes, compiled when first needed.
#[derive(Debug, Default)]
struct Lazy {
    whole: OnceLock<Option<Regex>>,
    cut: OnceLock<Option<Regex>>,
}

impl Compiled {
    /// Builds the sieve.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if a rule's pattern cannot be compiled.
    pub(super) fn new(set: RuleSet) -> Result<Self, CompileError> {
        let sieve = Sieve::new(set.rules(), set.named_pairs())?;
        let regexes = set.rules().iter().map(|_| Lazy::default()).collect();
        let of_text = set.rules().iter().enumerate().filter(|(_, rule)| !rule.integers);
        let always = of_text.filter(|(_, rule)| sieve::is_looked_at_always(rule));
        let always = always.map(|(index, _)| index).collect();
        Ok(Self { set, sieve, anchors: OnceLock::new(), always, regexes })
    }

    /// What a text may hold.
    pub(super) fn sieve(&self) -> &Sieve {
        &self.sieve
    }

    /// Adds the rules that are looked at in every text, here one of so many bytes.
    pub(super) fn always(&self, len: usize, found: &mut Candidates) {
        self.always.iter().for_each(|rule| found.add_everywhere(*rule, len));
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

    /// The rules of which an anchor occurs in `text`, whatever stands around it, and those without one.
    pub(super) fn with_anchors(&self, text: &[u8], found: &mut Candidates) {
        let rules = self.set.rules().iter().enumerate().filter(|(_, rule)| !rule.integers);
        let anchorless = rules.filter(|(_, rule)| rule.anchors.is_empty());
        anchorless.for_each(|(index, _)| found.add_everywhere(index, text.len()));
        let built = self.anchors.get_or_init(|| {
            let rules = self.set.rules().iter().enumerate().filter(|(_, rule)| !rule.integers);
            let anchors =
                rules.flat_map(|(index, rule)| rule.anchors.iter().map(move |anchor| (index, anchor)));
            let (rules, anchors): (Vec<usize>, Vec<&String>) = anchors.unzip();
            automaton(&anchors).map(|automaton| (automaton, rules))
        });
        match built {
            Some((automaton, rule_of)) => {
                for hit in automaton.find_overlapping_iter(text) {
                    if let Some(rule) = rule_of.get(hit.pattern().as_usize()) {
                        found.add(*rule, hit.start());
                    }
                }
            }
            None => (0..self.set.rules().len()).for_each(|rule| found.add_everywhere(rule, text.len())),
        }
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

fn automaton(anchors: &[&String]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(anchors).ok()
}
