//! What a pair needs at the least, seen from a piece of its name: whether a text is worth reading for pairs.
//!
//! Says yes too often, never too seldom: every notation of `text`, `notation` and `json` has to pass here, also through
//! the escapes that a view would take off.

use super::{statements, text};
use crate::redact::byte_table::ByteTable;
use crate::redact::decode::Place;
use crate::redact::names::{NameClass, may_name_secret, secret_name};
use crate::redact::wordlist::{one_of, starts_with_any};

/// Longest way from a piece of a name to its end, and from a name to its sign, in bytes.
const MAX_NAME: usize = 80;
/// Longest way from a name to its sign, in bytes.
const MAX_GAP: usize = 48;
/// Names of a value whose own name may stand elsewhere end in one of these.
pub(in crate::redact) const VALUES: [&[u8]; 1] = [b"val"];
/// How far behind a name the sign is looked for, in bytes: a type may stand between.
const MAX_SIGN: usize = 96;
/// How much of a key of JSON counts, in bytes.
const MAX_KEY: usize = 160;

/// Looks at the names of one text.
#[derive(Debug)]
pub(in crate::redact) struct Names<'t> {
    text: &'t [u8],
    /// The text may be JSON, where a name is a whole string.
    json: bool,
    /// Where the text stands, if that is known. Then pairs are read, so that the answers are exact but for JSON.
    place: Option<&'t Place<'t>>,
    /// How much may still be read, in bytes: no text makes this slow.
    budget: usize,
    /// Where the last name ends whose pair was read: a name may hold several pieces.
    read: usize,
}

impl<'t> Names<'t> {
    pub(in crate::redact) fn new(text: &'t [u8], json: bool, place: Option<&'t Place<'t>>) -> Self {
        const READS: usize = 16;
        Self { text, json, place, budget: READS * (text.len() + MAX_NAME), read: 0 }
    }

    /// Whether the name of a secret pair may hold the piece at `at`.
    pub(in crate::redact) fn may_be_secret(&mut self, at: usize) -> bool {
        let text = self.text;
        let rest = text.get(at..).unwrap_or_default();
        let len = rest.iter().take(MAX_NAME + 1).take_while(|b| is_name(**b)).count();
        let end = at + len;
        if len > MAX_NAME {
            return true;
        }
        let window = text.get(at.saturating_sub(MAX_NAME)..at).unwrap_or_default();
        let start = at - window.iter().rev().take_while(|b| is_name(**b)).count();
        (end != self.read
            && sign_follows(text, end)
            && may_be_secret(text, start, end)
            && self.is_assigned(end))
            || (is_flag(text, start, end) && self.is_secret_flag(start, end))
            || (self.json && is_key(text, at))
            || self.is_end_tag(at)
    }

    /// Whether what stands at `at`, one of [`VALUES`], may be the name of a value: `{"name": "TOKEN", "value": ..}`.
    pub(in crate::redact) fn is_value(&self, at: usize) -> bool {
        let end = self.value_end(at);
        let whole = self.text.get(at..end).is_some_and(|name| one_of(name, "val value"));
        whole && sign_follows(self.text, end)
    }

    /// Whether the value of such a name is secret by the name beside it: `name: TOKEN\n value: ..`. In JSON that is not seen here.
    pub(in crate::redact) fn has_secret_value(&mut self, at: usize) -> bool {
        self.place.is_some() && self.is_assigned(self.value_end(at))
    }

    fn value_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.iter().take("value".len() + 1).take_while(|b| is_name(**b)).count()
    }

    /// Whether a password is said of the name with one of [`statements::STEMS`] at `at`.
    pub(in crate::redact) fn may_be_said(&mut self, at: usize) -> bool {
        !self.spend(statements::WINDOW) || statements::is_said(self.text, at)
    }

    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.budget.checked_sub(bytes);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether one of the signs behind a name that ends at `end` has a secret value.
    fn is_assigned(&mut self, end: usize) -> bool {
        let Some(place) = self.place else { return true };
        self.read = end;
        let signs = end..self.text.len().min(end + MAX_SIGN);
        let text = self.text;
        text::is_assigned(text, signs, place, |bytes| self.spend(bytes))
    }

    fn is_secret_flag(&mut self, start: usize, end: usize) -> bool {
        if self.place.is_none() {
            return true;
        }
        let text = self.text;
        let name = text.get(start..end).unwrap_or_default();
        let mut flags = memchr::memmem::find_iter(name, b"--");
        flags.any(|at| text::is_flag(text, start + at, |bytes| self.spend(bytes)))
    }

    /// Whether the piece at `at` stands in the name of the end tag of a secret element: `</name>`.
    fn is_end_tag(&mut self, at: usize) -> bool {
        let text = self.text;
        let before = text.get(at.saturating_sub(MAX_NAME)..at).unwrap_or_default();
        let rest = text.get(at..text.len().min(at + MAX_NAME)).unwrap_or_default();
        let is_open = |at: &usize| before.get(at + 1) == Some(&b'/');
        let Some(open) = memchr::memrchr_iter(b'<', before).find(is_open) else { return false };
        let Some(close) = memchr::memchr(b'>', rest) else { return false };
        if before.get(open + 2..).is_none_or(|inside| inside.contains(&b'>')) {
            return false;
        }
        let start = at - before.len() + open;
        if self.place.is_some() {
            return text::is_element(text, start, |bytes| self.spend(bytes));
        }
        text.get(start + 2..at + close).is_some_and(|name| secret_name(name) != NameClass::No)
    }
}

/// Whether a sign, or something that may hide one, follows a name that ends at `end`.
fn sign_follows(text: &[u8], end: usize) -> bool {
    let mut quoted = false;
    let rest = text.get(end..).unwrap_or_default();
    for (at, byte) in rest.iter().take(MAX_GAP).enumerate() {
        match byte {
            b':' | b'=' => return true,
            b',' => return quoted,
            b'"' | b'\'' | b'`' | b']' => quoted = true,
            b' ' | b'\t' => {}
            // `?=`, `.=`, `char token[33] =`, `var token string =`.
            b'?' | b'.' => return rest.get(at + 1) == Some(&b'='),
            b'[' => return rest.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b']'),
            b's' | b'b' | b'r' | b'S' | b'B' | b'R' if at > 0 => {
                return starts_with_any(rest.get(at..).unwrap_or_default(), "string byte rune");
            }
            b'\n' | b'\r' if quoted => {}
            b'\\' => match rest.get(at + 1) {
                // A letter follows that is a line end or blank: it is skipped with the next byte.
                Some(b'"' | b'\'' | b'`' | b'\\') => {}
                Some(b'n' | b'r') if !quoted => return false,
                _ => return true,
            },
            0 | 0x1b | b'%' | b'&' | 0x80.. => return true,
            _ => return false,
        }
    }
    rest.len() > MAX_GAP
}

/// Whether the name may be a flag with its value: `--name value`, `"--name", "value"`.
fn is_flag(text: &[u8], start: usize, end: usize) -> bool {
    let name = text.get(start..end).unwrap_or_default();
    name.windows(2).any(|pair| pair == b"--")
        && matches!(text.get(end), Some(b' ' | b'"' | b'\'' | b',' | b'\\' | b'%' | b'&' | 0 | 0x1b | 0x80..))
}

/// Whether a name is that of a secret, in one of its readings: as it stands, and without what may belong to an escape or a mark
/// before it.
fn may_be_secret(text: &[u8], start: usize, end: usize) -> bool {
    let name = text.get(start..end).unwrap_or_default();
    let escaped = start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\\');
    let longer = !matches!(name.first(), Some(b'n' | b'r' | b't'));
    if name.len() >= MAX_NAME || (escaped && longer) {
        return true;
    }
    may_name_secret(name)
        || (escaped && may_name_secret(name.get(1..).unwrap_or_default()))
        || memchr::memmem::rfind(name, b"--")
            .is_some_and(|at| may_name_secret(name.get(at + 2..).unwrap_or_default()))
}

/// Whether the piece at `at` stands in a key of JSON that is that of a secret.
fn is_key(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let window = rest.get(..MAX_KEY.min(rest.len())).unwrap_or_default();
    for quote in memchr::memchr_iter(b'"', window) {
        let after = rest.get(quote + 1..).unwrap_or_default();
        if after.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|b| may_follow_key(*b)) {
            let end = at + quote;
            let before = text.get(at.saturating_sub(MAX_KEY)..at).unwrap_or_default();
            let Some(open) = memchr::memrchr(b'"', before) else { return true };
            let key = text.get(at - before.len() + open + 1..end).unwrap_or_default();
            let key = key.get(..key.iter().rposition(|b| *b != b'\\').map_or(0, |last| last + 1));
            if key.is_none_or(|key| key.contains(&b'\\') || secret_name(key) != NameClass::No)
                || !begins_string(before.get(..open).unwrap_or_default())
            {
                return true;
            }
        }
        // Only a quote that is escaped can be part of a key.
        if quote.checked_sub(1).and_then(|at| window.get(at)) != Some(&b'\\') {
            return false;
        }
    }
    false
}

/// Whether a value may follow a key with this byte: JSON is walked where the colon is missing, too.
fn may_follow_key(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b':' | b'\\' | b'"' | b'[' | b'{' | b'-')
}

/// Whether a quote behind `before` begins a string of JSON, on whatever level, rather than standing in one.
fn begins_string(before: &[u8]) -> bool {
    let Some(last) = before.iter().rposition(|b| *b != b'\\') else { return before.is_empty() };
    let escaped = last + 1 < before.len();
    match before.get(last) {
        Some(b'{' | b',' | b' ' | b'\t' | b'\n' | b'[') => true,
        Some(b'n' | b't' | b'r') => last.checked_sub(1).and_then(|at| before.get(at)) == Some(&b'\\'),
        _ => !escaped,
    }
}

fn is_name(byte: u8) -> bool {
    NAME.holds(byte)
}

static NAME: ByteTable = ByteTable::letters_and_digits(b"_-.$");
