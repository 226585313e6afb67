//! Keeps JSON valid: an edit takes no part of an escape, and where the text is JSON it stays inside the strings that it
//! touches.
//!
//! A finding lies within one string or one number by itself; only a match that runs over a token's edge (of an operator's
//! pattern, say) needs this. Holds at every level of JSON in JSON.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::decode::{Place, chars};
use super::overlap::{Edit, Quote};

/// Levels of JSON in JSON that are kept valid.
const MAX_NESTED: u8 = 12;

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
    Nested { source: text }.within(text, &Place::default(), kept)
}

/// JSON in the strings of JSON.
struct Nested<'t> {
    source: &'t [u8],
}

impl Nested<'_> {
    /// The edits, in each string of the JSON `text` cut at the edges of what strings it holds itself.
    fn within(&self, text: &[u8], place: &Place<'_>, edits: Vec<Edit>) -> Vec<Edit> {
        let mut kept = Vec::with_capacity(edits.len());
        let mut edits = edits.into_iter().peekable();
        for string in (Strings { text, at: 0 }).filter(|string| !string.is_empty()) {
            let source = place.source(string.clone());
            while let Some(edit) = edits.next_if(|edit| edit.range.end <= source.start) {
                kept.push(edit);
            }
            let mut inside = Vec::new();
            while let Some(edit) = edits.next_if(|edit| edit.range.start < source.end) {
                inside.push(edit);
            }
            // What hides the whole string leaves nothing to keep valid.
            let hides = |edit: &Edit| edit.range.start <= source.start && edit.range.end >= source.end;
            if inside.is_empty() || inside.iter().any(hides) {
                kept.append(&mut inside);
            } else {
                kept.append(&mut self.inside(text, string, place, inside));
            }
            if edits.peek().is_none() {
                break;
            }
        }
        kept.extend(edits);
        kept
    }

    /// The edits in one string, if it holds JSON.
    fn inside(&self, text: &[u8], string: Range<usize>, place: &Place<'_>, edits: Vec<Edit>) -> Vec<Edit> {
        let content = text.get(string.clone()).unwrap_or_default();
        let begins = content.iter().find(|b| !b.is_ascii_whitespace());
        if place.chars >= MAX_NESTED || !matches!(begins, Some(b'{' | b'[' | b'\\')) {
            return edits;
        }
        let Some(view) = chars::decode_backslashes(content).map(|view| view.shifted(string.start)) else {
            return edits;
        };
        if !is_json(&view.bytes) {
            return edits;
        }
        let inner = place.in_chars(&view);
        let strings = Strings { text: &view.bytes, at: 0 }.filter(|string| !string.is_empty());
        let sources: Vec<_> = strings.map(|string| inner.source(string)).collect();
        let edits = edits.into_iter().flat_map(|edit| self.cut(&sources, edit)).collect();
        self.within(&view.bytes, &inner, edits)
    }

    /// The parts of an edit that lie in these strings; all of it where more than signs would be left beside them.
    fn cut(&self, strings: &[Range<usize>], edit: Edit) -> Vec<Edit> {
        let first = strings.partition_point(|string| string.end <= edit.range.start);
        let overlap =
            |string: &Range<usize>| string.start.max(edit.range.start)..string.end.min(edit.range.end);
        let parts: Vec<Range<usize>> = strings
            .iter()
            .skip(first)
            .take_while(|string| string.start < edit.range.end)
            .map(overlap)
            .collect();
        let signs = |range: Range<usize>| {
            !self.source.get(range).unwrap_or_default().iter().any(u8::is_ascii_alphanumeric)
        };
        let gaps_from = std::iter::once(edit.range.start).chain(parts.iter().map(|part| part.end));
        let gaps_to = parts.iter().map(|part| part.start).chain([edit.range.end]);
        let only_signs = gaps_from.zip(gaps_to).all(|(from, to)| signs(from..to));
        if parts.is_empty() || edit.quote.is_some() || !only_signs {
            return vec![edit];
        }
        parts.into_iter().map(|range| Edit { range, ..edit.clone() }).collect()
    }
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
