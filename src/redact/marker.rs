//! What stands in place of a secret: `[REDACTED:<kind>]`, and what an action may add to it. Recognises our own markers, so
//! that none is redacted again.
//!
//! `[REDACTED:<kind>:<24 hex digits>]` tells equal secrets apart from others, `[REDACTED:<kind>:...<4 characters>]` shows how
//! the secret ends. What the digits are is `action`.

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

/// Hexadecimal digits of a tag.
pub(super) const TAG: usize = 16;
/// Hexadecimal digits that check a tag.
const TAG_CHECK: usize = 8;
/// Stands in front of the end of a secret that is shown.
const SHOWN: &[u8] = b"...";
/// Bytes of a secret that may be shown.
pub(super) const SHOWN_LEN: usize = 4;
/// The longest that stands between the brackets after `REDACTED`, in bytes.
const MAX_INSIDE: usize = 1 + MAX_KIND + 1 + TAG + TAG_CHECK;

/// The marker of a kind.
pub fn marker(kind: &str) -> Vec<u8> {
    format!("[REDACTED:{kind}]").into_bytes()
}

/// The marker of a kind with a tag (of [`TAG`] lower-case hexadecimal digits), and the check by which it is known again.
pub(super) fn tagged(kind: &str, tag: &str) -> Vec<u8> {
    format!("[REDACTED:{kind}:{tag}{}]", check(tag.as_bytes())).into_bytes()
}

/// The marker of a kind with the end of the secret, if that may be shown: [`SHOWN_LEN`] letters, digits, `-` or `_`.
pub(super) fn showing(kind: &str, end: &[u8]) -> Option<Vec<u8>> {
    is_shown(end).then(|| [b"[REDACTED:", kind.as_bytes(), b":", SHOWN, end, b"]"].concat())
}

/// Whether a text is one marker of this kind, whatever an action added to it.
pub(super) fn is_of(kind: &str, text: &[u8]) -> bool {
    let rest =
        text.strip_prefix(OPEN).and_then(|rest| rest.strip_prefix(b":")?.strip_prefix(kind.as_bytes()));
    rest.is_some_and(|rest| matches!(rest.first(), Some(b':' | b']'))) && prefix_len(text) == Some(text.len())
}

/// The length of the marker that `text` begins with: `[REDACTED]`, or `[REDACTED:<kind>]` and its two longer forms.
pub(super) fn prefix_len(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(OPEN)?;
    let window = rest.get(..rest.len().min(MAX_INSIDE + 1))?;
    let close = memchr::memchr(b']', window)?;
    let inside = window.get(..close)?;
    let ours = match inside.split_first() {
        None => true,
        Some((b':', name)) => match name.iter().position(|b| *b == b':').map(|at| name.split_at(at)) {
            None => is_kind(name),
            Some((kind, [_, more @ ..])) => is_kind(kind) && is_addition(more),
            Some(_) => false,
        },
        Some(_) => false,
    };
    ours.then_some(OPEN.len() + close + 1)
}

/// Whether an action may have put this behind the kind. A tag must have its check: a key of 24 hexadecimal digits that
/// somebody writes into a marker does not, but for one in four billion.
fn is_addition(more: &[u8]) -> bool {
    if let Some(end) = more.strip_prefix(SHOWN) {
        return is_shown(end);
    }
    more.len() == TAG + TAG_CHECK
        && more.split_at_checked(TAG).is_some_and(|(tag, found)| check(tag).as_bytes() == found)
}

/// The check digits of a tag. Anybody can compute them: they are against chance, not against intent, which has other ways
/// to write a secret so that nobody finds it.
fn check(tag: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(tag))
}

fn is_shown(end: &[u8]) -> bool {
    end.len() == SHOWN_LEN && end.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
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
    is_only(value, |between| !between.iter().any(u8::is_ascii_alphanumeric))
}

/// Whether a value is markers of ours, and around them only what is harmless.
pub(super) fn is_only(value: &[u8], is_harmless: impl Fn(&[u8]) -> bool) -> bool {
    let mut rest = value;
    let mut seen = false;
    while let Some(at) = memmem::find(rest, OPEN) {
        let (before, from) = rest.split_at(at);
        let Some(len) = prefix_len(from) else { return false };
        if !is_harmless(before) {
            return false;
        }
        seen = true;
        rest = from.get(len..).unwrap_or_default();
    }
    seen && is_harmless(rest)
}

/// Whether a marker of ours stands in `text`.
pub(super) fn occurs(text: &[u8]) -> bool {
    memmem::find_iter(text, OPEN).any(|at| text.get(at..).and_then(prefix_len).is_some())
}

/// Whether `range` of a text begins inside a marker: what looks like a secret there is a kind's name.
pub(super) fn holds(text: &[u8], range: &std::ops::Range<usize>) -> bool {
    let from = range.start.saturating_sub(OPEN.len() + MAX_INSIDE);
    let window = text.get(from..range.start).unwrap_or_default();
    memchr::memrchr_iter(b'[', window).any(|at| {
        let start = from + at;
        text.get(start..).and_then(prefix_len).is_some_and(|len| start + len > range.start)
    })
}

/// Whether `range` of a text begins inside a marker, or one begins in it.
pub(super) fn overlaps(text: &[u8], range: &std::ops::Range<usize>) -> bool {
    let inside = text.get(range.clone()).unwrap_or_default();
    let begins = |at: usize| text.get(range.start + at..).and_then(prefix_len).is_some();
    holds(text, range) || memmem::find_iter(inside, OPEN).any(begins)
}
