//! Secret-named pairs: the value of a name that is that of a secret.
//!
//! `text` reads pairs of any notation out of running text; there the value must look like a secret. `json` walks JSON,
//! where a string of a secret key is one whatever it looks like. What makes a name secret is `names`, what makes a value
//! harmless is `values`.

pub(super) mod json;
mod notation;
pub(super) mod text;

use std::ops::Range;

use super::{marker, names, overlap, values};

/// A range without the blanks at its ends.
pub(super) fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let bytes = text.get(range.clone()).unwrap_or_default();
    let Some(first) = bytes.iter().position(|b| !b.is_ascii_whitespace()) else {
        return range.start..range.start;
    };
    let last = bytes.iter().rposition(|b| !b.is_ascii_whitespace()).unwrap_or(first);
    range.start + first..range.start + last + 1
}

/// What of the string value of a secret key is to be hidden: all of it, but a scheme word in front. `None`: it is a
/// placeholder, a reference, a marker of ours.
pub(super) fn structured_secret(text: &[u8], value: Range<usize>) -> Option<Range<usize>> {
    let secret = without_scheme(text, value);
    let bytes = text.get(secret.clone())?;
    (!values::is_inert(bytes) && !marker::is_redacted(bytes)).then_some(secret)
}

/// A value without the scheme word (`Bearer `) that it begins with.
fn without_scheme(text: &[u8], value: Range<usize>) -> Range<usize> {
    let scheme = overlap::scheme_len(text.get(value.clone()).unwrap_or_default()).unwrap_or(0);
    value.start + scheme..value.end
}

/// Whether a name of a container's child says that its value is no secret (`type`, `name`, `url`).
pub(super) fn is_harmless_child(name: &[u8]) -> bool {
    const HARMLESS: [&[u8]; 32] = [
        b"type",
        b"kind",
        b"name",
        b"id",
        b"user",
        b"username",
        b"user_name",
        b"email",
        b"login",
        b"account",
        b"host",
        b"hostname",
        b"port",
        b"url",
        b"uri",
        b"endpoint",
        b"region",
        b"path",
        b"file",
        b"filename",
        b"description",
        b"title",
        b"enabled",
        b"provider",
        b"version",
        b"status",
        b"scope",
        b"scopes",
        b"created_at",
        b"updated_at",
        b"expires_at",
        b"namespace",
    ];
    let last = name.rsplit(|b| *b == b'.').next().unwrap_or(name);
    HARMLESS.iter().any(|known| last.eq_ignore_ascii_case(known))
}

/// Whether the value of a key is secret by the key, or by the key of what it is nested in.
pub(super) fn is_secret_key(key: &[u8], parent: Option<&[u8]>) -> bool {
    match names::secret_name(key) {
        names::NameClass::Secret | names::NameClass::Container => true,
        names::NameClass::No => {
            parent.is_some_and(|parent| names::secret_name(parent) == names::NameClass::Container)
                && !is_harmless_child(key)
        }
    }
}
