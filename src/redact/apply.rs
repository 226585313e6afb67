//! Writes what stands in place of what was found. Which findings count was decided by `overlap`, which action a kind has by
//! the rule set.

use std::ops::Range;

use super::action::{Action, HmacKey, MASKED_KIND, mark};
use super::marker::marker;
use super::overlap::Edit;

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean {
    /// What stands in place of the text.
    pub text: Vec<u8>,
    /// An action wants the attribute removed whose value the text is. If it is none, the text says `[REDACTED:masked]`.
    pub drop: bool,
}

impl From<Vec<u8>> for Clean {
    fn from(text: Vec<u8>) -> Self {
        Self { text, drop: false }
    }
}

/// What a whole value is, for actions that hide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whole {
    /// The text.
    #[default]
    Text,
    /// A line of it: for a stream of text, where no value ends.
    Line,
}

/// What to write for one edit.
pub(super) struct Written<'r> {
    pub(super) action: Action,
    pub(super) kind: &'r str,
    /// The rule's own, in place of a plain marker.
    pub(super) replacement: Option<&'r str>,
}

/// Makes the edits, which are in order and disjoint.
pub(super) fn apply<'r>(
    text: &[u8],
    edits: &[Edit],
    whole: Whole,
    key: Option<&HmacKey>,
    of: impl Fn(&Edit) -> Written<'r>,
) -> Clean {
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    let mut drop = false;
    for piece in pieces(text, edits, whole, &of) {
        out.extend_from_slice(text.get(copied..piece.range.start).unwrap_or_default());
        match piece.edit {
            None => out.extend_from_slice(&marker(MASKED_KIND)),
            // Its marker stands where it begins.
            Some((edit, _)) if edit.continues => {}
            Some((edit, written)) => {
                let quote = edit.quote.as_ref().map(|quote| quote.of(text)).unwrap_or_default();
                out.extend_from_slice(&quote);
                out.extend_from_slice(&written.bytes(text.get(edit.range.clone()).unwrap_or_default(), key));
                out.extend_from_slice(&quote);
            }
        }
        copied = piece.range.end;
        drop |= piece.drop;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Clean { text: out, drop }
}

/// A part of the text that is replaced.
struct Piece<'e, 'r> {
    range: Range<usize>,
    /// `None`: it is hidden as a whole.
    edit: Option<(&'e Edit, Written<'r>)>,
    drop: bool,
}

/// The edits, those that hide a whole value widened to it and what they then touch.
fn pieces<'e, 'r>(
    text: &[u8],
    edits: &'e [Edit],
    whole: Whole,
    of: &impl Fn(&Edit) -> Written<'r>,
) -> Vec<Piece<'e, 'r>> {
    let mut pieces: Vec<Piece<'e, 'r>> = Vec::with_capacity(edits.len());
    for edit in edits {
        let written = of(edit);
        let hides = matches!(written.action, Action::Mask | Action::Drop);
        let range = if hides { whole.around(text, &edit.range) } else { edit.range.clone() };
        let drop = written.action == Action::Drop;
        let mut piece = Piece { range, edit: (!hides).then_some((edit, written)), drop };
        while let Some(last) = pieces.pop_if(|last| last.range.end > piece.range.start) {
            let range = last.range.start.min(piece.range.start)..last.range.end.max(piece.range.end);
            piece = Piece { range, edit: None, drop: piece.drop | last.drop };
        }
        pieces.push(piece);
    }
    pieces
}

impl Written<'_> {
    fn bytes(&self, secret: &[u8], key: Option<&HmacKey>) -> Vec<u8> {
        match self.replacement {
            Some(own) if self.action == Action::Marker => own.as_bytes().to_vec(),
            _ => mark(self.action, self.kind, secret, key),
        }
    }
}

impl Whole {
    /// The whole that a finding lies in.
    fn around(self, text: &[u8], found: &Range<usize>) -> Range<usize> {
        if self == Self::Text {
            return 0..text.len();
        }
        let before = text.get(..found.start).unwrap_or_default();
        let after = text.get(found.end..).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let end = memchr::memchr2(b'\r', b'\n', after).map_or(text.len(), |at| found.end + at);
        start..end
    }
}
