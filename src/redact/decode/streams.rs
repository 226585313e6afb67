//! Texts that come in pieces: the deltas of a model's answer, as server-sent events, JSON lines, a list of chunks or the
//! print of such objects (`{"delta": {"content": "ghp_ab"}}`, `content='cd'`), the frames of a terminal's recording.
//!
//! Values of one name that follow each other, each in a record of its own, are put together; of a long one only the end that
//! meets its neighbour. The pieces stay apart in the source. Plain `data:` lines are lines to `joins`.

use std::ops::Range;

use super::View;
use crate::redact::wordlist::List;

/// Names of what comes in pieces: OpenAI (`delta`, `content`, `arguments`, `refusal`), Anthropic (`text`, `partial_json`,
/// `thinking`), Ollama, Bedrock, Cohere, the AI SDK (`0:"x"`), logs of containers, recordings of terminals (`"o", "x"`).
static NAMES: List = List::new(
    "delta content text partial_json thinking reasoning reasoning_content arguments refusal \
    input output transcript response completion outputtext generated_text textdelta inputtextdelta argstextdelta \
    token chunk fragment piece part log data stdout stderr o 0 g",
);
/// Longest of them, in bytes.
const MAX_NAME: usize = 20;
/// How far apart two values may be, in bytes.
const MAX_GAP: usize = 2048;
/// How much of the end of a long value is looked at, in bytes.
const EDGE: usize = 192;
/// How much of it where it is one token, in bytes.
const MAX_EDGE: usize = 4096;
/// Most names that are followed at the same time.
const MAX_STREAMS: usize = 4;

/// Calls `found` with every text that was put together of two values or more. `known` says of a range that it was
/// read before, in an outer view.
pub(in crate::redact) fn each(
    text: &[u8],
    known: impl Fn(&Range<usize>) -> bool,
    mut found: impl FnMut(View),
) {
    let mut found = |pieces: &[Piece]| {
        if pieces.len() < 2 || pieces.iter().all(|piece| known(&piece.whole)) {
            return;
        }
        let mut view = View::apart();
        for Piece { value, .. } in pieces {
            view.copy(value.start, text.get(value.clone()).unwrap_or_default());
        }
        found(view);
    };
    let mut streams: Vec<Stream> = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\'', rest)) {
        let quote = at + next;
        at = quote + 1;
        let Some(name) = name_before(text, quote) else { continue };
        let value = at..value_end(text, quote);
        at = value.end + 1;
        let same = |stream: &Stream| text.get(stream.name.clone()) == text.get(name.clone());
        let known = streams.iter().position(same);
        let whole = name.start.saturating_sub(1)..at;
        let stream = match known {
            Some(index) => streams.remove(index),
            None => Stream { name, pieces: Vec::new() },
        };
        streams.push(stream.with(text, &Piece { value, whole }, &mut found));
        if streams.len() > MAX_STREAMS {
            streams.remove(0).finish(&mut found);
        }
    }
    for stream in streams {
        stream.finish(&mut found);
    }
}

/// Whether the quote at `at` begins a value that may be a piece.
pub(in crate::redact) fn begins_piece(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    matches!(before.strip_suffix(b" ").unwrap_or(before).last(), Some(b':' | b'=' | b','))
        && matches!(text.get(at), Some(b'"' | b'\''))
        && name_before(text, at).is_some()
}

/// Values of one name.
struct Stream {
    name: Range<usize>,
    pieces: Vec<Piece>,
}

/// One of them.
struct Piece {
    /// What of it is put together.
    value: Range<usize>,
    /// The name, the value, and what stands around them.
    whole: Range<usize>,
}

impl Stream {
    /// The stream and its next value, or, where that doesn't follow, a new stream.
    fn with(mut self, text: &[u8], piece: &Piece, found: &mut impl FnMut(&[Piece])) -> Self {
        let of = |value: Range<usize>| Piece { value, whole: piece.whole.clone() };
        let value = piece.value.clone();
        if self.pieces.last().is_some_and(|last| !follows(text, &last.value, &value)) {
            self.take(found);
        }
        if value.len() <= 2 * EDGE {
            self.pieces.push(of(value));
            return self;
        }
        if !self.pieces.is_empty() {
            self.pieces.push(of(head(text, value.clone())));
            self.take(found);
        }
        self.pieces.push(of(tail(text, value)));
        self
    }

    fn finish(mut self, found: &mut impl FnMut(&[Piece])) {
        self.take(found);
    }

    fn take(&mut self, found: &mut impl FnMut(&[Piece])) {
        found(&self.pieces);
        self.pieces.clear();
    }
}

/// Whether a value goes on where the last one ended: in the next record, and not after the end of a line.
fn follows(text: &[u8], last: &Range<usize>, next: &Range<usize>) -> bool {
    let Some(gap) = text.get(last.end..next.start).filter(|gap| gap.len() <= MAX_GAP) else { return false };
    let ended = text.get(last.clone()).is_some_and(|last| last.ends_with(b"\\n") || last.ends_with(b"\n"));
    !ended && memchr::memchr3(b'}', b'\n', b')', gap).is_some()
}

/// The name whose value begins with the quote at `quote`.
fn name_before(text: &[u8], quote: usize) -> Option<Range<usize>> {
    let window = text.get(quote.saturating_sub(MAX_NAME + 4)..quote)?;
    let bytes = match window {
        [before @ .., b' '] => before,
        _ => window,
    };
    let (quoted, listed) = match bytes {
        [before @ .., b'"' | b'\'', b':'] => (before, false),
        [before @ .., b'"' | b'\'', b','] => (before, true),
        [before @ .., b':' | b'='] => (before, false),
        _ => return None,
    };
    let len = quoted.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let end = quote - (window.len() - quoted.len());
    let name = end - len..end;
    // `[0.5, "o", "x"]`: a frame of a recording.
    let bytes = text.get(name.clone()).filter(|bytes| bytes.len() <= MAX_NAME)?;
    let known = if listed { bytes.eq_ignore_ascii_case(b"o") } else { NAMES.has(bytes) };
    known.then_some(name)
}

/// Where the value that begins with the quote at `quote` ends: at the same quote, or with its line.
fn value_end(text: &[u8], quote: usize) -> usize {
    let own = text.get(quote).copied().unwrap_or_default();
    let mut at = quote + 1;
    while let Some(offset) = text.get(at..).and_then(|rest| memchr::memchr3(own, b'\\', b'\n', rest)) {
        at += offset;
        if text.get(at) != Some(&b'\\') {
            return at;
        }
        at += 2;
    }
    text.len()
}

fn head(text: &[u8], value: Range<usize>) -> Range<usize> {
    let rest = text.get(value.clone()).unwrap_or_default();
    let token = rest.iter().take(MAX_EDGE).take_while(|b| !b.is_ascii_whitespace()).count();
    value.start..value.start + EDGE.max(token).min(rest.len())
}

fn tail(text: &[u8], value: Range<usize>) -> Range<usize> {
    let rest = text.get(value.clone()).unwrap_or_default();
    let token = rest.iter().rev().take(MAX_EDGE).take_while(|b| !b.is_ascii_whitespace()).count();
    value.end - EDGE.max(token).min(rest.len())..value.end
}
