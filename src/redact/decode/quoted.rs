//! Quoted-printable (RFC 2045, 6.7): soft line ends and `=XX`.
//!
//! A layer of its own, since `=` followed by two hex digits is common in plain text (`KEY=ab12`): it is looked at only where
//! a soft line end or an encoded `=` shows that the text is of this kind.

use memchr::memmem;

use super::View;

/// Decodes; `None`: nothing of this encoding.
pub(in crate::redact) fn decode(text: &[u8]) -> Option<View> {
    let shows = memmem::find(text, b"=\n").is_some()
        || memmem::find(text, b"=\r\n").is_some()
        || memmem::find(text, b"=3D").is_some();
    if !shows {
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
            [_, high, low, ..] => match (char::from(*high).to_digit(16), char::from(*low).to_digit(16)) {
                (Some(high), Some(low)) => (3, u8::try_from(high * 16 + low).ok()),
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
