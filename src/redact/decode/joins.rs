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

/// How far behind a piece the break may stand that ends it, in bytes.
const MAX_FILLERS: usize = 256;

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
    let mut pieces = Pieces::default();
    let mut take = |pieces: &Pieces| {
        if pieces.count(text) {
            found(pieces.chain(text));
        }
    };
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(|b| glue::may_begin(*b))) {
        at += next;
        pieces.add(text, at, &mut take);
        at += 1;
    }
    pieces.finish(&mut take);
}

/// Whether a byte may be where two pieces meet.
pub(in crate::redact) fn is_break(byte: u8) -> bool {
    glue::may_begin(byte)
}

/// Whether a byte may stand right before such a byte.
pub(in crate::redact) fn may_precede(byte: u8) -> bool {
    glue::may_precede(byte)
}

/// The pieces of a chain that may go on.
#[derive(Debug, Default)]
pub(in crate::redact) struct Pieces {
    pieces: Vec<Range<usize>>,
    bonds: Vec<Bond>,
    /// What was looked at, in a text.
    read: usize,
}

impl Pieces {
    /// None.
    pub(in crate::redact) const fn new() -> Self {
        Self { pieces: Vec::new(), bonds: Vec::new(), read: 0 }
    }

    /// Forgets all, for another text.
    pub(in crate::redact) fn clear(&mut self) {
        self.pieces.clear();
        self.bonds.clear();
        self.read = 0;
    }

    /// Takes what the break at `at` joins; breaks come in order. Calls `found` with a chain that ended before it.
    pub(in crate::redact) fn add(&mut self, text: &[u8], at: usize, found: &mut impl FnMut(&Self)) {
        if at < self.read {
            return;
        }
        let Some(glue) = glue::at(text, at) else { return };
        if self.pieces.last().is_none_or(|last| last.end != glue.range.start) {
            self.finish(found);
            self.pieces.push(piece_before(text, glue.range.start));
        }
        self.pieces.push(piece_after(text, glue.range.end));
        self.bonds.push(glue.bond);
        self.read = glue.range.end;
    }

    /// The text ends.
    pub(in crate::redact) fn finish(&mut self, found: &mut impl FnMut(&Self)) {
        if !self.bonds.is_empty() {
            found(self);
        }
        let read = self.read;
        self.clear();
        self.read = read;
    }

    /// Whether the last piece ends at `at`.
    pub(in crate::redact) fn end_at(&self, at: usize) -> bool {
        self.pieces.last().is_some_and(|last| last.end == at)
    }

    /// Whether they are long enough and not a few words.
    pub(in crate::redact) fn count(&self, text: &[u8]) -> bool {
        let long = self.pieces.iter().map(Range::len).sum::<usize>() >= MIN_CHAIN;
        // Many short pieces are each a word.
        let word = |piece: &Range<usize>| is_word(text.get(piece.clone()).unwrap_or_default());
        long && !(self.pieces.len() <= FEW && self.pieces.iter().all(word))
    }

    /// Whether they are one string.
    pub(in crate::redact) fn are_string(&self, text: &[u8]) -> bool {
        self.bonds.contains(&Bond::String) || self.is_put_together(text)
    }

    /// What is put together: the context before, the pieces, the context behind.
    pub(in crate::redact) fn parts(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        // What is only listed together has nothing around it.
        let context = self.bonds.iter().any(|bond| *bond != Bond::Neighbours) || self.is_put_together(text);
        let first = self.pieces.first().map_or(0, |piece| piece.start);
        let last = self.pieces.last().map_or(0, |piece| piece.end);
        let before = if context { context_before(text, first) } else { first..first };
        let after = if context { context_after(text, last) } else { last..last };
        std::iter::once(before).chain(self.pieces.iter().cloned()).chain([after])
    }

    fn chain(&self, text: &[u8]) -> Chain {
        let put_together = self.is_put_together(text);
        let (mut view, mut breaks) = (View::default(), Vec::new());
        for (nth, part) in self.parts(text).enumerate() {
            if let Some(bond) = nth.checked_sub(2).and_then(|nth| self.bonds.get(nth)) {
                let bond = if put_together && *bond == Bond::Neighbours { Bond::String } else { *bond };
                breaks.push(Break { at: view.bytes.len(), bond });
            }
            view.copy(part.start, text.get(part).unwrap_or_default());
        }
        Chain { view, breaks }
    }
}

/// Whether a line end stands between two words of prose: nothing is common to the begins of both lines, and nothing is put to
/// the second word.
pub(in crate::redact) fn is_plain_wrap(text: &[u8], at: usize) -> bool {
    const LONGEST: usize = 32;
    let (before, line) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let Some(first) = line.first().filter(|b| b.is_ascii_alphabetic()) else { return false };
    let same = |begin: Option<&u8>| begin.is_none_or(|b| b == first || matches!(b, b'P' | b'F'));
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let whole = before.get(start..).unwrap_or_default();
    let quoted = memchr::memrchr(b'"', whole).is_some_and(|quote| same(whole.get(quote + 1)));
    if same(whole.first()) || quoted {
        return false;
    }
    let len = whole.iter().rev().take(LONGEST).take_while(|b| glue::is_token(**b)).count();
    let last = whole.get(whole.len() - len..).unwrap_or_default();
    let len = line.iter().take(LONGEST).take_while(|b| glue::is_token(**b)).count();
    let next = line.get(..len).unwrap_or_default();
    last.last().is_some_and(|b| *b != b'+')
        && last.len() < LONGEST
        && next.len() < LONGEST
        && is_word(last)
        && is_word(next)
        && !ends_before_glue(text, at + 1 + len)
}

/// Whether other glue begins where a piece ends.
fn ends_before_glue(text: &[u8], end: usize) -> bool {
    let window = text.get(end..text.len().min(end + MAX_FILLERS)).unwrap_or_default();
    // Fillers may stand before the byte that tells.
    let mut begins =
        window.iter().enumerate().take_while(|(_, b)| glue::may_begin(**b) || !glue::is_token(**b));
    begins.any(|(nth, b)| {
        glue::may_begin(*b) && glue::at(text, end + nth).is_some_and(|glue| glue.range.start == end)
    })
}

/// Functions that put their arguments, or the elements of a list, together.
const JOINING_CALLS: &str = "join concat concat! paste0 append concatenate implode";

impl Pieces {
    /// Whether neighbours are one string by what stands around them: `concat(..)`, `[..].join("")`, `key = "abc" "def"`.
    fn is_put_together(&self, text: &[u8]) -> bool {
        if !self.bonds.contains(&Bond::Neighbours) {
            return false;
        }
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return false };
        let before = text.get(first.start.saturating_sub(20)..first.start).unwrap_or_default();
        let open =
            |b: &u8| matches!(b, b'"' | b'\'' | b'`' | b' ' | b',' | b'[' | b'(' | b'f' | b'r' | b'b' | b'u');
        let end = before.iter().rposition(|b| !open(b)).map_or(0, |at| at + 1);
        let opening = before.get(end..).unwrap_or_default();
        let callee = before.get(..end).unwrap_or_default();
        let after = text.get(last.end..text.len().min(last.end + 12)).unwrap_or_default();
        let called = opening.contains(&b'(') && ends_with_any(callee, JOINING_CALLS);
        let assigned = self.is_side_by_side(text) && callee.last() == Some(&b'=') && opening.contains(&b' ');
        called || assigned || memchr::memmem::find(after, b".join(").is_some()
    }

    /// Whether nothing but blanks and quotes stands between the pieces.
    fn is_side_by_side(&self, text: &[u8]) -> bool {
        self.pieces.windows(2).all(|pair| {
            let between = pair.first().zip(pair.last()).and_then(|(a, b)| text.get(a.end..b.start));
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
    let mut kinds = 0;
    for (at, byte) in piece.iter().enumerate() {
        kinds |= match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' if at > 0 => UPPER,
            b'A'..=b'Z' => INITIAL,
            _ => 0,
        };
    }
    let mixed = DIGIT | LOWER | UPPER | INITIAL;
    (kinds & DIGIT == 0 || kinds & mixed == DIGIT) && kinds & (UPPER | LOWER) != UPPER | LOWER
}

// What a piece holds.
const DIGIT: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 4;
/// A capital at its begin.
const INITIAL: u8 = 8;
