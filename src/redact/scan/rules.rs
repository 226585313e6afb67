//! Rules over one text: the prefilter, then the regex of each rule that it names.

use std::ops::Range;

use regex::bytes::Regex;

use super::{Scan, digest, record};
use crate::redact::candidates::{Candidate, Candidates};
use crate::redact::compile::secret_of;
use crate::redact::decode::Place;
use crate::redact::decode::joins::{self, Bond, Chain, is_word};
use crate::redact::finding::Finder;
use crate::redact::marker;
use crate::redact::rules::{Mode, Rule, Specificity};
use crate::redact::validate::Verdict;
use crate::redact::wordy::is_wordy;

/// A match in a chain that is no longer is looked into for another if it is none, in bytes.
const LONG: usize = 64;

impl Scan<'_> {
    /// These rules over a text.
    pub(super) fn rules(&mut self, text: &[u8], candidates: Candidates, place: &Place<'_>) {
        for candidate in candidates {
            self.rule(text, candidate, place);
        }
    }

    /// Tokens in pieces. Only what spans a break counts: the rest was found in the text itself.
    pub(super) fn chains(&mut self, text: &[u8], place: &Place<'_>) {
        joins::each(text, |chain| {
            if !self.work.spend(chain.view.bytes.len()) {
                return;
            }
            let inner = place.in_chain(&chain.view);
            let (candidates, may) = self.look(&chain.view.bytes, &inner);
            for candidate in candidates {
                self.chain(&chain, candidate, &inner);
            }
            if may.runs {
                self.runs(&chain.view.bytes, &inner);
            }
            let strings = chain.breaks.iter().any(|b| b.bond == Bond::String);
            if may.pairs && strings && self.compiled.set().named_pairs() {
                self.text_pairs(&chain.view.bytes, &inner, |value| chain.is_string(value));
            }
        });
    }

    fn rule(&mut self, text: &[u8], candidate: Candidate, place: &Place<'_>) {
        let Some((rule, regex)) = self.compiled.rule(candidate.rule).zip(self.compiled.regex(candidate.rule))
        else {
            self.work.give_up();
            return;
        };
        let mut whole = 0..0;
        let mut at = candidate.first.saturating_sub(rule.before_anchor);
        while let Some(found) = regex.find_at(text, at) {
            self.work.note(found.end() - at);
            // A match is read again where the search goes on inside it.
            if !self.work.spend(found.len()) {
                return;
            }
            let before = text.get(..found.start()).unwrap_or_default();
            let secret = self.accept(rule, regex, text, found.range());
            if let Some(secret) = secret.filter(|_| rule.starts_well(before)) {
                at = next_start(rule, text, found.range());
                whole = secret.clone();
                self.emit(candidate.rule, secret, place);
            } else {
                at = found.start() + 1;
            }
        }
        self.work.note(text.len().saturating_sub(at));
        self.cut(text, candidate, whole, place);
    }

    fn chain(&mut self, chain: &Chain, candidate: Candidate, place: &Place<'_>) {
        let text = &chain.view.bytes;
        let Some((rule, regex)) = self.compiled.rule(candidate.rule).zip(self.compiled.regex(candidate.rule))
        else {
            self.work.give_up();
            return;
        };
        let mut at = candidate.first.saturating_sub(rule.before_anchor);
        while let Some(found) = regex.find_at(text, at) {
            if !self.work.spend(found.len()) {
                return;
            }
            // A word may end at the break before a token.
            let begins = || {
                let at_break = chain.breaks.iter().any(|b| b.at == found.start());
                (at_break && rule.preceded_by.is_none())
                    || rule.starts_well(text.get(..found.start()).unwrap_or_default())
            };
            let Some(secret) = self.accept(rule, regex, text, found.range()).filter(|_| begins()) else {
                // A long match is not read again from each of its bytes.
                at = if found.len() > LONG { found.end() } else { found.start() + 1 };
                continue;
            };
            at = found.end().max(found.start() + 1);
            let secret = without_words(chain, regex, text, found.start(), secret);
            let secret = without_neighbours(chain, regex, text, found.start(), secret);
            let inside = || chain.inside(&secret);
            // A neighbour is a piece where it is one as a whole.
            let neighbours = inside().any(|b| b.bond == Bond::Neighbours);
            let part = neighbours && (!chain.piece_ends(secret.end) || chain.is_of_words(&secret));
            // Words go on over a line end in prose; only a vendor's own prefix says that this is a token.
            let prose = rule.specificity < Specificity::Jwt
                && inside().any(|b| {
                    b.bond == Bond::Neighbours
                        || is_word(text.get(secret.start..b.at).unwrap_or_default())
                        || is_word(text.get(b.at..secret.end).unwrap_or_default())
                });
            if inside().next().is_some() && !prose && !part && !is_list_of_names(chain, &secret) {
                self.emit(candidate.rule, secret, place);
            }
        }
    }

    /// The secret of a match, if it is one.
    fn accept(&self, rule: &Rule, regex: &Regex, text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
        let secret = secret_of(rule, regex, text, found.clone());
        let bytes = text.get(secret.clone())?;
        let counts = !bytes.is_empty()
            && rule.ends_well(text.get(found.end..)?)
            && !marker::is_redacted(bytes)
            && !marker::holds(text, &secret)
            && rule.replacement.as_ref().is_none_or(|own| own.as_bytes() != bytes)
            && match rule.verdict(bytes) {
                Verdict::Rejected => false,
                Verdict::Confirmed => true,
                Verdict::Plausible => !digest::holds(text, secret.start),
            }
            && !rule.spares(text, &found, bytes)
            && !self.compiled.set().allows(bytes);
        counts.then_some(secret)
    }

    /// Records what a rule found in the text at `place`.
    pub(super) fn emit(&mut self, index: usize, secret: Range<usize>, place: &Place<'_>) {
        match self.compiled.rule(index).map(|rule| rule.mode) {
            Some(Mode::Audit) => self.audited.push((index, place.source(secret))),
            _ => record(&mut self.findings, Finder::Rule(index), secret, None, place),
        }
    }
}

/// Where to search on after a match: at its end, or at an anchor that begins in it and ends behind it (a token glued to another).
fn next_start(rule: &Rule, text: &[u8], found: Range<usize>) -> usize {
    let behind = |anchor: &String| {
        let from = (found.end + 1).saturating_sub(anchor.len()).max(found.start + 1);
        let window = text.get(from..(found.end + anchor.len()).min(text.len()))?;
        let at =
            window.windows(anchor.len()).position(|here| here.eq_ignore_ascii_case(anchor.as_bytes()))?;
        Some(from + at).filter(|at| *at < found.end)
    };
    let glued = rule.anchors.iter().filter(|anchor| !anchor.is_empty()).filter_map(behind).min();
    glued.unwrap_or(found.end).max(found.start + 1)
}

/// Whether a secret in pieces is a list of names (`"KEYFRAMES", "LAYER", "scope"`), as parsers and source maps hold them.
fn is_list_of_names(chain: &Chain, secret: &Range<usize>) -> bool {
    const SHORTEST: usize = 3;
    if !chain.inside(secret).all(|b| b.bond == Bond::Neighbours) {
        return false;
    }
    let (mut start, mut names, mut pieces) = (secret.start, 0, 0);
    for end in chain.inside(secret).map(|b| b.at).chain([secret.end]) {
        let piece = chain.view.bytes.get(start..end).unwrap_or_default();
        let letters = piece.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_');
        names += usize::from(is_word(piece) || (piece.len() > 5 && letters && is_wordy(piece)));
        pieces += 1;
        start = end;
    }
    secret.len() >= pieces * SHORTEST && names * 4 >= pieces * 3
}

/// Takes words of the next lines off the end of a match over several pieces, where what is left is still a match.
fn without_words(
    chain: &Chain,
    regex: &Regex,
    text: &[u8],
    start: usize,
    secret: Range<usize>,
) -> Range<usize> {
    let mut end = secret.end;
    for b in chain.inside(&secret).rev() {
        let piece = text.get(b.at..end).unwrap_or_default();
        if b.bond == Bond::String || !is_word(piece) || !is_whole(regex, text, start..b.at) {
            break;
        }
        end = b.at;
    }
    secret.start..end
}

/// Ends a match at the first break where it is whole and what follows is only a neighbour.
fn without_neighbours(
    chain: &Chain,
    regex: &Regex,
    text: &[u8],
    start: usize,
    secret: Range<usize>,
) -> Range<usize> {
    match chain
        .inside(&secret)
        .next()
        .filter(|b| b.bond == Bond::Neighbours && is_whole(regex, text, start..b.at))
    {
        Some(first) => secret.start..first.at,
        None => secret,
    }
}

/// Whether a match begins and ends so.
fn is_whole(regex: &Regex, text: &[u8], range: Range<usize>) -> bool {
    let shorter = text.get(..range.end).unwrap_or_default();
    regex.find_at(shorter, range.start).is_some_and(|m| m.range() == range)
}
