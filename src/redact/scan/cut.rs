//! Secrets cut off by the end of a value, or by an ellipsis: shorter than their rule demands.

use std::ops::Range;

use memchr::memmem;
use regex::bytes::Regex;

use super::{Scan, digest};
use crate::redact::compile::Candidate;
use crate::redact::decode::Place;
use crate::redact::marker;
use crate::redact::rules::Rule;

/// How far back from the end a cut secret may begin, in bytes.
const MAX_CUT: usize = 8192;
/// Starts that are tried for one end.
const TRIES: usize = 8;
/// What stands where something was left out.
const ELLIPSES: [&[u8]; 5] = [b"...", "\u{2026}".as_bytes(), b"[trunc", b"<trunc", b"(trunc"];

impl Scan<'_> {
    /// The cut secrets of one rule. `covered`: where its last whole secret ends.
    pub(super) fn cut(&mut self, text: &[u8], candidate: Candidate, covered: usize, place: &Place<'_>) {
        let Some(rule) = self.compiled.rule(candidate.rule) else { return };
        let Some(cut) = &rule.cut else { return };
        for end in ends(text, candidate.first) {
            if end <= covered || end < candidate.first + cut.floor.min(4) {
                continue;
            }
            let Some(regex) = self.compiled.cut_regex(candidate.rule) else {
                self.work.give_up();
                return;
            };
            let first = candidate.first.saturating_sub(rule.before_anchor).max(covered);
            let mut at = token_start(text, end).max(first);
            let upto = text.get(..end).unwrap_or_default();
            for _ in 0..TRIES {
                let Some(found) = regex.find_at(upto, at) else { break };
                self.work.note(found.end() - at);
                if !self.work.spend(found.len()) {
                    return;
                }
                let secret = cut_secret(rule, regex, upto, found.range());
                let good = secret.end == end
                    && secret.len() >= cut.floor
                    && !marker::holds(text, &secret)
                    && rule.starts_well(text.get(..found.start()).unwrap_or_default())
                    && has_anchor(rule, text.get(found.range()).unwrap_or_default());
                let good = good && !digest::holds_cut(upto, secret.start);
                if good && !self.compiled.set().allows(text.get(secret.clone()).unwrap_or_default()) {
                    self.emit(candidate.rule, secret, place);
                    break;
                }
                at = found.start() + 1;
            }
        }
    }
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

/// Where a value may have been cut: its end, and before every ellipsis.
fn ends(text: &[u8], from: usize) -> Vec<usize> {
    let closing =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'}' | b']' | b')' | b'\\' | b'`');
    let open = text.iter().rposition(|b| !closing(b)).map_or(0, |at| at + 1);
    let mut ends = vec![open];
    let rest = text.get(from..).unwrap_or_default();
    for ellipsis in ELLIPSES {
        let mut after = usize::MAX;
        for at in memmem::find_iter(rest, ellipsis).map(|at| at + from) {
            // A row of dots is one ellipsis.
            if at != after {
                ends.push(at);
            }
            after = at + ellipsis.len();
        }
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Where the text without blanks and quotes that ends at `end` begins.
fn token_start(text: &[u8], end: usize) -> usize {
    let window: Range<usize> = end.saturating_sub(MAX_CUT)..end;
    let bytes = text.get(window.clone()).unwrap_or_default();
    let outside = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    bytes.iter().rposition(outside).map_or(window.start, |at| window.start + at + 1)
}
