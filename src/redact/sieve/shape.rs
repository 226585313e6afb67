//! What a pattern's matches begin with: for each of their first bytes, the set of bytes that may stand there.

use regex_automata::nfa::thompson::{self, NFA, State};
use regex_automata::util::primitives::StateID;

/// Longest shape that is worth having, in bytes.
const LONGEST: usize = 128;

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn holds(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|bits| bits >> (byte & 63) & 1 == 1)
    }

    /// Adds the bytes of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(bits, more)| *bits |= more);
    }

    /// Whether all its bytes are in `class`.
    pub(super) fn is_within(&self, class: impl Fn(u8) -> bool) -> bool {
        (0..=u8::MAX).all(|byte| !self.holds(byte) || class(byte))
    }

    fn add(&mut self, byte: u8) {
        if let Some(bits) = self.0.get_mut(usize::from(byte >> 6)) {
            *bits |= 1 << (byte & 63);
        }
    }
}

/// The bytes that may stand at each place of a match, from its first on, as far as every match reaches.
///
/// A match of fewer than `least` bytes counts for none.
///
/// # Errors
///
/// Why the pattern can't be compiled.
pub(super) fn of(pattern: &str, least: usize) -> Result<Vec<ByteSet>, String> {
    compile(pattern).map(|nfa| steps(&nfa, least))
}

fn compile(pattern: &str) -> Result<NFA, String> {
    let syntax = regex_automata::util::syntax::Config::new().unicode(false).utf8(false);
    let config = thompson::Config::new().utf8(false);
    let built = thompson::Compiler::new().syntax(syntax).configure(config).build(pattern);
    built.map_err(|error| error.to_string())
}

fn steps(nfa: &NFA, least: usize) -> Vec<ByteSet> {
    let mut sets = Vec::new();
    let mut states = vec![nfa.start_anchored()];
    while sets.len() < LONGEST {
        let (states_here, ends) = closure(nfa, states);
        if states_here.is_empty() || (ends && sets.len() >= least) {
            break;
        }
        let mut set = ByteSet::default();
        let mut next = Vec::new();
        for state in states_here {
            let mut take = |start: u8, end: u8, to: StateID| {
                (start..=end).for_each(|byte| set.add(byte));
                next.push(to);
            };
            match nfa.state(state) {
                State::ByteRange { trans } => take(trans.start, trans.end, trans.next),
                State::Sparse(sparse) => {
                    sparse.transitions.iter().for_each(|trans| take(trans.start, trans.end, trans.next));
                }
                State::Dense(dense) => {
                    for byte in 0..=u8::MAX {
                        if let Some(next) = dense.matches_byte(byte) {
                            take(byte, byte, next);
                        }
                    }
                }
                _ => {}
            }
        }
        sets.push(set);
        states = next;
    }
    sets
}

/// All states that are reached without a byte, and whether a match may end here.
fn closure(nfa: &NFA, from: Vec<StateID>) -> (Vec<StateID>, bool) {
    let mut seen = vec![false; nfa.states().len()];
    let mut open = from;
    let mut reached = Vec::new();
    let mut ends = false;
    while let Some(id) = open.pop() {
        match seen.get_mut(id.as_usize()) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        match nfa.state(id) {
            State::Match { .. } => ends = true,
            State::Union { alternates } => open.extend(alternates.iter().copied()),
            State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
            State::Capture { next, .. } | State::Look { next, .. } => open.push(*next),
            State::Fail => {}
            _ => reached.push(id),
        }
    }
    (reached, ends)
}
