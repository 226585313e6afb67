//! What stands in place of a secret: `[REDACTED:<kind>]`. Recognises our own markers, so that none is redacted again.

use memchr::memmem;

/// The kind of a value that cost too much, or whose scan failed.
pub const UNSCANNED_KIND: &str = "unscanned";

const OPEN: &[u8] = b"[REDACTED";

/// The longest kind that is taken for one of ours, in bytes.
const MAX_KIND: usize = 80;

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
        Some((b':', name)) => {
            !name.is_empty()
                && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
        }
        Some(_) => false,
    };
    ours.then_some(OPEN.len() + close + 1)
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
