//! Pairs in running text: `.env`, YAML, INI, TOML, cut JSON, Python and JavaScript literals, headers, query strings,
//! command-line flags, XML.
//!
//! Found from the sign between name and value (`=`, `:`), from `--`, and from `</`. The value must look like a secret.

use std::ops::Range;

use memchr::memmem;

use super::notation::{self, Value};
use super::without_scheme;
use crate::redact::decode::Place;
use crate::redact::names::{NameClass, is_bare_pass, may_name_secret, secret_name};
use crate::redact::values::{self, Form};
use crate::redact::{marker, scheme};

/// Longest name, in bytes.
const MAX_NAME: usize = 80;
/// Longest content of an XML element that is looked at, in bytes.
const MAX_ELEMENT: usize = 4096;

/// Calls `on` with the value of every secret-named pair, and with a quote that the marker must be put in.
///
/// A value that is none is read again from the next sign in it, so every reading is paid for with `spend` (bytes); when
/// that refuses, the rest is left out.
pub(in crate::redact) fn each(
    text: &[u8],
    place: &Place<'_>,
    mut spend: impl FnMut(usize) -> bool,
    mut on: impl FnMut(Range<usize>, Option<Range<usize>>),
) {
    let mut done = 0;
    for at in memchr::memchr3_iter(b':', b'=', b',', text) {
        if at < done {
            continue;
        }
        let Some(read) = assignment(text, at, place) else { continue };
        if !spend(read.end - at) {
            return;
        }
        if let Some((secret, quote)) = read.secret {
            done = secret.end;
            on(secret, quote);
        } else if text.get(at) == Some(&b':') && !below(text, at, &mut spend, &mut |secret| on(secret, None))
        {
            return;
        }
    }
    if !super::manifest::each(text, &mut spend, &mut |secret| on(secret, None)) {
        return;
    }
    for at in memmem::find_iter(text, b"--") {
        let Some((name, value)) = flag(text, at) else { continue };
        if !spend(value.range.end - at) {
            return;
        }
        if let Some(secret) = secret(text, name, value) {
            on(secret, None);
        }
    }
    for at in memmem::find_iter(text, b"</") {
        let Some((name, value)) = element(text, at) else { continue };
        if !spend(MAX_ELEMENT) {
            return;
        }
        if let Some(secret) = secret(text, name, value) {
            on(secret, None);
        }
    }
}

/// Whether a sign in `signs` stands between the name and the value of a secret pair: what [`each`] finds from there. Also where
/// `spend` refuses.
pub(super) fn is_assigned(
    text: &[u8],
    signs: Range<usize>,
    place: &Place<'_>,
    mut spend: impl FnMut(usize) -> bool,
) -> bool {
    let window = text.get(signs.clone()).unwrap_or_default();
    memchr::memchr3_iter(b':', b'=', b',', window).any(|nth| {
        let at = signs.start + nth;
        let Some(read) = assignment(text, at, place) else { return false };
        if read.secret.is_some() || !spend(read.end - at) {
            return true;
        }
        let mut found = false;
        let paid = text.get(at) != Some(&b':') || below(text, at, &mut spend, &mut |_| found = true);
        found || !paid
    })
}

/// Whether the `--` at `at` begins a flag with a secret value. Also where `spend` refuses.
pub(super) fn is_flag(text: &[u8], at: usize, mut spend: impl FnMut(usize) -> bool) -> bool {
    let Some((name, value)) = flag(text, at) else { return false };
    !spend(value.range.end - at) || secret(text, name, value).is_some()
}

/// Whether the `</` at `at` ends an element with a secret content. Also where `spend` refuses.
pub(super) fn is_element(text: &[u8], at: usize, mut spend: impl FnMut(usize) -> bool) -> bool {
    !spend(MAX_ELEMENT) || element(text, at).is_some_and(|(name, value)| secret(text, name, value).is_some())
}

/// A secret-named assignment: how far it was read, and what of its value is secret.
struct Assignment {
    end: usize,
    secret: Option<(Range<usize>, Option<Range<usize>>)>,
}

/// The value of `name = value`, `name: value` in all notations, around the sign at `at`.
fn assignment(text: &[u8], at: usize, place: &Place<'_>) -> Option<Assignment> {
    let named = |name: &notation::Name| {
        let bytes = text.get(name.range.clone())?;
        let entry = || text.get(notation::entry_name(text, name.range.start)?);
        let bytes = if bytes.eq_ignore_ascii_case(b"value") { entry()? } else { bytes };
        may_name_secret(bytes).then_some(bytes)
    };
    let by = |name: notation::Name| named(&name).map(|bytes| (name, bytes));
    let plain = notation::name_before(text, at).and_then(by);
    let (name, bytes) = plain.or_else(|| notation::name_before_type(text, at).and_then(by))?;
    let Some(value) = notation::value_after(text, at, &name, place) else {
        return Some(Assignment { end: at + 1, secret: None });
    };
    let (end, quote) = (value.range.end, value.quote.clone());
    let secret = secret(text, bytes, value).map(|secret| (secret, quote));
    Some(Assignment { end, secret })
}

/// What stands on the lines below a name of YAML: a block, a quoted string, a list. False: `spend` refused.
fn below(
    text: &[u8],
    at: usize,
    spend: &mut impl FnMut(usize) -> bool,
    on: &mut impl FnMut(Range<usize>),
) -> bool {
    let Some(name) = notation::name_before(text, at) else { return true };
    let bytes = text.get(name.range.clone()).unwrap_or_default();
    if secret_name(bytes) == NameClass::No {
        return true;
    }
    let Some(below) = notation::lines_below(text, at) else { return true };
    for value in below.values {
        if let Some(secret) = secret(text, bytes, value) {
            on(secret);
        }
    }
    spend(below.end - at)
}

/// The value of `--name value`, and the name; `--name=value` is an assignment.
fn flag(text: &[u8], at: usize) -> Option<(&[u8], Value)> {
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
    // `option("--password", prompt=True)`: after a comma only a string follows.
    let quoted = matches!(between.last(), Some(b'"' | b'\''));
    // A quoted flag (`'--passwd' option may`) is followed by a quoted value too, and that is not empty.
    let closed = matches!(between.first(), Some(b'"' | b'\''));
    let empty = memmem::find(between, b"''").or_else(|| memmem::find(between, b"\"\"")).is_some();
    if empty || ((closed || between.contains(&b',')) && !quoted) {
        return None;
    }
    Some((name, Value { range: from..end, form: Form::Env, quote: None }))
}

/// The content of `<name>value</name>`, and the name, from the end tag at `at`.
fn element(text: &[u8], at: usize) -> Option<(&[u8], Value)> {
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
    Some((name, Value { range: start..at, form: Form::Quoted, quote: None }))
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
    if scheme::is_scheme(bytes) {
        return None;
    }
    let looks = match secret_name(name) {
        NameClass::No if is_bare_pass(name) => values::stands_out(bytes) && !bytes.contains(&b'&'),
        NameClass::No => values::is_opaque(bytes),
        NameClass::Secret | NameClass::Container => values::looks_secret(name, bytes, value.form),
    };
    if !looks {
        return None;
    }
    super::connection::secret_part(text, name, secret)
}
