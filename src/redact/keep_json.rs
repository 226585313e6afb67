//! Keeps JSON valid: where the text is JSON, an edit stays inside the strings that it touches.
//!
//! A finding lies within one string or one number by itself; only a match that runs over a token's edge (of an operator's
//! pattern, say) needs this. Looks at the outermost level only.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::overlap::{Edit, Quote};

/// The edits, cut at the edges of the strings of a JSON text; as they are where the text is not JSON.
pub(super) fn within_strings(text: &[u8], edits: Vec<Edit>) -> Vec<Edit> {
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
