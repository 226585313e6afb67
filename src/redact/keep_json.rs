//! Keeps JSON valid: an edit takes no part of an escape, and where the text is JSON it stays inside the strings that it
//! touches.
//!
//! A finding lies within one string or one number by itself; only a match that runs over a token's edge (of an operator's
//! pattern, say) needs this. Escapes count at every level, strings at the outermost only.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::overlap::{Edit, Quote};

/// The edits, cut at the edges of the strings of a JSON text; as they are where the text is not JSON.
pub(super) fn within_strings(text: &[u8], edits: Vec<Edit>) -> Vec<Edit> {
    let edits = whole_escapes(text, edits);
    let begins = text.iter().find(|b| !b.is_ascii_whitespace());
    if edits.is_empty() || !matches!(begins, Some(b'{' | b'[' | b'"')) || !is_json(text) {
        return edits;
    }
    let mut kept = Vec::with_capacity(edits.len());
    let mut strings = Strings { text, at: 0 }.peekable();
    for edit in edits {
        if edit.quote.is_some() {
            kept.push(edit);
            continue;
        }
        while strings.peek().is_some_and(|string| string.end <= edit.range.start) {
            strings.next();
        }
        // Numbers: what stands in their place is a string.
        if strings.peek().is_none_or(|string| string.start >= edit.range.end) {
            kept.push(Edit { quote: Some(Quote::Plain), ..edit });
            continue;
        }
        while let Some(string) = strings.peek() {
            let range = string.start.max(edit.range.start)..string.end.min(edit.range.end);
            if range.start >= range.end {
                break;
            }
            let last = string.end >= edit.range.end;
            kept.push(Edit { range, ..edit.clone() });
            if last {
                break;
            }
            strings.next();
        }
    }
    kept
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

/// The contents of the strings of a JSON text.
struct Strings<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for Strings<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at + memchr::memchr(b'"', self.text.get(self.at..)?)? + 1;
        let mut end = start;
        loop {
            end += memchr::memchr2(b'"', b'\\', self.text.get(end..)?)?;
            if self.text.get(end) == Some(&b'"') {
                self.at = end + 1;
                return Some(start..end);
            }
            end += 2;
        }
    }
}
