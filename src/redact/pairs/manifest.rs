//! Kubernetes Secrets, in YAML and JSON: every value under `data` and `stringData` is secret, whatever its name.
//!
//! Found from `kind: Secret`; `data` may stand before it or behind. Knows no other manifest.

use std::ops::Range;

use memchr::memmem;

use crate::redact::marker;
use crate::redact::values;
use crate::redact::wordlist::one_of;

/// How far from the kind the data may stand, in bytes.
const MAX_AWAY: usize = 16 << 10;
/// Most values of one Secret.
const MOST: usize = 256;

/// What a Secret is found from.
pub(in crate::redact) const KIND: &[u8] = b"kind";

/// Whether it is a Secret that says so with the [`KIND`] at `at`.
pub(in crate::redact) fn is_secret(text: &[u8], at: usize) -> bool {
    after_kind(text, at).is_some()
}

/// Calls `on` with every value of every Secret. Every Secret is paid for with `spend` (bytes); when that refuses, the rest is
/// left out.
pub(super) fn each(
    text: &[u8],
    mut spend: impl FnMut(usize) -> bool,
    on: &mut impl FnMut(Range<usize>),
) -> bool {
    for at in memmem::find_iter(text, KIND) {
        let Some(after) = after_kind(text, at) else { continue };
        let start = at.saturating_sub(MAX_AWAY);
        let end = text.len().min(after + MAX_AWAY);
        if !spend(end - start) {
            return false;
        }
        let json = at.checked_sub(1).is_some_and(|before| text.get(before) == Some(&b'"'));
        for value in if json { in_json(text, at, start..end) } else { in_yaml(text, at, start..end) } {
            let bytes = text.get(value.clone()).unwrap_or_default();
            if !values::is_inert(bytes) && !marker::is_redacted(bytes) && !marker::holds(text, &value) {
                on(value);
            }
        }
    }
    true
}

/// Where `kind: Secret` ends, if that is what stands at `at`.
fn after_kind(text: &[u8], at: usize) -> Option<usize> {
    let mut rest = text.get(at + 4..)?;
    let is_filler = |b: &u8| matches!(b, b' ' | b'\t' | b'"' | b'\'');
    let skip = |rest: &[u8]| rest.iter().take(8).take_while(|b| is_filler(b)).count();
    rest = rest.get(skip(rest)..)?.strip_prefix(b":")?;
    rest = rest.get(skip(rest)..)?;
    let (word, after) = rest.split_at_checked(6)?;
    let ends = after.first().is_none_or(|b| !b.is_ascii_alphanumeric());
    (word.eq_ignore_ascii_case(b"secret") && ends).then(|| text.len() - after.len())
}

/// The values below `data:` and `stringData:` of the same mapping as the kind.
fn in_yaml(text: &[u8], kind: usize, near: Range<usize>) -> Vec<Range<usize>> {
    let indent = kind - line_start(text, kind);
    let lines: Vec<Range<usize>> = lines(text, line_start(text, near.start)..near.end).collect();
    let at = lines.iter().position(|line| line.contains(&kind)).unwrap_or_default();
    let belongs = |line: &&Range<usize>| is_of_mapping(text.get((*line).clone()).unwrap_or_default(), indent);
    let before = lines.iter().take(at).rev().take_while(belongs).count();
    let after = lines.iter().skip(at).take_while(belongs).count();
    let (mut values, mut inside, mut block) = (Vec::new(), false, None);
    for line in lines.iter().skip(at - before).take(before + after) {
        let bytes = text.get(line.clone()).unwrap_or_default();
        let depth = depth_of(bytes);
        let content = super::trim(text, line.clone());
        let bytes = text.get(content.clone()).unwrap_or_default();
        if bytes.is_empty() || bytes.starts_with(b"#") {
            continue;
        }
        if depth <= indent {
            block = None;
            inside = matches!(bytes, b"data:" | b"stringData:");
            continue;
        }
        if !inside || values.len() >= MOST {
            continue;
        }
        if block.is_some_and(|block| depth > block) {
            values.push(content);
            continue;
        }
        block = None;
        let Some(sign) = memchr::memchr(b':', bytes) else { continue };
        let value = super::trim(text, content.start + sign + 1..content.end);
        match text.get(value.clone()).unwrap_or_default() {
            [b'|' | b'>', ..] => block = Some(depth),
            [first @ (b'"' | b'\''), .., last] if first == last => {
                values.push(value.start + 1..value.end - 1)
            }
            _ => values.push(value),
        }
    }
    values
}

/// Whether a line can be one of a Secret whose members are so far in: one of them, or further in than they.
fn is_of_mapping(line: &[u8], indent: usize) -> bool {
    const MEMBERS: &str = "apiVersion kind metadata type data stringData immutable";
    let content = line.trim_ascii();
    if content.is_empty() || content.starts_with(b"#") || depth_of(line) > indent {
        return true;
    }
    let name = content.split(|b| *b == b':').next().unwrap_or_default();
    depth_of(line) == indent && content.contains(&b':') && one_of(name, MEMBERS)
}

fn depth_of(line: &[u8]) -> usize {
    line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// The strings of the nearest `"data": {..}` and `"stringData": {..}` of the same object.
fn in_json(text: &[u8], kind: usize, near: Range<usize>) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    for name in [&b"\"data\""[..], b"\"stringData\""] {
        let behind =
            text.get(kind + 4..near.end).and_then(|rest| memmem::find(rest, name)).map(|at| kind + 4 + at);
        let before =
            text.get(near.start..kind).and_then(|rest| memmem::rfind(rest, name)).map(|at| near.start + at);
        for at in [before, behind].into_iter().flatten() {
            let between = text.get(at.min(kind + 4)..at.max(kind)).unwrap_or_default();
            if is_same_object(between) {
                members(text, at + name.len(), near.end, &mut values);
            }
        }
    }
    values
}

/// Whether two members of JSON with this between them are of one object. A bracket in a string may hide that they are.
fn is_same_object(between: &[u8]) -> bool {
    let depth = between.iter().try_fold(0_usize, |depth, byte| match byte {
        b'{' | b'[' => Some(depth + 1),
        b'}' | b']' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// The strings of the flat object behind a name.
fn members(text: &[u8], start: usize, end: usize, values: &mut Vec<Range<usize>>) {
    let mut at = start;
    let mut in_value = false;
    let mut open = false;
    while at < end && values.len() < MOST {
        match text.get(at) {
            Some(b'{') if !open => open = true,
            Some(b'"') if open => {
                let rest = text.get(at + 1..end).unwrap_or_default();
                let Some(len) = memchr::memchr(b'"', rest) else { return };
                if in_value {
                    values.push(at + 1..at + 1 + len);
                }
                at += len + 1;
            }
            Some(b':') => in_value = open,
            Some(b',') if open => in_value = false,
            Some(b) if b.is_ascii_whitespace() => {}
            _ => return,
        }
        at += 1;
    }
}

fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', text.get(..at).unwrap_or_default()).map_or(0, |end| end + 1)
}

fn lines(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let rest = text.get(start..range.end).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = start..start + len;
        start += len + 1;
        Some(line)
    })
}
