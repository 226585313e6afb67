//! Quoted-printable (RFC 2045, 6.7): soft line ends and `=XX`.
//!
//! A layer of its own, since `=` followed by two hex digits is common in plain text (`KEY=ab12`): it is looked at only where
//! a soft line end or an encoded `=` shows that the text is of this kind, and escapes only where one is.

use memchr::memmem;

use super::View;

/// An encoded `=`.
pub(in crate::redact) const ESCAPE: &[u8] = b"=3D";

/// Whether the line end at `at` is a soft one, which parts what belongs together: not `let x =`.
pub(in crate::redact) fn is_soft_end(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.strip_suffix(b"=").is_some_and(|before| before.last().is_some_and(|b| !matches!(b, b' ' | b'\t')))
}

/// Whether there is a soft line end.
fn has_soft_end(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', text).any(|at| is_soft_end(text, at))
}

/// Decodes; `None`: nothing of this encoding.
pub(in crate::redact) fn decode(text: &[u8]) -> Option<View> {
    let escapes = memmem::find(text, ESCAPE).is_some() || is_escaped_throughout(text);
    if !escapes && !has_soft_end(text) {
        return None;
    }
    let mut view = View::default();
    let mut copied = 0;
    for at in memchr::memchr_iter(b'=', text) {
        if at < copied {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let (len, byte) = match rest {
            [_, b'\n', ..] if is_soft_end(text, at + 1) => (2, None),
            [_, b'\r', b'\n', ..] if is_soft_end(text, at + 2) => (3, None),
            [_, high, low, ..] if escapes => match (upper_hex(*high), upper_hex(*low)) {
                (Some(high), Some(low)) => (3, Some(high * 16 + low)),
                _ => continue,
            },
            _ => continue,
        };
        view.copy(copied, text.get(copied..at).unwrap_or_default());
        view.unit(at..at + len, byte.as_slice());
        copied = at + len;
    }
    if copied == 0 {
        return None;
    }
    view.copy(copied, text.get(copied..).unwrap_or_default());
    Some(view)
}

/// Whether characters that need no escape are escaped: three in a row.
pub(in crate::redact) fn is_escaped_throughout(text: &[u8]) -> bool {
    let is_escape = |text: &[u8], at: usize| matches!(text.get(at..at + 3), Some([b'=', high, low]) if upper_hex(*high).is_some() && upper_hex(*low).is_some());
    memchr::memchr_iter(b'=', text).any(|at| (0..3).all(|nth| is_escape(text, at + nth * 3)))
}

/// Digits of an escape are upper-case (RFC 2045, 6.7, rule 1).
fn upper_hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
