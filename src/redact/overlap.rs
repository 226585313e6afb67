//! From findings to edits: where findings overlap, the most specific names the marker and the union is covered.
//!
//! Ranges are of the source text. Nothing of a masked value is left beside the marker but a scheme word (`Bearer `) in
//! front, and what closes the value.

use std::borrow::Cow;
use std::ops::Range;

use super::compile::Compiled;
use super::finding::{Finder, Finding};
use super::scheme::scheme_len;

/// One replacement in the source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) finder: Finder,
    pub(super) quote: Option<Quote>,
    /// Nothing stands in its place: the marker is where the secret begins.
    pub(super) continues: bool,
}

/// What is put around a marker in place of a number of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Quote {
    /// As it stands elsewhere in the text, with its escapes.
    At(Range<usize>),
    /// A double quote of JSON in so many strings of JSON.
    Level(u8),
}

impl Quote {
    /// Its bytes.
    pub(super) fn of<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match self {
            Self::At(range) => text.get(range.clone()).unwrap_or_default().into(),
            Self::Level(level) => {
                let mut quote = vec![b'\\'; (1 << level) - 1];
                quote.push(b'"');
                quote.into()
            }
        }
    }
}

/// How long what closes a value may be to be left alone beside a specific finding, in bytes.
const MAX_CLOSING: usize = 4;

/// Disjoint edits in the order of the text.
pub(super) fn resolve(text: &[u8], mut findings: Vec<Finding>, compiled: &Compiled) -> Vec<Edit> {
    findings.retain(|f| f.range.start < f.range.end && f.range.end <= text.len());
    findings.sort_by_key(|f| (f.range.start, f.range.end));
    let mut edits: Vec<Edit> = Vec::new();
    let mut cluster: Option<Cluster> = None;
    for finding in findings {
        match &mut cluster {
            Some(open) if finding.range.start < open.union.end => open.add(finding, compiled),
            _ => {
                edits.extend(cluster.take().map(|done| done.into_edit(text)));
                cluster = Some(Cluster::new(finding));
            }
        }
    }
    edits.extend(cluster.map(|done| done.into_edit(text)));
    edits
}

/// Findings that overlap.
struct Cluster {
    union: Range<usize>,
    winner: Finding,
    quote: Option<Range<usize>>,
    continues: bool,
}

impl Cluster {
    fn new(finding: Finding) -> Self {
        Self {
            union: finding.range.clone(),
            quote: finding.quote.clone(),
            continues: finding.continues,
            winner: finding,
        }
    }

    fn add(&mut self, finding: Finding, compiled: &Compiled) {
        self.union.end = self.union.end.max(finding.range.end);
        if self.quote.is_none() {
            self.quote.clone_from(&finding.quote);
        }
        self.continues &= finding.continues;
        let (new, old) = (finding.finder.rank(compiled), self.winner.finder.rank(compiled));
        if new > old {
            self.winner = finding;
        } else if new == old {
            // The same rule found it in several views: the widest is the secret.
            self.winner.range.end = self.winner.range.end.max(finding.range.end);
        }
    }

    fn into_edit(self, text: &[u8]) -> Edit {
        let left = text.get(self.union.start..self.winner.range.start).unwrap_or_default();
        let right = text.get(self.winner.range.end..self.union.end).unwrap_or_default();
        let scheme = scheme_len(text.get(self.union.clone()).unwrap_or_default());
        let start = if scheme == Some(left.len()) || is_closed(left) {
            self.winner.range.start
        } else {
            self.union.start
        };
        let end = if is_closed(right) { self.winner.range.end } else { self.union.end };
        Edit {
            range: whole_chars(text, start..end),
            finder: self.winner.finder,
            quote: self.quote.map(Quote::At),
            continues: self.continues,
        }
    }
}

fn is_closed(leftover: &[u8]) -> bool {
    leftover.len() <= MAX_CLOSING && leftover.iter().all(is_closing)
}

/// The range, widened to whole UTF-8 characters: a pattern reads bytes, and a text must stay valid.
fn whole_chars(text: &[u8], range: Range<usize>) -> Range<usize> {
    let continues = |at: &usize| text.get(*at).is_some_and(|b| b & 0xc0 == 0x80);
    let before = (0..3).take_while(|n| range.start.checked_sub(*n).as_ref().is_some_and(continues)).count();
    let after = (range.end..range.end + 3).take_while(continues).count();
    range.start.saturating_sub(before)..range.end + after
}

/// What closes or separates values rather than belongs to one.
fn is_closing(byte: &u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b')' | b']' | b'}' | b'>')
}
