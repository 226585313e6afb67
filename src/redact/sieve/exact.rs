//! Whether a rule matches at a place, asked of its regex: for anchors that are common in texts (`https://`).
//!
//! The automaton is walked here and not by `regex`, since only so it is known that no longer text could match.

use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::redact::rules::Rule;
use crate::redact::scan::open_end;

/// How much of a text is looked at, in bytes.
const MOST: usize = 512;

/// A rule's automaton, built when first needed.
#[derive(Debug)]
pub(super) struct Exact {
    /// `None`: the rule also matches what is cut off somewhere in a text, so its regex does not decide.
    pattern: Option<String>,
    /// It also matches what the end of the text cuts off.
    at_end: bool,
    automaton: OnceLock<Option<Automaton>>,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

#[derive(Debug)]
struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, MakeCache>,
}

impl Exact {
    pub(super) fn new(rule: &Rule) -> Self {
        let decides = rule.cut.as_ref().is_none_or(|cut| cut.at_end && !cut.own);
        let pattern = decides.then(|| rule.pattern.clone());
        Self { pattern, at_end: rule.cut.is_some(), automaton: OnceLock::new() }
    }

    /// Whether a match may begin at `at`. Looks at no more than [`MOST`] bytes, so that no text makes it slow.
    pub(super) fn may_match(&self, text: &[u8], at: usize) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        match self.automaton.get_or_init(|| Automaton::new(pattern)) {
            Some(automaton) => {
                let cut = self.at_end.then(|| open_end(text));
                automaton.walk(text, at, cut).unwrap_or(true)
            }
            None => true,
        }
    }
}

impl Automaton {
    fn new(pattern: &str) -> Option<Self> {
        let dfa = DFA::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(thompson::Config::new().utf8(false))
            .configure(Config::new().skip_cache_capacity_check(true))
            .build(pattern)
            .ok()?;
        let made = dfa.clone();
        Some(Self { dfa, caches: Pool::new(Box::new(move || made.create_cache())) })
    }

    /// Whether a match begins at `at`; `None`: that is not known, or one may have been cut off at `cut`.
    fn walk(&self, text: &[u8], at: usize, cut: Option<usize>) -> Option<bool> {
        let mut cache = self.caches.get();
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        let mut state = self.dfa.start_state_forward(&mut cache, &input).ok()?;
        for (byte, here) in text.get(at..)?.iter().zip(at..).take(MOST) {
            if cut == Some(here) {
                return None;
            }
            state = self.dfa.next_state(&mut cache, state, *byte).ok()?;
            // A match is told one byte late.
            if state.is_match() {
                return Some(true);
            }
            if state.is_dead() {
                return Some(false);
            }
            if state.is_quit() {
                return None;
            }
        }
        if text.len() > at + MOST || cut == Some(text.len()) {
            return None;
        }
        Some(self.dfa.next_eoi_state(&mut cache, state).ok()?.is_match())
    }
}
