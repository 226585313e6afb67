//! Keeps JSON valid: an edit takes no part of an escape, and where the text is JSON it stays inside the strings and numbers
//! that it touches.
//!
//! A finding lies within one string or one number by itself; only a match that runs over a token's edge (of an operator's
//! pattern, say) needs this. One way for every level of JSON in JSON: of what an edit covers only brackets, quotes, signs and
//! blanks are left, which the structure of the text is.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::decode::{Place, chars};
use super::overlap::{Edit, Quote};

/// Levels of JSON in JSON that are kept valid.
const MAX_LEVEL: u8 = 12;

/// The edits, cut at the edges of the strings and numbers of a JSON text; as they are where the text is not JSON.
pub(super) fn within_tokens(text: &[u8], edits: Vec<Edit>) -> Vec<Edit> {
    let edits = whole_escapes(text, edits);
    let begins = text.iter().find(|b| !b.is_ascii_whitespace());
    if edits.is_empty() || !matches!(begins, Some(b'{' | b'[' | b'"')) || !is_json(text) {
        return edits;
    }
    let outermost = Document { source: text, text, range: 0..text.len(), place: &Place::default(), level: 0 };
    outermost.cut(edits)
}

/// A JSON text, perhaps in a string of another.
struct Document<'d> {
    source: &'d [u8],
    /// What it stands in, without the escapes of the levels above.
    text: &'d [u8],
    range: Range<usize>,
    place: &'d Place<'d>,
    level: u8,
}

impl Document<'_> {
    /// The parts of the edits that lie in its tokens.
    fn cut(&self, edits: Vec<Edit>) -> Vec<Edit> {
        let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
        let mut edits = edits.into_iter().peekable();
        // Where the last token ends, if it is no string and the edit in it goes on.
        let mut open: Option<usize> = None;
        for token in (Tokens { text: self.text, at: self.range.start, end: self.range.end }) {
            let source = self.place.source(token.range.clone());
            while edits.next_if(|edit| edit.range.end <= source.start).is_some() {}
            let Some(first) = edits.peek() else { break };
            if first.range.start >= source.end {
                continue;
            }
            let first = first.clone();
            let mut parts = Vec::new();
            while let Some(edit) = edits.next_if(|edit| edit.range.end <= source.end) {
                parts.push(clipped(edit, &source));
            }
            let goes_on = edits.peek().filter(|edit| edit.range.start < source.end);
            parts.extend(goes_on.map(|edit| clipped(edit.clone(), &source)));
            let goes_on = goes_on.is_some();
            if token.is_string {
                kept.append(&mut self.in_string(token.range, &source, parts));
                open = None;
                continue;
            }
            let last =
                kept.last_mut().filter(|_| open.is_some_and(|end| self.is_list(end..token.range.start)));
            match last {
                // Numbers of an array are one secret.
                Some(last) => last.range.end = source.end,
                None => {
                    let quote = Some(Quote::Level(self.level));
                    kept.push(Edit { range: source, quote, continues: false, ..first });
                }
            }
            open = goes_on.then_some(token.range.end);
        }
        kept
    }

    /// Whether elements of one array stand on both sides of a range.
    fn is_list(&self, between: Range<usize>) -> bool {
        let between = self.text.get(between).unwrap_or_default();
        between.iter().all(|b| b.is_ascii_whitespace() || *b == b',')
    }

    /// The edits in one string.
    fn in_string(&self, string: Range<usize>, source: &Range<usize>, edits: Vec<Edit>) -> Vec<Edit> {
        // What hides the whole string leaves nothing to keep valid.
        if let Some(edit) = edits.iter().find(|edit| edit.range == *source) {
            return vec![Edit { quote: None, ..edit.clone() }];
        }
        let content = self.text.get(string.clone()).unwrap_or_default();
        let begins = content.iter().find(|b| !b.is_ascii_whitespace());
        if self.level >= MAX_LEVEL || !matches!(begins, Some(b'{' | b'[' | b'\\')) {
            return self.in_text(source, edits);
        }
        let inner = Document { level: self.level + 1, range: string.clone(), ..*self };
        match chars::decode_backslashes(content).map(|view| view.shifted(string.start)) {
            Some(view) if is_json(&view.bytes) => {
                let place = self.place.in_chars(&view);
                Document { text: &view.bytes, range: 0..view.bytes.len(), place: &place, ..inner }.cut(edits)
            }
            None if is_json(content) => inner.cut(edits),
            _ => self.in_text(source, edits),
        }
    }

    /// The edits in a string that is no JSON: whole escapes, and no quote that would end the string.
    fn in_text(&self, string: &Range<usize>, edits: Vec<Edit>) -> Vec<Edit> {
        let mut floor = string.start;
        let mut kept = Vec::with_capacity(edits.len());
        for edit in edits {
            let start = edit.range.start - self.half_escape(string.start..edit.range.start);
            let mut end = edit.range.end;
            let half = self.half_escape(string.start..end);
            if half > 0 {
                let rest = self.source.get(end..string.end).unwrap_or_default();
                let slashes = rest.iter().take_while(|b| **b == b'\\').count();
                // Of a backslash the other half, of anything else also its letter.
                end = string.end.min(end + (slashes + 1).min(self.escaped_backslash() - half));
            }
            let range = start.max(floor)..end;
            floor = end;
            let quote = edit.quote.filter(
                |quote| matches!(quote, Quote::At(at) if string.start <= at.start && at.end <= string.end),
            );
            if range.start < range.end {
                kept.push(Edit { range, quote, ..edit });
            }
        }
        kept
    }

    /// Backslashes at the end of a range of the source that belong to an escape which goes on behind it.
    fn half_escape(&self, range: Range<usize>) -> usize {
        let before = self.source.get(range).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|b| **b == b'\\').count();
        slashes % self.escaped_backslash()
    }

    /// How many backslashes of the source stand for one in a string of this document.
    fn escaped_backslash(&self) -> usize {
        2 << self.level
    }
}

fn clipped(edit: Edit, to: &Range<usize>) -> Edit {
    let range = edit.range.start.max(to.start)..edit.range.end.min(to.end);
    Edit { range, ..edit }
}

/// The edits, widened over the backslashes of an escape that they begin in: `token \\nabc` is read as `nabc` by a pattern
/// that looks at the text as it stands. The whole run of them goes, so that no level is left with half an escape.
fn whole_escapes(text: &[u8], mut edits: Vec<Edit>) -> Vec<Edit> {
    let mut floor = 0;
    for edit in &mut edits {
        let before = text.get(floor..edit.range.start).unwrap_or_default();
        let first = text.get(edit.range.start).copied().unwrap_or_default();
        if let Some(letter) = escape_letter(before, first) {
            let slashes = before.get(..letter).unwrap_or_default().iter().rev().take_while(|b| **b == b'\\');
            edit.range.start = floor + letter - slashes.count();
        }
        floor = edit.range.end;
    }
    edits
}

/// Where the letter of the escape stands that `before` ends in and `first` goes on; it may be `first` itself.
fn escape_letter(before: &[u8], first: u8) -> Option<usize> {
    if matches!(first, b'n' | b'r' | b't' | b'b' | b'f' | b'u') && before.ends_with(b"\\") {
        return Some(before.len());
    }
    let digits = before.iter().rev().take(4).take_while(|b| b.is_ascii_hexdigit()).count();
    let letter = before.len().checked_sub(digits + 1)?;
    let in_code = digits < 4 && first.is_ascii_hexdigit() && before.get(..=letter)?.ends_with(b"\\u");
    in_code.then_some(letter)
}

/// Whether the text is one JSON value, of any depth.
fn is_json(text: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(text);
    values.disable_recursion_limit();
    let whole = <IgnoredAny as serde::Deserialize>::deserialize(&mut values);
    whole.is_ok() && values.end().is_ok()
}

/// What a JSON text holds beside its structure, empty strings left out.
struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
}

/// The content of a string; a number, `true`, `false` or `null`.
struct Token {
    range: Range<usize>,
    is_string: bool,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.text.get(self.at..self.end)?;
            let start = self.at + rest.iter().position(|b| !is_structure(*b))?;
            let rest = self.text.get(start..self.end)?;
            if rest.first() != Some(&b'"') {
                self.at =
                    start + rest.iter().position(|b| is_structure(*b) || *b == b'"').unwrap_or(rest.len());
                return Some(Token { range: start..self.at, is_string: false });
            }
            let range = start + 1..start + string_end(rest)?;
            self.at = range.end + 1;
            if !range.is_empty() {
                return Some(Token { range, is_string: true });
            }
        }
    }
}

fn is_structure(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':')
}

/// Where the string ends that `text` begins with: its closing quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut end = 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        if text.get(end) == Some(&b'"') {
            return Some(end);
        }
        end += 2;
    }
}
