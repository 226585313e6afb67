//! What stands in place of a secret: `[REDACTED:<kind>]`. Recognises our own markers, so that none is redacted again.

use memchr::memmem;

/// The kind of a value that cost too much, or whose scan failed.
pub const UNSCANNED_KIND: &str = "unscanned";

/// How every marker begins.
pub(super) const OPEN: &[u8] = b"[REDACTED";

/// The longest kind, in bytes.
const MAX_KIND: usize = 48;
/// The longest word of a kind, in letters.
const MAX_WORD: usize = 16;
/// The longest word of a kind that has digits in it.
const MAX_MIXED: usize = 4;

/// The marker of a kind.
pub fn marker(kind: &str) -> Vec<u8> {
    format!("[REDACTED:{kind}]").into_bytes()
}

/// The length of the marker that `text` begins with: `[REDACTED]` or `[REDACTED:<kind>]`.
pub(super) fn prefix_len(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(OPEN)?;
    let window = rest.get(..rest.len().min(MAX_KIND + 2))?;
    let close = memchr::memchr(b']', window)?;
    let kind = window.get(..close)?;
    let ours = match kind.split_first() {
        None => true,
        Some((b':', name)) => is_kind(name),
        Some(_) => false,
    };
    ours.then_some(OPEN.len() + close + 1)
}

/// Whether this may be the name of a kind: kebab case, each word of letters or short. Narrow, since what stands in a
/// marker is taken for harmless: a password that somebody writes into one must not be.
pub(super) fn is_kind(name: &[u8]) -> bool {
    let is_word = |word: &[u8]| {
        let letters = word.iter().all(u8::is_ascii_lowercase);
        let mixed = word.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        !word.is_empty() && (letters && word.len() <= MAX_WORD || mixed && word.len() <= MAX_MIXED)
    };
    name.len() <= MAX_KIND && name.split(|b| *b == b'-').all(is_word)
}

/// Whether nothing but markers and punctuation is left of a value: there is nothing more to hide in it.
pub(super) fn is_redacted(value: &[u8]) -> bool {
    let mut rest = value;
    let mut seen = false;
    while let Some(at) = memmem::find(rest, OPEN) {
        let (before, from) = rest.split_at(at);
        let Some(len) = prefix_len(from) else { return false };
        if before.iter().any(u8::is_ascii_alphanumeric) {
            return false;
        }
        seen = true;
        rest = from.get(len..).unwrap_or_default();
    }
    seen && !rest.iter().any(u8::is_ascii_alphanumeric)
}

/// Whether a marker of ours stands in `text`.
pub(super) fn occurs(text: &[u8]) -> bool {
    memmem::find_iter(text, OPEN).any(|at| text.get(at..).and_then(prefix_len).is_some())
}

/// Whether `range` of a text begins inside a marker: what looks like a secret there is a kind's name.
pub(super) fn holds(text: &[u8], range: &std::ops::Range<usize>) -> bool {
    let from = range.start.saturating_sub(OPEN.len() + MAX_KIND);
    let window = text.get(from..range.start).unwrap_or_default();
    memchr::memrchr_iter(b'[', window).any(|at| {
        let start = from + at;
        text.get(start..).and_then(prefix_len).is_some_and(|len| start + len > range.start)
    })
}
