//! Pairs in running text: `.env`, YAML, INI, TOML, cut JSON, Python and JavaScript literals, headers, query strings,
//! command-line flags, XML.
//!
//! Found from the sign between name and value (`=`, `:`), from `--`, and from `</`. The value must look like a secret.

use std::ops::Range;

use memchr::memmem;

use super::notation::{self, Value};
use super::without_scheme;
use crate::redact::decode::Place;
use crate::redact::names::{NameClass, secret_name};
use crate::redact::values::{self, Form};
use crate::redact::{marker, overlap};

/// Longest name, in bytes.
const MAX_NAME: usize = 80;
/// Longest content of an XML element that is looked at, in bytes.
const MAX_ELEMENT: usize = 4096;

/// Calls `on` with the value of every secret-named pair, and with a quote that the marker must be put in.
pub(in crate::redact) fn each(
    text: &[u8],
    place: &Place<'_>,
    mut on: impl FnMut(Range<usize>, Option<Range<usize>>),
) {
    let mut done = 0;
    for at in memchr::memchr3_iter(b':', b'=', b',', text) {
        if at < done {
            continue;
        }
        if let Some((secret, quote)) = assignment(text, at, place) {
            done = secret.end;
            on(secret, quote);
        } else if text.get(at) == Some(&b':') {
            below(text, at, &mut |secret| on(secret, None));
        }
    }
    for at in memmem::find_iter(text, b"--") {
        if let Some(secret) = flag(text, at) {
            on(secret, None);
        }
    }
    for at in memmem::find_iter(text, b"</") {
        if let Some(secret) = element(text, at) {
            on(secret, None);
        }
    }
}

/// The value of `name = value`, `name: value` in all notations, around the sign at `at`.
fn assignment(text: &[u8], at: usize, place: &Place<'_>) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let name = notation::name_before(text, at)?;
    let mut bytes = text.get(name.range.clone())?;
    if bytes.eq_ignore_ascii_case(b"value") {
        bytes = text.get(notation::entry_name(text, name.range.start)?)?;
    }
    if secret_name(bytes) == NameClass::No {
        return None;
    }
    let value = notation::value_after(text, at, &name, place)?;
    let quote = value.quote.clone();
    secret(text, bytes, value).map(|secret| (secret, quote))
}

/// What stands on the lines below a name of YAML: a block, a quoted string, a list.
fn below(text: &[u8], at: usize, on: &mut impl FnMut(Range<usize>)) {
    let Some(name) = notation::name_before(text, at) else { return };
    let bytes = text.get(name.range.clone()).unwrap_or_default();
    if secret_name(bytes) == NameClass::No {
        return;
    }
    for value in notation::lines_below(text, at).into_iter().flatten() {
        if let Some(secret) = secret(text, bytes, value) {
            on(secret);
        }
    }
}

/// The value of `--name value`; `--name=value` is an assignment.
fn flag(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + 2;
    let rest = text.get(start..)?;
    let len = rest
        .iter()
        .take(MAX_NAME)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    let name = rest.get(..len)?;
    if len < 3 || secret_name(name) == NameClass::No {
        return None;
    }
    // In an array of arguments: `"--password", "x"`.
    let gap = rest.iter().skip(len).take(6).take_while(|b| matches!(b, b' ' | b'"' | b'\'' | b',')).count();
    let between = rest.get(len..len + gap)?;
    if !between.contains(&b' ') && !between.contains(&b',') {
        return None;
    }
    let from = start + len + gap;
    let end = notation::unquoted_end(text, from, notation::Stop::Blank);
    if text.get(from) == Some(&b'-') {
        return None;
    }
    secret(text, name, Value { range: from..end, form: Form::Env, quote: None })
}

/// The content of `<name>value</name>`, from the end tag at `at`.
fn element(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at + 2..)?;
    let len = rest.iter().take(MAX_NAME).position(|b| *b == b'>')?;
    let name = rest.get(..len)?.trim_ascii();
    if secret_name(name) == NameClass::No {
        return None;
    }
    let from = at.saturating_sub(MAX_ELEMENT);
    let start = from + memchr::memrchr(b'>', text.get(from..at)?)? + 1;
    let tag_start = memchr::memrchr(b'<', text.get(from..start)?)?;
    let tag = text.get(from + tag_start + 1..start)?;
    if !tag.starts_with(name) {
        return None;
    }
    secret(text, name, Value { range: start..at, form: Form::Quoted, quote: None })
}

/// What of a value is secret, if it looks like one.
fn secret(text: &[u8], name: &[u8], value: Value) -> Option<Range<usize>> {
    let whole = super::trim(text, value.range);
    let secret = without_scheme(text, whole);
    let bytes = text.get(secret.clone())?;
    if bytes.is_empty()
        || marker::is_redacted(bytes)
        || marker::holds(text, &secret)
        || values::is_inert(bytes)
    {
        return None;
    }
    // A scheme word alone (`Authorization: Bearer`) is no value.
    if overlap::is_scheme(bytes) {
        return None;
    }
    if !values::looks_secret(name, bytes, value.form) {
        return None;
    }
    super::connection::secret_part(text, name, secret)
}
