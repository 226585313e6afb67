//! Tokens in pieces: broken over lines (terminal width, diff and line-number prefixes, `\` at the end of a line) or written
//! as a concatenation of strings (`"abc" + "def"`).
//!
//! A view here is not the whole text but the pieces of one chain put together, with what stands around them. Whether a match across the break is real is
//! for `scan` to judge.

use std::ops::Range;

use super::View;

/// Least length of all pieces together.
const MIN_CHAIN: usize = 16;
/// How far a piece is followed, in bytes.
const MAX_PIECE: usize = 4096;
/// How much of the lines around the pieces belongs to the view, in bytes.
const MAX_CONTEXT: usize = 160;
/// How far apart two pieces may be, in bytes.
const MAX_GLUE: usize = 80;

/// Pieces put together.
pub(in crate::redact) struct Chain {
    /// The pieces without what stands between them, and what stands around them on their lines.
    pub(in crate::redact) view: View,
    /// Where in the view each piece but the first begins.
    pub(in crate::redact) breaks: Vec<usize>,
}

/// Calls `found` with every chain of two pieces or more.
pub(in crate::redact) fn each(text: &[u8], mut found: impl FnMut(Chain)) {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut seen = 0;
    for at in memchr::memchr2_iter(b'\n', b'+', text) {
        if at < seen {
            continue;
        }
        let Some(glue) = glue(text, at) else { continue };
        seen = glue.end;
        if pieces.last().is_some_and(|last| last.end == glue.start) {
            pieces.push(piece_after(text, glue.end));
        } else {
            finish(text, &mut pieces, &mut found);
            pieces.push(piece_before(text, glue.start));
            pieces.push(piece_after(text, glue.end));
        }
    }
    finish(text, &mut pieces, &mut found);
}

fn finish(text: &[u8], pieces: &mut Vec<Range<usize>>, found: &mut impl FnMut(Chain)) {
    let bytes = |piece: &Range<usize>| text.get(piece.clone()).unwrap_or_default();
    let long = pieces.iter().map(Range::len).sum::<usize>() >= MIN_CHAIN;
    if long && !pieces.iter().all(|piece| is_word(bytes(piece))) {
        let (mut view, mut breaks) = (View::default(), Vec::new());
        let before = context_before(text, pieces.first().map_or(0, |piece| piece.start));
        view.copy(before.start, bytes(&before));
        for (nth, piece) in pieces.iter().enumerate() {
            if nth > 0 {
                breaks.push(view.bytes.len());
            }
            view.copy(piece.start, bytes(piece));
        }
        let after = context_after(text, pieces.last().map_or(0, |piece| piece.end));
        view.copy(after.start, bytes(&after));
        found(Chain { view, breaks });
    }
    pieces.clear();
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

/// What stands between two pieces around `at`, a line end or a plus.
fn glue(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (before, from) = (text.get(..at)?, text.get(at..)?);
    let after = from.get(1..)?;
    let plain = from.first() == Some(&b'\n');
    let start = at - back_over(before, plain)?;
    let quote = text.get(start).copied().filter(|b| is_quote(*b));
    let end = match quote {
        Some(quote) => {
            let blanks = after.iter().take(MAX_GLUE).position(|b| !is_filler(*b))?;
            (after.get(blanks) == Some(&quote)).then_some(at + 1 + blanks + 1)?
        }
        None if plain => at + 1 + line_prefix(before, after),
        None => return None,
    };
    let joins = text.get(..start)?.last().is_some_and(|b| is_token(*b))
        && text.get(end).is_some_and(|b| is_token(*b));
    joins.then_some(start..end)
}

/// How many bytes before a line end or plus belong to the glue.
fn back_over(before: &[u8], plain: bool) -> Option<usize> {
    let last = *before.last()?;
    if plain && is_token(last) && last != b'+' {
        return Some(0);
    }
    let window = before.get(before.len().saturating_sub(MAX_GLUE)..)?;
    let fillers = window.iter().rev().position(|b| !is_filler(*b))?;
    let closing = window.iter().rev().nth(fillers).copied()?;
    if is_quote(closing) {
        return Some(fillers + 1);
    }
    // `\` at the end of a line, or CR LF; not blanks.
    let blank = window.iter().rev().take(fillers).any(|b| matches!(b, b' ' | b'\t' | b'+'));
    (plain && !blank).then_some(fillers)
}

/// The length of what a line begins with and is no text: blanks, a line number, the mark that the line before has too.
fn line_prefix(before: &[u8], line: &[u8]) -> usize {
    let blanks =
        |from: usize| line.iter().skip(from).take(MAX_GLUE).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let mut at = blanks(0);
    let digits = line.iter().skip(at).take(6).take_while(|b| b.is_ascii_digit()).count();
    let mark = line.get(at + digits..).unwrap_or_default();
    if digits > 0 {
        at += match mark {
            [0xe2, 0x86, 0x92, ..] => digits + 3,
            [b'\t' | b'|', ..] => digits + 1,
            [b':', b' ', ..] => digits + 2,
            _ => return at,
        };
        return at + blanks(at);
    }
    let own = mark.first().copied().filter(|b| matches!(b, b'+' | b'-' | b'>' | b'#' | b'|' | b'*'));
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line_before = before.get(start..).unwrap_or_default();
    let first = line_before.iter().take(MAX_GLUE).find(|b| !matches!(b, b' ' | b'\t')).copied();
    if own.is_some() && own == first { at + 1 + blanks(at + 1) } else { at }
}

fn piece_before(text: &[u8], end: usize) -> Range<usize> {
    let window = text.get(end.saturating_sub(MAX_PIECE)..end).unwrap_or_default();
    let len = window.iter().rev().take_while(|b| is_token(**b)).count();
    end - len..end
}

fn piece_after(text: &[u8], start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let len = rest.iter().take(MAX_PIECE).take_while(|b| is_token(**b)).count();
    start..start + len
}

/// Letters in the case of a word or of a constant, or a number: not a piece of a token by itself.
pub(in crate::redact) fn is_word(piece: &[u8]) -> bool {
    let letters = piece.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = piece.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = piece.iter().skip(1).filter(|b| b.is_ascii_uppercase()).count();
    let lower = piece.iter().skip(1).filter(|b| b.is_ascii_lowercase()).count();
    (letters == 0 || digits == 0) && (upper == 0 || lower == 0)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b':')
}

fn is_filler(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'+' | b'\\')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
