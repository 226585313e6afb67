//! Quoted-printable (RFC 2045, 6.7): soft line ends and `=XX`.
//!
//! A layer of its own, since `=` followed by two hex digits is common in plain text (`KEY=ab12`): it is looked at only where
//! a soft line end or an encoded `=` shows that the text is of this kind, and escapes only where one is.

use memchr::memmem;

use super::View;

/// Decodes; `None`: nothing of this encoding.
pub(in crate::redact) fn decode(text: &[u8]) -> Option<View> {
    let escapes = memmem::find(text, b"=3D").is_some() || is_escaped_throughout(text);
    if !escapes && memmem::find(text, b"=\n").is_none() && memmem::find(text, b"=\r\n").is_none() {
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
            [_, b'\n', ..] => (2, None),
            [_, b'\r', b'\n', ..] => (3, None),
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
fn is_escaped_throughout(text: &[u8]) -> bool {
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
