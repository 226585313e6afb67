//! Secret-named pairs: the value of a name that is that of a secret.
//!
//! `text` reads pairs of any notation out of running text, `statements` what people, tables and calls say without a sign; there the value must look like a secret. `json` walks JSON,
//! where a string of a secret key is one whatever it looks like. What makes a name secret is `names`, what makes a value
//! harmless is `values`.

mod connection;
pub(super) mod json;
pub(super) mod manifest;
mod notation;
pub(super) mod statements;
pub(super) mod text;
pub(super) mod trigger;

use std::ops::Range;

use super::names::{self, NameClass};
use super::values::{self, Form};
use super::{marker, scheme};

/// A range without the blanks at its ends.
pub(super) fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let bytes = text.get(range.clone()).unwrap_or_default();
    let Some(first) = bytes.iter().position(|b| !b.is_ascii_whitespace()) else {
        return range.start..range.start;
    };
    let last = bytes.iter().rposition(|b| !b.is_ascii_whitespace()).unwrap_or(first);
    range.start + first..range.start + last + 1
}

/// What a key says of the text of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyClass {
    /// Nothing.
    No,
    /// It is a secret unless it is harmless.
    Secret,
    /// It is a secret where it looks like one; what is nested in it is secret.
    Container,
    /// It is nested in a container.
    Member,
}

/// Classifies a key; `in_container`: it is nested in a container of secrets.
pub(super) fn key_class(key: &[u8], in_container: bool) -> KeyClass {
    match names::secret_name(key) {
        // A key that held a secret: the kind's name is none.
        NameClass::Secret | NameClass::Container if marker::occurs(key) => KeyClass::No,
        NameClass::Secret => KeyClass::Secret,
        NameClass::Container => KeyClass::Container,
        NameClass::No if in_container && names::inherits(key) => KeyClass::Member,
        NameClass::No => KeyClass::No,
    }
}

/// What of the text under a key is to be hidden: all of it, but a scheme word in front. `None`: the key is that of no secret, or
/// the value is a placeholder, a reference, a marker of ours.
pub(super) fn structured_secret(
    text: &[u8],
    key: &[u8],
    class: KeyClass,
    value: Range<usize>,
) -> Option<Range<usize>> {
    let whole = text.get(value.clone())?;
    let counts = match class {
        KeyClass::No => false,
        KeyClass::Secret => values::looks_secret(key, whole, Form::Structured),
        KeyClass::Container => values::looks_secret(key, whole, Form::Quoted),
        KeyClass::Member => values::is_member_secret(whole) && !values::is_json_type(whole),
    };
    let secret = without_scheme(text, value);
    let bytes = text.get(secret.clone())?;
    let hides =
        counts && !values::is_inert(bytes) && !marker::is_redacted(bytes) && !scheme::is_scheme(bytes);
    if !hides {
        return None;
    }
    connection::secret_part(text, key, secret)
}

/// Whether a number or bytes under a key are secret: there is no look to them.
pub(super) fn is_secret_key(key: &[u8], in_container: bool) -> bool {
    match key_class(key, in_container) {
        KeyClass::Secret => !names::is_weak(key),
        KeyClass::Member => true,
        KeyClass::Container | KeyClass::No => false,
    }
}

/// A value without the scheme word (`Bearer `) that it begins with.
fn without_scheme(text: &[u8], value: Range<usize>) -> Range<usize> {
    let scheme = scheme::scheme_len(text.get(value.clone()).unwrap_or_default()).unwrap_or(0);
    value.start + scheme..value.end
}
