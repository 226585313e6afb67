//! Whether a rule matches at a place, asked of its regex: for anchors that are common in texts (`https://`).
//!
//! The automaton is walked here and not by `regex`, since only so it is known that no longer text could match.

use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::redact::rules::{Cut, Rule};
use crate::redact::scan::cut::{may_be_cut_at, open_end, token_end};

/// How much of a text is looked at, in bytes.
const MOST: usize = 512;

/// A rule's automata, built when first needed.
#[derive(Debug)]
pub(super) struct Exact {
    pattern: String,
    cut: Option<Cut>,
    whole: OnceLock<Option<Automaton>>,
    own: OnceLock<Option<Automaton>>,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

#[derive(Debug)]
struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, MakeCache>,
}

/// What an automaton says of a text from a place on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walked {
    /// It matches, or that is not known.
    May,
    /// It does not, and stood for a match until a place where one may be cut off.
    Cut,
    No,
}

impl Exact {
    pub(super) fn new(rule: &Rule) -> Self {
        let (pattern, cut) = (rule.pattern.clone(), rule.cut.clone());
        Self { pattern, cut, whole: OnceLock::new(), own: OnceLock::new() }
    }

    /// Whether a match with the anchor at `anchor` may begin at `at`. `cuts`: also one that is cut off. Looks at no more than
    /// [`MOST`] bytes, so that no text makes it slow.
    pub(super) fn may_match(&self, text: &[u8], at: usize, anchor: usize, cuts: bool) -> bool {
        let Some(whole) = self.whole.get_or_init(|| Automaton::new(&self.pattern)) else { return true };
        let Some(cut) = self.cut.as_ref().filter(|_| cuts) else {
            return whole.walk(text, at, |_| false) != Walked::No;
        };
        let open = open_end(text);
        let token = token_end(text, anchor);
        let ends =
            |here: usize| here == open || (!cut.at_end && here == token && may_be_cut_at(text, anchor, here));
        match whole.walk(text, at, ends) {
            Walked::May | Walked::Cut => true,
            Walked::No if !cut.own => false,
            Walked::No => {
                let Some(own) = self.own.get_or_init(|| Automaton::new(&cut.pattern)) else { return true };
                text.get(..open).is_none_or(|text| own.walk(text, at, |_| false) != Walked::No)
            }
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

    /// Whether a match begins at `at`. `ends`: where one may be cut off.
    fn walk(&self, text: &[u8], at: usize, ends: impl Fn(usize) -> bool) -> Walked {
        let Some(rest) = text.get(at..) else { return Walked::No };
        let mut cache = self.caches.get();
        let cache = &mut *cache;
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        let Ok(mut state) = self.dfa.start_state_forward(cache, &input) else { return Walked::May };
        for (byte, here) in rest.iter().zip(at..).take(MOST) {
            if ends(here) {
                return Walked::Cut;
            }
            match self.dfa.next_state(cache, state, *byte) {
                Ok(next) => state = next,
                Err(_) => return Walked::May,
            }
            // A match is told one byte late.
            if state.is_tagged() {
                match () {
                    () if state.is_dead() => return Walked::No,
                    () if state.is_match() || state.is_quit() => return Walked::May,
                    () => {}
                }
            }
        }
        if text.len() > at + MOST {
            return Walked::May;
        }
        if ends(text.len()) {
            return Walked::Cut;
        }
        let over = self.dfa.next_eoi_state(cache, state);
        if over.is_ok_and(|state| !state.is_match()) { Walked::No } else { Walked::May }
    }
}
