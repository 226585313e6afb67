//! Tokens in pieces: broken over lines (terminal width, prefixes of lines, frames of boxes, `\` at the end of a line), written
//! as several strings (`"abc" + "def"`, `['abc', 'def']`) or parted by markup (`abc<wbr>def`).
//!
//! A view here is not the whole text but the pieces of one chain put together, with what stands around them. What stands
//! between two pieces is `glue`'s. Whether a match across the break is real is for `scan` to judge.

use std::ops::Range;

use super::View;
use super::glue;
use crate::redact::wordlist::ends_with_any;

pub(in crate::redact) use super::glue::Bond;

/// Least length of all pieces together.
const MIN_CHAIN: usize = 16;
/// So many pieces that are words are not worth a look.
const FEW: usize = 4;
/// How much of the lines around the pieces belongs to the view, in bytes.
const MAX_CONTEXT: usize = 160;

/// Pieces put together.
pub(in crate::redact) struct Chain {
    /// The pieces without what stands between them, and what stands around them on their lines.
    pub(in crate::redact) view: View,
    /// Where in the view each piece but the first begins.
    pub(in crate::redact) breaks: Vec<Break>,
}

/// Where two pieces meet.
pub(in crate::redact) struct Break {
    /// Where in the view.
    pub(in crate::redact) at: usize,
    /// How sure it is that they are one.
    pub(in crate::redact) bond: Bond,
}

impl Chain {
    /// The breaks inside of a range of the view.
    pub(in crate::redact) fn inside<'c>(
        &'c self,
        range: &Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'c Break> + use<'c> {
        let range = range.clone();
        self.breaks.iter().filter(move |b| range.start < b.at && b.at < range.end)
    }

    /// Whether a range of the view is a string that was written in several, and no more.
    pub(in crate::redact) fn is_string(&self, range: &Range<usize>) -> bool {
        self.inside(range).next().is_some() && self.inside(range).all(|b| b.bond == Bond::String)
    }

    /// Whether all pieces of a range are words, and not many.
    pub(in crate::redact) fn is_of_words(&self, range: &Range<usize>) -> bool {
        if self.inside(range).count() > FEW {
            return false;
        }
        let ends = self.inside(range).map(|b| b.at).chain(std::iter::once(range.end));
        let mut start = range.start;
        ends.into_iter().all(|end| {
            let piece = self.view.bytes.get(start..end).unwrap_or_default();
            start = end;
            is_word(piece)
        })
    }

    /// Whether a piece, and not only a part of it, ends at a place of the view.
    pub(in crate::redact) fn piece_ends(&self, at: usize) -> bool {
        self.breaks.iter().any(|b| b.at == at) || !self.view.bytes.get(at).is_some_and(|b| glue::is_token(*b))
    }
}

/// Calls `found` with every chain of two pieces or more.
pub(in crate::redact) fn each(text: &[u8], mut found: impl FnMut(Chain)) {
    let mut open = Open { text, pieces: Vec::new(), bonds: Vec::new() };
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(|b| glue::may_begin(*b))) {
        at += next;
        let Some(glue) = glue::at(text, at) else {
            at += 1;
            continue;
        };
        if open.pieces.last().is_none_or(|last| last.end != glue.range.start) {
            open.finish(&mut found);
            open.pieces.push(piece_before(text, glue.range.start));
        }
        open.pieces.push(piece_after(text, glue.range.end));
        open.bonds.push(glue.bond);
        at = glue.range.end;
    }
    open.finish(&mut found);
}

/// A chain that may go on.
struct Open<'t> {
    text: &'t [u8],
    pieces: Vec<Range<usize>>,
    bonds: Vec<Bond>,
}

impl Open<'_> {
    fn finish(&mut self, found: &mut impl FnMut(Chain)) {
        if self.is_put_together() {
            self.bonds
                .iter_mut()
                .filter(|bond| **bond == Bond::Neighbours)
                .for_each(|bond| *bond = Bond::String);
        }
        let bytes = |piece: &Range<usize>| self.text.get(piece.clone()).unwrap_or_default();
        let long = self.pieces.iter().map(Range::len).sum::<usize>() >= MIN_CHAIN;
        // Many short pieces are each a word.
        let words = self.pieces.len() <= FEW && self.pieces.iter().all(|piece| is_word(bytes(piece)));
        if long && !words {
            let (mut view, mut breaks) = (View::default(), Vec::new());
            // What is only listed together has nothing around it.
            let context = self.bonds.iter().any(|bond| *bond != Bond::Neighbours);
            let first = self.pieces.first().map_or(0, |piece| piece.start);
            let before = if context { context_before(self.text, first) } else { first..first };
            view.copy(before.start, bytes(&before));
            for (nth, piece) in self.pieces.iter().enumerate() {
                if let Some(bond) = nth.checked_sub(1).and_then(|nth| self.bonds.get(nth)) {
                    breaks.push(Break { at: view.bytes.len(), bond: *bond });
                }
                view.copy(piece.start, bytes(piece));
            }
            let last = self.pieces.last().map_or(0, |piece| piece.end);
            let after = if context { context_after(self.text, last) } else { last..last };
            view.copy(after.start, bytes(&after));
            found(Chain { view, breaks });
        }
        self.pieces.clear();
        self.bonds.clear();
    }
}

/// Functions that put their arguments, or the elements of a list, together.
const JOINING_CALLS: &str = "join concat concat! paste0 append concatenate implode";

impl Open<'_> {
    /// Whether neighbours are one string by what stands around them: `concat(..)`, `[..].join("")`, `key = "abc" "def"`.
    fn is_put_together(&self) -> bool {
        if !self.bonds.contains(&Bond::Neighbours) {
            return false;
        }
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return false };
        let before = self.text.get(first.start.saturating_sub(20)..first.start).unwrap_or_default();
        let open =
            |b: &u8| matches!(b, b'"' | b'\'' | b'`' | b' ' | b',' | b'[' | b'(' | b'f' | b'r' | b'b' | b'u');
        let end = before.iter().rposition(|b| !open(b)).map_or(0, |at| at + 1);
        let opening = before.get(end..).unwrap_or_default();
        let callee = before.get(..end).unwrap_or_default();
        let after = self.text.get(last.end..self.text.len().min(last.end + 12)).unwrap_or_default();
        let called = opening.contains(&b'(') && ends_with_any(callee, JOINING_CALLS);
        let assigned = self.is_side_by_side() && callee.last() == Some(&b'=') && opening.contains(&b' ');
        called || assigned || memchr::memmem::find(after, b".join(").is_some()
    }

    /// Whether nothing but blanks and quotes stands between the pieces.
    fn is_side_by_side(&self) -> bool {
        self.pieces.windows(2).all(|pair| {
            let between = pair.first().zip(pair.last()).and_then(|(a, b)| self.text.get(a.end..b.start));
            between.is_some_and(|between| between.iter().all(|b| !matches!(b, b',' | b'=' | b')' | b';')))
        })
    }
}

/// What stands before the first piece on its line: a scheme, a name.
fn context_before(text: &[u8], end: usize) -> Range<usize> {
    let start = end.saturating_sub(MAX_CONTEXT);
    let window = text.get(start..end).unwrap_or_default();
    memchr::memrchr(b'\n', window).map_or(start, |at| start + at + 1)..end
}

/// What stands behind the last piece on its line: the host after a password.
fn context_after(text: &[u8], start: usize) -> Range<usize> {
    let window = text.get(start..).unwrap_or_default();
    let len =
        window.iter().take(MAX_CONTEXT).position(|b| *b == b'\n').unwrap_or(MAX_CONTEXT.min(window.len()));
    start..start + len
}

fn piece_before(text: &[u8], end: usize) -> Range<usize> {
    let window = text.get(end.saturating_sub(glue::MAX_PIECE)..end).unwrap_or_default();
    let len = window.iter().rev().take_while(|b| glue::is_token(**b)).count();
    end - len..end
}

fn piece_after(text: &[u8], start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let len = rest.iter().take(glue::MAX_PIECE).take_while(|b| glue::is_token(**b)).count();
    start..start + len
}

/// Letters in the case of a word or of a constant, or a number: not a piece of a token by itself.
pub(in crate::redact) fn is_word(piece: &[u8]) -> bool {
    let letters = piece.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = piece.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = piece.iter().filter(|b| b.is_ascii_uppercase()).count();
    let first = usize::from(piece.first().is_some_and(u8::is_ascii_uppercase));
    (letters == 0 || digits == 0) && (upper == first || upper == letters)
}
