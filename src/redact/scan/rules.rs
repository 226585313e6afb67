//! Rules over one text: the prefilter, then the regex of each rule that it names.

use std::ops::Range;

use regex::bytes::Regex;

use super::Scan;
use crate::redact::compile::{Candidate, secret_of};
use crate::redact::decode::Place;
use crate::redact::decode::joins::{self, Chain, is_word};
use crate::redact::finding::{Finder, Finding};
use crate::redact::marker;
use crate::redact::rules::{Mode, Rule, Specificity};
use crate::redact::validate::Verdict;

impl Scan<'_> {
    /// All rules over a text.
    pub(super) fn rules(&mut self, text: &[u8], place: &Place<'_>) {
        for candidate in self.compiled.candidates(text) {
            self.rule(text, candidate, place);
        }
    }

    /// Tokens in pieces. Only what spans a break counts: the rest was found in the text itself.
    pub(super) fn chains(&mut self, text: &[u8], place: &Place<'_>) {
        joins::each(text, |chain| {
            if !self.work.spend(chain.view.bytes.len()) {
                return;
            }
            let inner = place.in_chars(&chain.view);
            for candidate in self.compiled.candidates(&chain.view.bytes) {
                self.chain(&chain, candidate, &inner);
            }
        });
    }

    fn rule(&mut self, text: &[u8], candidate: Candidate, place: &Place<'_>) {
        let Some((rule, regex)) = self.compiled.rule(candidate.rule).zip(self.compiled.regex(candidate.rule))
        else {
            self.work.give_up();
            return;
        };
        let mut covered = 0;
        let mut at = candidate.first.saturating_sub(rule.before_anchor);
        while let Some(found) = regex.find_at(text, at) {
            self.work.note(found.end() - at);
            // A match is read again where the search goes on inside it.
            if !self.work.spend(found.len()) {
                return;
            }
            if let Some(secret) = self.accept(rule, regex, text, found.range()) {
                at = next_start(rule, text, found.range());
                covered = secret.end;
                self.emit(candidate.rule, secret, place);
            } else {
                at = found.start() + 1;
            }
        }
        self.work.note(text.len().saturating_sub(at));
        self.cut(text, candidate, covered, place);
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
            at = found.end().max(found.start() + 1);
            let Some(secret) = self.accept(rule, regex, text, found.range()) else { continue };
            let secret = without_words(chain, regex, text, found.start(), secret);
            let mut inside =
                chain.breaks.iter().filter(|at| secret.start < **at && **at < secret.end).peekable();
            // Words go on over a line end in prose; only a vendor's own prefix says that this is a token.
            let prose = rule.specificity < Specificity::KnownFormat
                && inside.clone().any(|at| {
                    is_word(text.get(secret.start..*at).unwrap_or_default())
                        || is_word(text.get(*at..secret.end).unwrap_or_default())
                });
            if inside.peek().is_some() && !prose {
                self.emit(candidate.rule, secret, place);
            }
        }
    }

    /// The secret of a match, if it is one.
    fn accept(&self, rule: &Rule, regex: &Regex, text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
        if !rule.starts_well(text.get(..found.start)?) {
            return None;
        }
        let secret = secret_of(rule, regex, text, found);
        let bytes = text.get(secret.clone())?;
        let counts = !bytes.is_empty()
            && !marker::is_redacted(bytes)
            && !marker::holds(text, &secret)
            && rule.replacement.as_ref().is_none_or(|own| own.as_bytes() != bytes)
            && rule.verdict(bytes) != Verdict::Rejected
            && !self.compiled.set().allows(bytes);
        counts.then_some(secret)
    }

    /// Records what a rule found in the text at `place`.
    pub(super) fn emit(&mut self, index: usize, secret: Range<usize>, place: &Place<'_>) {
        let range = place.source(secret);
        match self.compiled.rule(index).map(|rule| rule.mode) {
            Some(Mode::Audit) => self.audited.push((index, range)),
            _ => self.findings.push(Finding { range, finder: Finder::Rule(index), quote: None }),
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

/// Takes words of the next lines off the end of a match over several pieces, where what is left is still a match.
fn without_words(
    chain: &Chain,
    regex: &Regex,
    text: &[u8],
    start: usize,
    secret: Range<usize>,
) -> Range<usize> {
    let mut end = secret.end;
    for &at in chain.breaks.iter().rev().filter(|at| secret.start < **at && **at < secret.end) {
        let piece = text.get(at..end).unwrap_or_default();
        let shorter = text.get(..at).unwrap_or_default();
        if !is_word(piece)
            || regex.find_at(shorter, start).is_none_or(|m| m.start() != start || m.end() != at)
        {
            break;
        }
        end = at;
    }
    secret.start..end
}
