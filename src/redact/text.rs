//! What of a text is secret: `(key path, text) -> replacement`. Knows no OTLP.
//!
//! `scan` finds, `overlap` decides between findings, and here the markers are put in. A text without a finding is not
//! copied.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::action::{self, Action};
use super::apply::{Clean, Whole, Written, apply};
use super::compile::Compiled;
use super::finding::Finder;
use super::marker::{UNSCANNED_KIND, marker};
use super::overlap::{Edit, resolve};
use super::pattern::CompileError;
use super::rules::{Mode, NAMED_PAIR_KIND, RuleSet};
use super::scan::Scan;
use super::validate::Verdict;
use super::{Report, Unscanned, canary, keep_json, pairs};

/// Most scans of one value after the first: each finds only what the markers of the last one brought up.
const MAX_ROUNDS: usize = 3;

/// The keys above a value, innermost first: the path from an attribute into nested kvlists.
#[derive(Debug, Clone, Copy)]
pub struct KeyPath<'a> {
    /// This key.
    pub key: &'a [u8],
    /// The key of the enclosing kvlist, if the value is nested.
    pub parent: Option<&'a KeyPath<'a>>,
}

/// Finds and replaces secrets in texts.
#[derive(Debug)]
pub struct TextScrubber {
    compiled: Compiled,
    pair_kind: Arc<str>,
    /// Rules that look at integers.
    integers: Vec<usize>,
    whole: Whole,
    sieve: UseOfSieve,
}

/// Whether texts go through the sieve before they are scanned.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOfSieve {
    /// As in production.
    On,
    /// Everything is scanned.
    Off,
    /// Both, and a difference is a panic.
    Compared,
}

impl TextScrubber {
    /// A scrubber with these rules, and the self-canary's.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if a rule's pattern cannot be compiled, or tags are wanted without a key.
    pub fn new(rules: RuleSet) -> Result<Self, CompileError> {
        let mut rules = rules;
        if let Some(kind) = rules.lacks_key() {
            return Err(CompileError::NoKey(kind.to_owned()));
        }
        rules.extend(canary::rules());
        Ok(Self {
            integers: rules
                .rules()
                .iter()
                .enumerate()
                .filter(|(_, r)| r.integers)
                .map(|(index, _)| index)
                .collect(),
            compiled: Compiled::new(rules)?,
            pair_kind: Arc::from(NAMED_PAIR_KIND),
            whole: Whole::default(),
            sieve: UseOfSieve::On,
        })
    }

    /// The same scrubber with another use of the sieve, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sieve(self, sieve: UseOfSieve) -> Self {
        Self { sieve, ..self }
    }

    /// For streams of text: an action that hides a whole value hides a line.
    #[must_use]
    pub fn by_line(self) -> Self {
        Self { whole: Whole::Line, ..self }
    }

    /// A scrubber with the built-in rules.
    ///
    /// # Errors
    ///
    /// [`CompileError`], as [`Self::new`].
    pub fn builtin() -> Result<Self, CompileError> {
        Self::new(RuleSet::builtin())
    }

    /// Scrubs one value. `None`: nothing found, the text stays as it is.
    ///
    /// `keys` is the attribute key path of a structured value, `None` for names, bodies and other bare texts.
    /// Never panics on any bytes; a value that costs too much becomes `[REDACTED:unscanned]`.
    pub fn scrub(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Vec<u8>> {
        self.clean(keys, text, report).map(|clean| clean.text)
    }

    /// As [`Self::scrub`], and says whether the text's attribute is to be removed.
    pub fn clean(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Clean> {
        let mut scrubbed = self.once(keys, text, report)?;
        // A marker changes what stands beside it: a token glued to a secret now begins a word.
        for _ in 0..MAX_ROUNDS {
            // What is audited was counted.
            let mut again = Report::default();
            let Some(more) = self.once(keys, &scrubbed.text, &mut again) else { break };
            scrubbed = Clean { drop: more.drop | scrubbed.drop, ..more };
            report.add(Report { audited: BTreeMap::new(), ..again });
        }
        Some(scrubbed)
    }

    fn once(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Clean> {
        // Nothing that the closure changes is seen after a panic.
        match catch_unwind(AssertUnwindSafe(|| self.scan(keys, text))) {
            Ok(Outcome::Unchanged) => None,
            Ok(Outcome::Scanned { edits, audited }) => {
                for rule in audited {
                    if let Some(rule) = self.compiled.rule(rule) {
                        *report.audited.entry(Arc::clone(&rule.kind)).or_default() += 1;
                    }
                }
                if edits.is_empty() {
                    return None;
                }
                let marked = edits.iter().filter(|edit| !edit.continues);
                marked.for_each(|edit| report.count(self.kind(edit.finder)));
                let key = self.compiled.set().hmac_key();
                Some(apply(text, &edits, self.whole, key, |edit| self.written(edit)))
            }
            Ok(Outcome::Incomplete) => Some(unscanned(Unscanned::Work, report).into()),
            Err(_) => Some(unscanned(Unscanned::Panic, report).into()),
        }
    }

    /// Whether a value of this key is secret whatever it looks like (strings, bytes and numbers).
    pub fn is_secret_key(&self, keys: &KeyPath<'_>) -> bool {
        self.compiled.set().named_pairs() && pairs::is_secret_key(keys.key, in_container(keys))
    }

    /// Scrubs an integer, by the rules that look at such. `None`: nothing found.
    pub fn integer(&self, value: i64, report: &mut Report) -> Option<Clean> {
        if self.integers.is_empty() {
            return None;
        }
        let digits = value.to_string();
        let text = digits.as_bytes();
        let set = self.compiled.set();
        for &index in &self.integers {
            let (Some(rule), Some(regex)) = (self.compiled.rule(index), self.compiled.regex(index)) else {
                continue;
            };
            let whole = regex.find(text).is_some_and(|found| found.range() == (0..text.len()));
            if !whole || rule.verdict(text) == Verdict::Rejected || set.allows(text) {
                continue;
            }
            if rule.mode == Mode::Audit {
                *report.audited.entry(Arc::clone(&rule.kind)).or_default() += 1;
                continue;
            }
            report.count(&rule.kind);
            let edit =
                Edit { range: 0..text.len(), finder: Finder::Rule(index), quote: None, continues: false };
            return Some(apply(text, &[edit], self.whole, set.hmac_key(), |edit| self.written(edit)));
        }
        None
    }

    /// Bytes that the scan of a text looks at: grows linearly with its length, whatever the text.
    pub fn work(&self, text: &[u8]) -> usize {
        Scan::new(&self.compiled, text.len(), true).text(text, None).work
    }

    fn scan(&self, keys: Option<&KeyPath<'_>>, text: &[u8]) -> Outcome {
        let key = keys.filter(|_| self.compiled.set().named_pairs());
        let key = key.map(|keys| (keys.key, pairs::key_class(keys.key, in_container(keys))));
        let sieved = self.sieve != UseOfSieve::Off;
        let found = Scan::new(&self.compiled, text.len(), sieved).text(text, key);
        if self.sieve == UseOfSieve::Compared {
            let all = Scan::new(&self.compiled, text.len(), false).text(text, key);
            assert!(all.is_same(&found), "the sieve hides a finding");
        }
        if found.incomplete {
            return Outcome::Incomplete;
        }
        if found.findings.is_empty() && found.audited.is_empty() {
            return Outcome::Unchanged;
        }
        let edits = keep_json::within_tokens(text, resolve(text, found.findings, &self.compiled));
        Outcome::Scanned { edits, audited: found.audited.into_iter().map(|(rule, _)| rule).collect() }
    }

    fn kind(&self, finder: Finder) -> &Arc<str> {
        match finder {
            Finder::Rule(index) => self.compiled.rule(index).map_or(&self.pair_kind, |rule| &rule.kind),
            Finder::Pair => &self.pair_kind,
        }
    }

    fn written(&self, edit: &Edit) -> Written<'_> {
        let set = self.compiled.set();
        let rule = match edit.finder {
            Finder::Rule(index) => self.compiled.rule(index),
            Finder::Pair => None,
        };
        Written {
            action: rule.map_or_else(|| set.pair_action(), |rule| set.action_of(rule)),
            kind: self.kind(edit.finder),
            replacement: rule.and_then(|rule| rule.replacement.as_deref()),
        }
    }

    /// What a number, or a value that the policy hides, is replaced by.
    pub fn mark(&self, action: Action, kind: &str, value: &[u8]) -> Vec<u8> {
        action::mark(action, kind, value, self.compiled.set().hmac_key())
    }

    /// What becomes of the values of secret-named keys.
    pub fn pair_action(&self) -> Action {
        self.compiled.set().pair_action()
    }
}

/// Whether a key is nested in a container of secrets.
fn in_container(keys: &KeyPath<'_>) -> bool {
    let mut above = keys.parent;
    while let Some(keys) = above {
        if pairs::key_class(keys.key, false) == pairs::KeyClass::Container {
            return true;
        }
        above = keys.parent;
    }
    false
}

/// What became of a value.
enum Outcome {
    Unchanged,
    Scanned { edits: Vec<Edit>, audited: Vec<usize> },
    Incomplete,
}

fn unscanned(reason: Unscanned, report: &mut Report) -> Vec<u8> {
    report.count_unscanned(reason);
    marker(UNSCANNED_KIND)
}
