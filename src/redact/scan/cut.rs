//! Secrets cut off by the end of a value, of a string in it, or by a mark of truncation: shorter than their rule demands.

use std::ops::Range;

use memchr::memmem;
use regex::bytes::Regex;

use super::{Scan, digest};
use crate::redact::candidates::Candidate;
use crate::redact::decode::Place;
use crate::redact::marker;
use crate::redact::rules::Rule;
use crate::redact::validate::Verdict;

/// How far back from the end a cut secret may begin, in bytes.
const MAX_CUT: usize = 8192;
/// How far back from the end of the value what stands around a cut group may begin, in bytes.
const MAX_CONTEXT: usize = 512;
/// Least bytes from an anchor to the end.
const LEAST: usize = 4;
/// Starts that are tried for one end.
const TRIES: usize = 8;
/// How far behind the end a mark of truncation may stand, in bytes.
const MAX_MARK: usize = 96;
/// What says that something was left out, on the line that the secret ends on or the next.
const LEFT_OUT: [&[u8]; 9] = [
    b"truncated",
    b"truncation",
    b"omitted",
    b"clipped",
    b"elided",
    b"cut off",
    b"more line",
    b"more char",
    b"more byte",
];

impl Scan<'_> {
    /// The cut secrets of one rule. `whole`: its last whole secret, which may be the beginning of a cut one.
    pub(super) fn cut(&mut self, text: &[u8], candidate: Candidate, whole: Range<usize>, place: &Place<'_>) {
        let Some(rule) = self.compiled.rule(candidate.rule) else { return };
        let Some(cut) = &rule.cut else { return };
        let open = open_end(text);
        let first = candidate.first.saturating_sub(rule.before_anchor).max(whole.start);
        let mut done = whole.start;
        let everywhere = (!cut.at_end).then(|| anchors(rule, text, candidate));
        for anchor in everywhere.unwrap_or_default() {
            if anchor < done {
                continue;
            }
            let end = token_end(text, anchor);
            let start = token_start(text, end);
            let far = end < anchor + LEAST || end <= whole.end;
            if far || !(end >= open || may_be_cut_at(text, anchor, end)) {
                done = done.max(end.min(open));
                continue;
            }
            // What stands in front of a group may be a blank or a quote.
            let before = if rule.group.is_some() { rule.before_anchor.min(MAX_CONTEXT) } else { 0 };
            let start = start.saturating_sub(before).max(first);
            self.cut_before(text, candidate.rule, start..end, place);
            done = end;
        }
        // Other tokens stand around a group: looked for at the end of the value only.
        let from = open.saturating_sub(MAX_CONTEXT).max(first);
        if (rule.group.is_some() || cut.own) && done.max(whole.end) < open && candidate.last >= from {
            self.cut_before(text, candidate.rule, from..open, place);
        }
    }

    /// The cut secret that ends where a range does, of a match that begins in the range.
    fn cut_before(&mut self, text: &[u8], index: usize, range: Range<usize>, place: &Place<'_>) {
        let Some(rule) = self.compiled.rule(index) else { return };
        let Some(regex) = self.compiled.cut_regex(index) else {
            self.work.give_up();
            return;
        };
        let mut at = range.start;
        let upto = text.get(..range.end).unwrap_or_default();
        for _ in 0..TRIES {
            let Some(found) = regex.find_at(upto, at) else { break };
            self.work.note(found.end() - at);
            if !self.work.spend(found.len()) {
                return;
            }
            let secret = cut_secret(rule, regex, upto, found.range());
            let bytes = text.get(secret.clone()).unwrap_or_default();
            let good = secret.end == range.end
                && rule.accepts_cut(bytes)
                && rule.starts_well(text.get(..found.start()).unwrap_or_default())
                && has_anchor(rule, text.get(found.range()).unwrap_or_default())
                && !marker::overlaps(text, &secret)
                && !digest::holds(text, secret.start)
                && !digest::holds_cut(upto, secret.start)
                && !are_words(rule, bytes)
                && !(rule.group.is_some() && is_closed(text, &secret))
                && !self.compiled.set().allows(bytes);
            if good {
                self.emit(index, secret, place);
                break;
            }
            at = found.start() + 1;
        }
    }
}

/// Whether the quote that a secret begins behind stands behind it, too: it is whole.
fn is_closed(text: &[u8], secret: &Range<usize>) -> bool {
    let before = text.get(..secret.start).unwrap_or_default();
    let after = text.get(secret.end..).unwrap_or_default();
    let Some((quote @ (b'"' | b'\'' | b'`'), before)) = before.split_last() else { return false };
    let opening = before.iter().rev().take_while(|b| **b == b'\\').count();
    let closing = after.iter().take_while(|b| **b == b'\\').count();
    opening == closing && after.get(closing) == Some(quote)
}

/// The secret of a prefix of a match; empty: its group has not begun, only the name before it stands there.
fn cut_secret(rule: &Rule, regex: &Regex, text: &[u8], found: Range<usize>) -> Range<usize> {
    if rule.group.is_none() {
        return found;
    }
    // Patterns of cut secrets have this one group.
    let group = regex.captures_at(text, found.start).and_then(|captures| captures.get(1).map(|m| m.range()));
    group.unwrap_or(found.start..found.start)
}

/// Whether a validator rejects a cut secret that is long enough for it, and made of letters in lower case: `sk-ant-your-key-goes-here`.
fn are_words(rule: &Rule, secret: &[u8]) -> bool {
    const LONG: usize = 20;
    let word = |b: &u8| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.');
    secret.len() >= LONG && secret.iter().all(word) && rule.verdict(secret) == Verdict::Rejected
}

/// A prefix of a match counts only where it is long enough to hold the anchor.
fn has_anchor(rule: &Rule, found: &[u8]) -> bool {
    rule.anchors.iter().map(String::as_bytes).any(|anchor| {
        if rule.ignore_case {
            found.windows(anchor.len()).any(|window| window.eq_ignore_ascii_case(anchor))
        } else {
            memmem::find(found, anchor).is_some()
        }
    })
}

/// Where anchors of a rule stand.
fn anchors(rule: &Rule, text: &[u8], candidate: Candidate) -> Vec<usize> {
    let from = candidate.first;
    let rest = text.get(from..).unwrap_or_default();
    let mut all = Vec::new();
    for anchor in rule.anchors.iter().map(String::as_bytes) {
        if rule.ignore_case {
            let here = rest.windows(anchor.len()).enumerate();
            all.extend(
                here.filter(|(_, window)| window.eq_ignore_ascii_case(anchor)).map(|(at, _)| from + at),
            );
        } else {
            all.extend(memmem::find_iter(rest, anchor).map(|at| from + at));
        }
    }
    all.sort_unstable();
    all
}

/// Whether the token around the anchor at `anchor`, which ends at `end`, may be cut off there.
pub(in crate::redact) fn may_be_cut_at(text: &[u8], anchor: usize, end: usize) -> bool {
    end >= anchor + LEAST && (is_left_out(text, end) || is_string_cut(text, token_start(text, end), end))
}

/// Where the text ends, what closes strings and brackets left out.
pub(in crate::redact) fn open_end(text: &[u8]) -> usize {
    let closing =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'}' | b']' | b')' | b'\\' | b'`');
    text.iter().rposition(|b| !closing(b)).map_or(0, |at| at + 1)
}

/// Where the token around `at` ends: at a blank, a quote, an escape, an ellipsis.
pub(in crate::redact) fn token_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let ends = |at: usize, byte: u8| match byte {
        b'"' | b'\'' | b'`' | b'\\' | 0xe2 | b'}' | b']' | b')' | b'<' | b'[' | b'(' | b',' => true,
        b'.' => rest.get(at..at + 3) == Some(b"..."),
        byte => byte.is_ascii_whitespace(),
    };
    let len = rest.iter().take(MAX_CUT).enumerate().position(|(at, byte)| ends(at, *byte));
    at + len.unwrap_or(rest.len().min(MAX_CUT))
}

/// Where the text without blanks and quotes that ends at `end` begins.
fn token_start(text: &[u8], end: usize) -> usize {
    let from = end.saturating_sub(MAX_CUT);
    let bytes = text.get(from..end).unwrap_or_default();
    let outside = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    bytes.iter().rposition(outside).map_or(from, |at| from + at + 1)
}

/// Whether an ellipsis follows, or a note that something was left out.
fn is_left_out(text: &[u8], end: usize) -> bool {
    let rest = text.get(end..text.len().min(end + MAX_MARK)).unwrap_or_default();
    if rest.starts_with(b"...") || rest.starts_with("\u{2026}".as_bytes()) {
        return true;
    }
    let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'\\' | b'n' | b'r' | b'"' | b'\'' | b'`');
    let Some(start) = rest.iter().take(12).position(|b| !blank(b)) else { return false };
    let note = rest.get(start..).unwrap_or_default();
    if start > 0 && (note.starts_with(b"...") || note.starts_with("\u{2026}".as_bytes())) {
        return true;
    }
    let line = note.split(|b| matches!(b, b'\n' | b'\\')).next().unwrap_or_default().to_ascii_lowercase();
    LEFT_OUT.iter().any(|words| memmem::find(&line, words).is_some())
}

/// Whether the string that the token stands in ends with it, and holds more than it: what a tool wrote, cut and put into JSON.
fn is_string_cut(text: &[u8], start: usize, end: usize) -> bool {
    const LONGEST: usize = 64;
    let rest = text.get(end..).unwrap_or_default();
    let escapes = rest.iter().take(LONGEST).take_while(|b| **b == b'\\').count();
    let Some(quote) = rest.get(escapes).copied().filter(|b| matches!(b, b'"' | b'\'')) else { return false };
    // A line of output stands before it: a blank, or the escape of a line end.
    let from = start.saturating_sub(LONGEST);
    let before = text.get(from..end).unwrap_or_default();
    let last_quote = memchr::memrchr(quote, before).map_or(0, |at| at + 1);
    let before = before.get(last_quote..).unwrap_or_default();
    before.iter().any(u8::is_ascii_whitespace) || memmem::find(before, b"\\n").is_some()
}
