//! JSON, whole or cut: the strings and numbers of secret keys.
//!
//! One pass without a tree. It stops at the first byte that is no JSON: what follows is left to `text`. Children of
//! a container (`credentials`) are secret unless their names are harmless. `{"name": .., "value": ..}` is a pair too.

use std::ops::Range;

use super::{is_harmless_child, structured_secret};
use crate::redact::names::{NameClass, secret_name};

/// Deepest nesting that is followed: one bit each.
const MAX_DEPTH: u32 = 128;

/// What stands above a text that is JSON in a string of JSON.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::redact) struct Above {
    /// It is nested in a container of secrets.
    container: bool,
}

/// What a walk meets. Ranges are of the walked text.
pub(in crate::redact) enum Event {
    /// The value of a secret key, without its quotes.
    Secret {
        /// What to replace.
        value: Range<usize>,
        /// It is a number: a quote of the same text, to be put around the marker.
        quote: Option<Range<usize>>,
    },
    /// A string that may be JSON itself.
    Nested {
        /// The string, without its quotes.
        value: Range<usize>,
        /// What stands above it.
        above: Above,
    },
}

/// Whether a text can be JSON that holds keys.
pub(in crate::redact) fn may_be(text: &[u8]) -> bool {
    matches!(text.iter().find(|b| !b.is_ascii_whitespace()), Some(b'{' | b'['))
}

/// Walks the text.
pub(in crate::redact) fn walk(text: &[u8], above: Above, mut on: impl FnMut(Event)) {
    let mut walk = Walk {
        text,
        at: 0,
        depth: 0,
        objects: 0,
        key: None,
        container: above.container.then_some(0),
        entry: Entry::default(),
    };
    while walk.step(&mut on).is_some() {}
}

struct Walk<'t> {
    text: &'t [u8],
    at: usize,
    depth: u32,
    /// Bit n: the nesting of depth n is an object.
    objects: u128,
    /// The key that a value is awaited for.
    key: Option<Key>,
    /// The depth at which a container of secrets began.
    container: Option<u32>,
    entry: Entry,
}

#[derive(Clone)]
struct Key {
    name: Range<usize>,
    class: NameClass,
}

/// `{"name": "DB_PASSWORD", "value": "x"}`: what is known of the innermost object.
#[derive(Default)]
struct Entry {
    secret: bool,
    value: Option<Range<usize>>,
}

impl Walk<'_> {
    /// One token. `None`: the end, or no JSON.
    fn step(&mut self, on: &mut impl FnMut(Event)) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let byte = *self.text.get(self.at)?;
        match byte {
            b'{' | b'[' => self.open(byte == b'{')?,
            b'}' | b']' => self.close()?,
            b',' => {
                self.key = None;
                self.at += 1;
            }
            b':' => self.at += 1,
            b'"' => self.string(on)?,
            b'-' | b'0'..=b'9' => self.number(on),
            b't' | b'f' | b'n' => self.word()?,
            _ => return None,
        }
        Some(())
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects & (1 << (self.depth - 1)) != 0
    }

    fn open(&mut self, object: bool) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let class = self.key.as_ref().map(|key| key.class);
        let secrets = class == Some(NameClass::Container) || (class == Some(NameClass::Secret) && !object);
        let bit = 1_u128 << self.depth;
        self.objects = if object { self.objects | bit } else { self.objects & !bit };
        self.depth += 1;
        if secrets && self.container.is_none() {
            self.container = Some(self.depth);
        }
        if object {
            self.key = None;
        }
        self.entry = Entry::default();
        self.at += 1;
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        if self.container.is_some_and(|from| self.depth < from) {
            // 0: the whole text is nested in a container.
            self.container = self.container.filter(|from| *from == 0);
        }
        self.key = None;
        self.entry = Entry::default();
        self.at += 1;
        Some(())
    }

    fn string(&mut self, on: &mut impl FnMut(Event)) -> Option<()> {
        let start = self.at + 1;
        let (end, closed) = string_end(self.text, start);
        let content = start..end;
        self.at = end + usize::from(closed);
        if self.in_object() && self.key.is_none() {
            let class = secret_name(self.text.get(content.clone())?);
            self.key = Some(Key { name: content, class });
            return closed.then_some(());
        }
        self.value(content, on);
        closed.then_some(())
    }

    fn value(&mut self, content: Range<usize>, on: &mut impl FnMut(Event)) {
        if self.is_secret() {
            if let Some(value) = structured_secret(self.text, content) {
                on(Event::Secret { value, quote: None });
            }
            return;
        }
        self.entry(&content, on);
        let bytes = self.text.get(content.clone()).unwrap_or_default();
        if super::json::may_be(bytes) || bytes.starts_with(b"\\\"") || bytes.starts_with(b"\\n") {
            on(Event::Nested { value: content, above: Above { container: self.container.is_some() } });
        }
    }

    /// Whether the awaited value is a secret by its key or by what it is nested in.
    fn is_secret(&self) -> bool {
        let name = self.key.as_ref().and_then(|key| self.text.get(key.name.clone()));
        match &self.key {
            Some(key) if key.class != NameClass::No => true,
            _ => self.container.is_some() && !name.is_some_and(is_harmless_child),
        }
    }

    fn entry(&mut self, content: &Range<usize>, on: &mut impl FnMut(Event)) {
        let Some(key) = &self.key else { return };
        let (name, value) = (self.text.get(key.name.clone()), self.text.get(content.clone()));
        match name.unwrap_or_default() {
            b"name" | b"Name" | b"key" | b"Key" => {
                self.entry.secret = value.is_some_and(|value| secret_name(value) != NameClass::No);
            }
            b"value" | b"Value" => self.entry.value = Some(content.clone()),
            _ => return,
        }
        if self.entry.secret
            && let Some(secret) =
                self.entry.value.take().and_then(|value| structured_secret(self.text, value))
        {
            on(Event::Secret { value: secret, quote: None });
        }
    }

    fn number(&mut self, on: &mut impl FnMut(Event)) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len =
            rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        if self.is_secret()
            && let Some(key) = &self.key
        {
            let quote = key.name.end..key.name.end + 1;
            on(Event::Secret { value: self.at..self.at + len, quote: Some(quote) });
        }
        self.at += len.max(1);
    }

    /// `true`, `false`, `null`.
    fn word(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word))?;
        self.at += word.len();
        Some(())
    }
}

/// Where the content of a string ends, and whether a quote closes it.
fn string_end(text: &[u8], start: usize) -> (usize, bool) {
    let mut at = start;
    while let Some(offset) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += offset;
        if text.get(at) == Some(&b'"') {
            return (at, true);
        }
        at += 2;
    }
    (text.len(), false)
}
