//! Passwords that no sign binds to their name: in sentences (`the password for bob is x`), tables and markup, calls
//! (`setPassword("x")`), defaults (`env.DB_PASSWORD || "x"`), elements and records that name what they hold.
//!
//! Found from the word itself, so only names with `password` or `passphrase` in them count; the value must stand out.

use std::ops::Range;

use memchr::memmem;

use crate::redact::names;
use crate::redact::values::{Form, looks_secret};
use crate::redact::wordlist::one_of;
use crate::redact::{marker, values};

/// What every name holds, as people write it.
pub(in crate::redact) const STEMS: [&[u8]; 4] = [b"assw", b"ASSW", b"assphrase", b"ASSPHRASE"];
/// How much behind a name is read, in bytes.
pub(super) const WINDOW: usize = 240;
/// Longest name, in bytes.
const MAX_NAME: usize = 80;

/// Calls `on` with every value. Every name is paid for with `spend` (bytes); when that refuses, the rest is left out.
pub(in crate::redact) fn each(
    text: &[u8],
    mut spend: impl FnMut(usize) -> bool,
    mut on: impl FnMut(Range<usize>),
) {
    for stem in STEMS {
        for at in memmem::find_iter(text, stem) {
            if !spend(WINDOW) {
                return;
            }
            if let Some(value) = said_of(text, at) {
                on(value);
            }
        }
    }
}

/// Whether a password is said of the name with one of [`STEMS`] at `at`.
pub(super) fn is_said(text: &[u8], at: usize) -> bool {
    said_of(text, at).is_some()
}

fn said_of(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = name_around(text, at)?;
    Statement { text, name }.value()
}

/// The name that holds the byte at `at`, if it is that of a password.
fn name_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/');
    let before = text.get(at.saturating_sub(MAX_NAME)..at)?.iter().rev().take_while(|b| is_name(b)).count();
    let after = text.get(at..)?.iter().take(MAX_NAME).take_while(|b| is_name(b)).count();
    let trailing = text.get(at..at + after)?.iter().rev().take_while(|b| !b.is_ascii_alphanumeric()).count();
    let name = at - before..at + after - trailing;
    let bytes = text.get(name.clone())?;
    let last = bytes.rsplit(|b| *b == b'/').next()?;
    names::is_password(last).then_some(name)
}

/// A name, and what is said of it.
struct Statement<'t> {
    text: &'t [u8],
    name: Range<usize>,
}

/// What is read on behind a name.
#[derive(Clone, Copy)]
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn skip(&mut self, class: impl Fn(u8) -> bool) -> usize {
        let len = self.rest().iter().take_while(|b| class(**b)).count();
        self.at += len;
        len
    }

    fn blanks(&mut self) -> usize {
        self.skip(|b| matches!(b, b' ' | b'\t'))
    }

    fn eat(&mut self, word: &[u8]) -> bool {
        let eats = self.rest().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        self.at += if eats { word.len() } else { 0 };
        eats
    }

    fn eat_one(&mut self, words: &[&[u8]]) -> bool {
        words.iter().any(|word| self.eat(word))
    }

    /// The content of a string that begins here.
    fn string(&mut self) -> Option<Range<usize>> {
        let quote = self.rest().first().copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
        let content = self.rest().get(1..)?;
        let len = content.iter().position(|b| *b == quote || *b == b'\n')?;
        let value = self.at + 1..self.at + 1 + len;
        self.at = value.end + 1;
        Some(value)
    }

    /// A word without blanks and quotes. A backslash begins an escape: what it stands for is read in the view without it.
    fn word(&self) -> Range<usize> {
        let ends = |b: &u8| {
            b.is_ascii_whitespace()
                || matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b'|' | b')' | b']' | b'}' | b',')
        };
        let len = self.rest().iter().position(ends).unwrap_or(self.rest().len());
        let word = self.text.get(self.at..self.at + len).unwrap_or_default();
        let closing = word.iter().rev().take_while(|b| matches!(b, b'.' | b';' | b':' | b'*')).count();
        self.at..self.at + len - closing
    }
}

impl<'t> Statement<'t> {
    fn after(&self) -> Reader<'t> {
        Reader { text: self.text, at: self.name.end, end: self.text.len().min(self.name.end + WINDOW) }
    }

    fn value(&self) -> Option<Range<usize>> {
        let strings = [self.called(), self.alternative(), self.recorded(), self.element()];
        let words = [self.cell(), self.said(), self.listed()];
        let string = strings.into_iter().flatten().find(|value| self.is_password(value));
        string.or_else(|| words.into_iter().flatten().find(|value| self.stands_out(value)))
    }

    fn bytes(&self, value: &Range<usize>) -> &'t [u8] {
        self.text.get(value.clone()).unwrap_or_default()
    }

    /// What a string may be that stands where a password is expected.
    fn is_password(&self, value: &Range<usize>) -> bool {
        let bytes = self.bytes(value);
        !marker::holds(self.text, value)
            && !marker::occurs(bytes)
            && !values::is_inert(bytes)
            && !bytes.iter().any(|b| matches!(b, b' ' | b'\\'))
            && looks_secret(b"password", bytes, Form::Prose)
    }

    /// What a word must be to stand out of prose.
    fn stands_out(&self, value: &Range<usize>) -> bool {
        self.is_password(value) && values::stands_out(self.bytes(value))
    }

    /// `setPassword("x")`, `password{"x"}`, `#define DB_PASSWORD "x"`.
    fn called(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        let opened = reader.eat_one(&[b"(", b"{"]);
        let blanks = reader.blanks();
        let value = reader.string()?;
        (opened || blanks > 0).then_some(value)
    }

    /// `process.env.DB_PASSWORD || "x"`, `ENV['DB_PASSWORD'] || 'x'`, `getenv("DB_PASSWORD") ?: "x"`, `password = "old" -> "x"`.
    fn alternative(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        reader.skip(|b| matches!(b, b'"' | b'\'' | b']' | b')' | b' '));
        if reader.eat(b"= ") {
            reader.string()?;
            reader.blanks();
            return reader.eat(b"-> ").then(|| reader.string())?;
        }
        let operator =
            reader.eat_one(&[b"||= ", b"||=", b"|| ", b"||", b"?? ", b"??", b"?: ", b"?:", b"or ", b"<- "]);
        operator.then(|| reader.string())?
    }

    /// Records that hold the name as a value: `"path": "/db/password", "value": "x"`, `variable "password" { default = "x" }`,
    /// `add_argument("--password", default="x")`, PHP's `["password"]=> string(1) "x"` and `s:8:"password";s:1:"x"`.
    fn recorded(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        if !reader.eat_one(&[b"\"", b"'"]) {
            return None;
        }
        if reader.eat(b"]=>") || reader.eat(b";s:") {
            reader.skip(|b| b.is_ascii_whitespace());
            reader.eat(b"string(");
            reader.skip(|b| b.is_ascii_digit() || matches!(b, b')' | b':' | b' '));
            return reader.string();
        }
        let rest = reader.rest();
        let ends = |b: &u8| matches!(b, b'}' | b'<' | b'>');
        let record = rest.get(..rest.iter().position(ends).unwrap_or(rest.len()))?;
        let mut names = record.split(|b| !b.is_ascii_alphanumeric());
        let name = names.find(|word| one_of(word, "value default new val"))?;
        reader.at += offset(record, name) + name.len();
        reader.eat_one(&[b"\"", b"'"]);
        reader.blanks();
        reader.eat_one(&[b":", b"="]).then(|| reader.blanks())?;
        reader.string()
    }

    /// Elements that name what they hold: `<property name="db.password">x</property>`, `<property value="x" name="db.password"/>`,
    /// `<key>password</key><string>x</string>`; `<password><![CDATA[x]]></password>`.
    fn element(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        let content = |reader: &mut Reader<'t>| {
            let len = memchr::memchr2(b'<', b'\n', reader.rest())?;
            Some(reader.at..reader.at + len)
        };
        if reader.eat(b"><![CDATA[") {
            let len = memmem::find(reader.rest(), b"]]>")?;
            return Some(reader.at..reader.at + len);
        }
        if reader.eat(b"</") {
            reader.skip(|b| b.is_ascii_alphanumeric() || b == b':');
            reader.eat(b">");
            reader.skip(|b| b.is_ascii_whitespace());
            reader.eat(b"<").then_some(())?;
            reader.skip(|b| b.is_ascii_alphanumeric() || b == b':');
            return reader.eat(b">").then(|| content(&mut reader))?;
        }
        reader.eat_one(&[b"\"", b"'"]).then_some(())?;
        let tag_start =
            memchr::memrchr(b'<', self.text.get(self.name.start.saturating_sub(WINDOW)..self.name.start)?)?;
        let tag = self.text.get(self.name.start.saturating_sub(WINDOW) + tag_start..self.name.start)?;
        if tag.contains(&b'>') {
            return None;
        }
        // The value stands before the name.
        if let Some(value) = memmem::find(tag, b"value=") {
            let at = self.name.start - tag.len() + value + 6;
            return Reader { text: self.text, at, end: self.name.start }.string();
        }
        let rest = reader.rest();
        let close = memchr::memchr(b'>', rest)?;
        let attributes = rest.get(..close)?;
        if let Some(value) = memmem::find(attributes, b"value=") {
            reader.at += value + 6;
            return reader.string();
        }
        (!attributes.ends_with(b"/")).then_some(())?;
        reader.at += close + 1;
        reader.skip(|b| b.is_ascii_whitespace());
        reader.eat(b"<value>");
        content(&mut reader)
    }

    /// Cells and marked-up labels: `| password | x |`, `**Password:** x`, `[password] => x`.
    fn cell(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        let is_mark = |b: u8| matches!(b, b'*' | b'`' | b'_' | b' ' | b'\t');
        reader.skip(is_mark);
        let sign = reader.eat_one(&[b"] => ", b"|", b": ", b":*", b":`", b"-> ", b"> "]);
        reader.skip(is_mark);
        reader.eat_one(&[b"\"", b"'"]);
        sign.then(|| reader.word())
    }

    /// Sentences: `the password for bob is x`, `password set to x`, `[sudo] password for bob: x`, `use password x`.
    fn said(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        let line = reader.rest().split(|b| *b == b'\n').next().unwrap_or_default();
        reader.end = reader.at + line.len();
        let told = self.is_told();
        let mut moves = self.is_moved();
        for words in 0..10 {
            reader.skip(|b| matches!(b, b']' | b')' | b'"' | b'\''));
            if reader.blanks() == 0 && words > 0 && !reader.eat(b":") {
                return None;
            }
            let word = reader.word();
            let bytes = self.bytes(&word);
            let colon = self.text.get(word.end) == Some(&b':');
            if words == 0 && told && self.stands_out(&word) {
                return Some(word);
            }
            let says = one_of(bytes, "is was are be = as now") || (moves && one_of(bytes, "to"));
            if words == 0 && !says && !one_of(bytes, OPENERS) {
                return None;
            }
            moves |= one_of(bytes, "set reset changed updated rotated switched");
            reader.at = word.end + usize::from(colon);
            if says || (colon && words > 0) {
                let mut behind = reader;
                behind.skip(|b| matches!(b, b' ' | b'"' | b'\'' | b'`' | b'*' | b'[' | b'('));
                let value = behind.word();
                if self.stands_out(&value) {
                    return Some(value);
                }
            }
            if bytes.is_empty() {
                reader.skip(|b| matches!(b, b']' | b')' | b'"' | b'\'' | b'['));
                if reader.at == word.end {
                    return None;
                }
            }
        }
        None
    }

    /// A line of a configuration or table: `DB_PASSWORD<tab>x`.
    fn listed(&self) -> Option<Range<usize>> {
        let mut reader = self.after();
        let before = self.text.get(..self.name.start)?.last();
        if before.is_some_and(|b| !matches!(b, b'\n' | b'"')) || reader.blanks() == 0 {
            return None;
        }
        let value = reader.word();
        let behind = self.text.get(value.end);
        behind.is_none_or(|b| matches!(b, b'\n' | b'\r' | b'"' | b'\\')).then_some(value)
    }

    /// Whether a verb before the name says that it changes: `I set the password to x`.
    fn is_moved(&self) -> bool {
        let before = self.text.get(self.name.start.saturating_sub(32)..self.name.start).unwrap_or_default();
        let mut words = before.split(|b| !b.is_ascii_alphabetic());
        words.any(|word| one_of(word, "set reset change changed updated rotated"))
    }

    /// Whether the name is told of: `use password x`.
    fn is_told(&self) -> bool {
        let before = self.text.get(self.name.start.saturating_sub(12)..self.name.start).unwrap_or_default();
        let word = before.trim_ascii_end().rsplit(|b| !b.is_ascii_alphabetic()).next().unwrap_or_default();
        one_of(word, "use using with enter type try")
    }
}

/// What a sentence about a password goes on with.
const OPENERS: &str = "for of on at in to set reset changed updated rotated generated created here you i";

/// Where a part of a text begins in it.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    memmem::find(whole, part).unwrap_or(0)
}
