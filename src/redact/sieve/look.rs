//! One look at one text: what the masks of its blocks point at is read, as little of it as tells.
//!
//! Judges nothing itself: what a name, a break, a run, an escape is is said by the layer that reads it.

use std::cell::Cell;
use std::ops::Range;

use super::blocks::{BLOCK, BLOCKS, Class, Masks};
use super::exact::Ends;
use super::masks::Runs;
use super::{May, Sieve, What};
use crate::redact::candidates::Candidates;
use crate::redact::decode::Place;
use crate::redact::decode::peek::{self, Decodes};
use crate::redact::decode::{chars, joins, numbers, quoted, runs, streams};
use crate::redact::pairs::{self, trigger};
use crate::redact::{names, values};

/// Shortest run of token characters in which anchors are searched.
pub(super) const MIN_RUN: usize = 14;
/// Longest binary of a base64 run that is looked at at once, in bytes.
const MAX_BINARY: usize = 768;
/// How much of a random value is looked at, in bytes.
const MAX_VALUE: usize = 256;

thread_local! {
    /// What the last look left.
    static SCRATCH: Cell<Scratch> = const { Cell::new(Scratch { pieces: joins::Pieces::new(), text: Vec::new() }) };
}

/// Memory that looks use one after the other, so that they allocate nothing.
#[derive(Debug, Default)]
struct Scratch {
    pieces: joins::Pieces,
    /// The text of a chain.
    text: Vec<u8>,
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.pieces.clear();
        SCRATCH.set(scratch);
    }
}

/// One look at one text.
pub(super) struct Look<'s> {
    sieve: &'s Sieve,
    text: &'s [u8],
    /// Where the text stands, if that is known.
    place: Option<&'s Place<'s>>,
    /// The end of the text may have cut off a secret.
    pub(super) cuts: bool,
    ends: Ends,
    /// The text may be JSON.
    json: bool,
    names: trigger::Names<'s>,
    scratch: Scratch,
    pub(super) may: May,
    /// The last byte of the block before may stand before a break.
    before: u64,
    /// A value was seen that may be a piece of a text.
    stream: bool,
    /// A piece of a secret's name was seen, whatever stands behind it.
    named: bool,
    /// The name of a value was seen whose own name may stand elsewhere.
    values: bool,
    found: &'s mut Candidates,
}

impl<'s> Look<'s> {
    /// A look that asks for what is not in `may` yet. Rules that may match are added to `found`.
    pub(super) fn new(
        sieve: &'s Sieve,
        text: &'s [u8],
        place: Option<&'s Place<'s>>,
        may: May,
        found: &'s mut Candidates,
    ) -> Self {
        let json = sieve.named_pairs && pairs::json::may_be(text);
        Self {
            sieve,
            text,
            place,
            // In chains what is cut off is not looked for.
            cuts: place.is_some(),
            ends: Ends::default(),
            json,
            names: trigger::Names::new(text, json, place),
            scratch: SCRATCH.take(),
            may,
            before: 0,
            stream: false,
            named: false,
            values: false,
            found,
        }
    }

    /// Looks at the whole text.
    pub(super) fn all(&mut self) {
        let text = self.text;
        let mut tokens = Runs::<MIN_RUN>::default();
        let mut wide = Runs::<{ values::LEAST_RANDOM }>::default();
        let mut digits = Runs::<{ numbers::MIN_RUN }>::default();
        for chunk in (0..text.len()).step_by(BLOCK * BLOCKS) {
            let mut masks = [Masks::default(); BLOCKS];
            let count = self.sieve.tables.look(text, chunk, &mut masks);
            for (nth, masks) in masks.iter().take(count).enumerate() {
                let at = chunk + nth * BLOCK;
                self.block(at, masks);
                tokens.block(at, masks.of(Class::Token), |run| self.token_run(run));
                wide.block(at, masks.of(Class::Random), |run| self.random_run(run));
                digits.block(at, masks.of(Class::Digits), |run| self.digit_run(run));
            }
        }
        tokens.end(text.len(), |run| self.token_run(run));
        wide.end(text.len(), |run| self.random_run(run));
        digits.end(text.len(), |run| self.digit_run(run));
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.finish(&mut |pieces| self.chain(pieces));
        self.scratch.pieces = pieces;
        if !self.sieve.anywhere.is_empty() {
            self.sieve.anywhere.each(text, 0..text.len(), |rule, at| self.anchor(*rule, at));
        }
        self.may.quoted |= !self.may.quoted && quoted::is_escaped_throughout(text);
        self.may.pairs |= (self.json || self.place.is_none()) && self.named && self.values;
    }

    #[inline]
    fn block(&mut self, at: usize, masks: &Masks) {
        each_bit(masks.literal, |bit| self.literal(at + bit));
        let before = masks.of(Class::Before);
        let breaks = masks.of(Class::Break) & (before << 1 | self.before);
        self.before = before >> (BLOCK - 1);
        if breaks != 0 && !(self.may.chains && self.may.quoted && self.may.streams) {
            each_bit(breaks, |bit| self.between(at + bit));
        }
        if !self.may.chars {
            each_bit(masks.of(Class::Escape), |bit| self.may.chars |= chars::is_escape(self.text, at + bit));
        }
    }

    /// A byte at which a line, a string, or a tag may part pieces.
    #[inline]
    fn between(&mut self, at: usize) {
        match self.text.get(at) {
            Some(b'\n') => self.may.quoted |= quoted::is_soft_end(self.text, at),
            Some(b'"' | b'\'') if !self.may.streams && streams::begins_piece(self.text, at) => {
                self.may.streams = self.stream;
                self.stream = true;
            }
            _ => {}
        }
        if self.may.chains {
            return;
        }
        let plain = self.text.get(at) == Some(&b'\n')
            && !self.scratch.pieces.end_at(at)
            && joins::is_plain_wrap(self.text, at);
        if !plain {
            let mut pieces = std::mem::take(&mut self.scratch.pieces);
            pieces.add(self.text, at, &mut |pieces| self.chain(pieces));
            self.scratch.pieces = pieces;
        }
    }

    /// A chain that ended.
    fn chain(&mut self, pieces: &joins::Pieces) {
        if self.may.chains || !pieces.count(self.text) {
            return;
        }
        let mut text = std::mem::take(&mut self.scratch.text);
        text.clear();
        for part in pieces.parts(self.text) {
            text.extend_from_slice(self.text.get(part).unwrap_or_default());
        }
        self.may.chains = self.sieve.may_be_chain(&text, pieces.are_string(self.text));
        self.scratch.text = text;
    }

    fn digit_run(&mut self, run: Range<usize>) {
        self.may.numbers |= !self.may.numbers && numbers::may_be(self.text, &run);
    }

    fn literal(&mut self, at: usize) {
        let sieve = self.sieve;
        sieve.literals.at(self.text, at, |what, start| match what {
            What::Anchor(rule) => self.anchor(*rule, start),
            What::Name { .. } | What::Value | What::Password | What::Kind if self.may.pairs => {}
            What::Name { at_end } => {
                let next = self.text.get(start + names::LAST_PIECE.len());
                if !at_end || !next.is_some_and(u8::is_ascii_alphabetic) {
                    self.named = true;
                    self.may.pairs = self.names.may_be_secret(start);
                }
            }
            What::Value if self.names.is_value(start) => {
                self.values = true;
                self.may.pairs = self.names.has_secret_value(start);
            }
            What::Value => {}
            What::Password => self.may.pairs = self.names.may_be_said(start),
            What::Kind => self.may.pairs = pairs::manifest::is_secret(self.text, start),
            What::Quoted => self.may.quoted = true,
            What::Characters => self.may.numbers = true,
        });
    }

    fn token_run(&mut self, run: Range<usize>) {
        self.sieve.in_runs.each(self.text, run.clone(), |rule, at| self.anchor(*rule, at));
        let mut at = run.start;
        while !self.may.runs && run.end - at >= runs::MIN_BASE64 {
            let Some(next) = peek::next(self.text.get(..run.end).unwrap_or_default(), at) else { break };
            at = next.end;
            self.encoded_run(next);
        }
    }

    fn encoded_run(&mut self, run: Range<usize>) {
        self.may.runs = match peek::decodes(self.text, &run) {
            Decodes::No => false,
            Decodes::Text => true,
            Decodes::Binary if run.len() > MAX_BINARY / 3 * 4 => true,
            Decodes::Binary => {
                let mut buffer = [0; MAX_BINARY];
                let chars = self.text.get(run).unwrap_or_default();
                self.sieve.may_match(peek::decode_into(chars, &mut buffer))
            }
        };
    }

    /// A run that may be the value of rules that have nothing else to be found by.
    fn random_run(&mut self, run: Range<usize>) {
        let sieve = self.sieve;
        if sieve.by_value.is_empty() || !has_digits(self.text.get(run.clone()).unwrap_or_default()) {
            return;
        }
        for rule in &sieve.by_value {
            if let Some(start) = rule.start(self.text, run.clone()) {
                self.found.add(rule.index, start);
            }
        }
    }

    /// Whether a random value may begin in this part of the text.
    fn is_before_random(&self, starts: Range<usize>) -> bool {
        let mut at = starts.start;
        while at <= starts.end {
            let rest = self.text.get(at..).unwrap_or_default();
            let len = rest.iter().take(MAX_VALUE).take_while(|b| values::is_of_random(**b)).count();
            let digits = has_digits(rest.get(..len).unwrap_or_default());
            if len == MAX_VALUE || (len >= values::LEAST_RANDOM && digits) {
                return true;
            }
            at += len + 1;
        }
        false
    }

    fn anchor(&mut self, rule: usize, at: usize) {
        let ends = Some(&self.ends).filter(|_| self.cuts);
        if self.found.reaches(rule, at) || !self.sieve.shapes.may_match(rule, self.text, at, ends) {
            return;
        }
        let value = self.sieve.value_after.get(rule).copied().flatten();
        if value.is_some_and(|after| {
            !self.is_before_random(at.saturating_sub(self.sieve.shapes.reach(rule))..at + after)
        }) {
            return;
        }
        self.found.add(rule, at);
    }
}

/// Whether a run has the digits of a random value.
fn has_digits(run: &[u8]) -> bool {
    run.iter().filter(|b| b.is_ascii_digit()).take(values::LEAST_DIGITS).count() == values::LEAST_DIGITS
}

/// Calls `on` with the number of each bit that is set, from the lowest on.
#[inline]
fn each_bit(mut bits: u64, mut on: impl FnMut(usize)) {
    while bits != 0 {
        on(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
