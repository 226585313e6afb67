//! Whether a rule matches at a place, asked of its regex: for anchors that are common in texts (`https://`).
//!
//! The automaton is walked here and not by `regex`, since only so it is known that no longer text could match.

use std::cell::{Cell, OnceCell};
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
    of_whole: OnceLock<Option<Automaton>>,
    of_cut: OnceLock<Option<Automaton>>,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

#[derive(Debug)]
struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, MakeCache>,
}

impl Exact {
    pub(super) fn new(rule: &Rule) -> Self {
        let (pattern, cut) = (rule.pattern.clone(), rule.cut.clone());
        Self { pattern, cut, of_whole: OnceLock::new(), of_cut: OnceLock::new() }
    }

    /// Whether a match with the anchor at `anchor` may begin at `at`. `ends`: also one that is cut off, where. Looks at no more than
    /// [`MOST`] bytes, so that no text makes it slow.
    pub(super) fn may_match(&self, text: &[u8], at: usize, anchor: usize, ends: Option<&Ends>) -> bool {
        if may_match(&self.of_whole, &self.pattern, text, at) {
            return true;
        }
        let Some((cut, ends)) = self.cut.as_ref().zip(ends) else { return false };
        // Its pattern ends with the text.
        let is_cut_at =
            |end: usize| text.get(..end).is_none_or(|text| may_match(&self.of_cut, &cut.pattern, text, at));
        if is_cut_at(ends.of_text(text)) {
            return true;
        }
        if cut.at_end {
            return false;
        }
        match ends.of_token(text, anchor) {
            Some(token) => may_be_cut_at(text, anchor, token) && is_cut_at(token),
            None => true,
        }
    }
}

/// Where secrets of one text may be cut off. Each is looked for once, however many anchors stand before it.
#[derive(Debug, Default)]
pub(super) struct Ends {
    text: OnceCell<usize>,
    /// Of the last token that was asked for, where from and where it ends.
    token: Cell<(usize, usize)>,
}

impl Ends {
    fn of_text(&self, text: &[u8]) -> usize {
        *self.text.get_or_init(|| open_end(text))
    }

    /// Where the token around the anchor ends; `None`: too far away.
    fn of_token(&self, text: &[u8], anchor: usize) -> Option<usize> {
        let (from, end) = self.token.get();
        if (from..end).contains(&anchor) {
            return Some(end).filter(|end| *end <= anchor + MOST);
        }
        let window = text.get(..text.len().min(anchor + 2 * MOST)).unwrap_or_default();
        let end = token_end(window, anchor);
        if end < window.len() || window.len() == text.len() {
            self.token.set((anchor, end));
        }
        Some(end).filter(|end| *end <= anchor + MOST)
    }
}

fn may_match(automaton: &OnceLock<Option<Automaton>>, pattern: &str, text: &[u8], at: usize) -> bool {
    let automaton = automaton.get_or_init(|| Automaton::new(pattern));
    automaton.as_ref().is_none_or(|automaton| automaton.may_match(text, at).unwrap_or(true))
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

    /// Whether a match begins at `at`; `None`: that is not known.
    fn may_match(&self, text: &[u8], at: usize) -> Option<bool> {
        let mut cache = self.caches.get();
        let cache = &mut *cache;
        let input = Input::new(text).range(at.min(text.len())..).anchored(Anchored::Yes);
        let mut state = self.dfa.start_state_forward(cache, &input).ok()?;
        for byte in text.get(at..).unwrap_or_default().iter().take(MOST) {
            state = self.dfa.next_state(cache, state, *byte).ok()?;
            // A match is told one byte late.
            if state.is_tagged() {
                match () {
                    () if state.is_dead() => return Some(false),
                    () if state.is_match() => return Some(true),
                    () if state.is_quit() => return None,
                    () => {}
                }
            }
        }
        if text.len() > at + MOST {
            return None;
        }
        Some(self.dfa.next_eoi_state(cache, state).ok()?.is_match())
    }
}
