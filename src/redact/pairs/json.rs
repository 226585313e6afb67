//! JSON, whole or cut: the strings and numbers of secret keys.
//!
//! One pass without a tree. It stops at the first byte that is no JSON: what follows is left to `text`. Children of
//! a container (`credentials`) are secret unless their names are harmless. `{"name": .., "value": ..}` is a pair too.

use std::ops::Range;

use super::super::wordlist::one_of;
use super::{KeyClass, is_secret_key, key_class, structured_secret};

/// Keys of the name in an object that is a pair.
const NAMES: &str = "name key variable header parameterkey";
/// Keys of its value.
const VALUES: &str = "value val parametervalue";

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
    matches!(text.iter().find(|b| !b.is_ascii_whitespace()), Some(b'{' | b'[' | b'"'))
}

/// Walks the text.
pub(in crate::redact) fn walk(text: &[u8], above: Above, mut on: impl FnMut(Event)) {
    let mut walk = Walk {
        text,
        at: 0,
        depth: 0,
        objects: 0,
        key: None,
        last_key: None,
        container: above.container.then_some(0),
        listed: false,
        entry: Entry::default(),
        entries: Vec::new(),
        labels: 0,
        done: false,
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
    /// The last key that was read: its quotes are those of this level.
    last_key: Option<Key>,
    /// The depth at which a container of secrets began.
    container: Option<u32>,
    /// It is the list of a secret (`"token": ["x"]`): what objects in it hold is not its value.
    listed: bool,
    entry: Entry,
    /// Those of the nestings around it.
    entries: Vec<Entry>,
    /// Bit n: the nesting of depth n is an array of labels in a container of secrets.
    labels: u128,
    /// A value was read: what follows is a comma or the end of the nesting.
    done: bool,
}

#[derive(Clone)]
struct Key {
    name: Range<usize>,
    class: KeyClass,
}

/// `{"name": "DB_PASSWORD", "value": "x"}`: what is known of the innermost object.
#[derive(Default)]
struct Entry {
    named: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

impl Walk<'_> {
    /// One token. `None`: the end, or no JSON.
    fn step(&mut self, on: &mut impl FnMut(Event)) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let byte = *self.text.get(self.at)?;
        if self.done && self.depth > 0 && !matches!(byte, b'}' | b']' | b',') {
            return None;
        }
        match byte {
            b'{' | b'[' => self.open(byte == b'{')?,
            b'}' | b']' => self.close()?,
            b',' => {
                self.key = None;
                self.done = false;
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

    /// Whether what stands here is nested in a container of secrets.
    fn in_container(&self) -> bool {
        self.container.is_some_and(|from| {
            // The nestings below the list, each a bit.
            let below = self.objects
                & !(u128::MAX << self.depth.min(MAX_DEPTH - 1))
                & (u128::MAX << from.min(MAX_DEPTH - 1));
            !self.listed || below == 0
        })
    }

    fn in_labels(&self) -> bool {
        self.depth > 0 && self.labels & (1 << (self.depth - 1)) != 0
    }

    /// Whether the awaited value is that of one of these keys.
    fn key_is(&self, keys: &str) -> bool {
        let name = self.key.as_ref().and_then(|key| self.text.get(key.name.clone()));
        name.is_some_and(|name| one_of(name, keys))
    }

    fn open(&mut self, object: bool) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let class = self.key.as_ref().map(|key| key.class);
        let secrets = match class {
            Some(KeyClass::Container) => true,
            Some(KeyClass::Secret) => !object,
            _ => self.entry.named.is_some() && self.key_is(VALUES),
        };
        let bit = 1_u128 << self.depth;
        let labels = !object && self.key.as_ref().is_some_and(|key| key.class == KeyClass::No);
        self.labels = if labels { self.labels | bit } else { self.labels & !bit };
        self.objects = if object { self.objects | bit } else { self.objects & !bit };
        self.depth += 1;
        if secrets && !self.in_container() {
            self.container = Some(self.depth);
            self.listed = class == Some(KeyClass::Secret);
        }
        self.key = None;
        self.entries.push(std::mem::take(&mut self.entry));
        self.done = false;
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
        self.entry = self.entries.pop().unwrap_or_default();
        self.done = true;
        self.at += 1;
        Some(())
    }

    fn string(&mut self, on: &mut impl FnMut(Event)) -> Option<()> {
        let start = self.at + 1;
        let (end, closed) = string_end(self.text, start);
        let content = start..end;
        self.at = end + usize::from(closed);
        if self.in_object() && self.key.is_none() {
            let class = key_class(self.text.get(content.clone())?, self.in_container());
            self.key = Some(Key { name: content, class });
            self.last_key.clone_from(&self.key);
            return closed.then_some(());
        }
        self.done = true;
        self.value(content, on);
        closed.then_some(())
    }

    fn value(&mut self, content: Range<usize>, on: &mut impl FnMut(Event)) {
        let (key, class) = self.above();
        if let Some(value) = structured_secret(self.text, key, class, content.clone()) {
            on(Event::Secret { value, quote: None });
            return;
        }
        self.entry(&content, on);
        let bytes = self.text.get(content.clone()).unwrap_or_default();
        if may_be(bytes) || bytes.starts_with(b"\\") {
            on(Event::Nested { value: content, above: Above { container: self.in_container() } });
        }
    }

    /// The key above the awaited value; that of an array is the key of each of its elements.
    fn above(&self) -> (&[u8], KeyClass) {
        match &self.key {
            Some(key) => (self.text.get(key.name.clone()).unwrap_or_default(), key.class),
            None if self.in_labels() => (b"", KeyClass::No),
            None if self.in_container() => (b"", KeyClass::Member),
            None => (b"", KeyClass::No),
        }
    }

    fn entry(&mut self, content: &Range<usize>, on: &mut impl FnMut(Event)) {
        if self.key_is(NAMES) {
            let value = self.text.get(content.clone());
            self.entry.named = Some(content.clone())
                .filter(|_| value.is_some_and(|value| key_class(value, false) == KeyClass::Secret));
        } else if self.key_is(VALUES) {
            self.entry.value = Some(content.clone());
        } else {
            return;
        }
        if let (Some(named), Some(value)) = (&self.entry.named, &self.entry.value) {
            let named = self.text.get(named.clone()).unwrap_or_default();
            if let Some(value) = structured_secret(self.text, named, KeyClass::Secret, value.clone()) {
                on(Event::Secret { value, quote: None });
            }
            self.entry = Entry::default();
        }
    }

    fn number(&mut self, on: &mut impl FnMut(Event)) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len =
            rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let name = self.key.as_ref().or(self.last_key.as_ref()).map(|key| key.name.clone());
        let secret = match &self.key {
            Some(key) => {
                is_secret_key(self.text.get(key.name.clone()).unwrap_or_default(), self.in_container())
            }
            None => self.in_container() && !self.in_labels(),
        };
        // A single digit of a key of its own switches or counts.
        if let Some(name) = name.filter(|_| secret && (len > 1 || self.key.is_none())) {
            on(Event::Secret { value: self.at..self.at + len, quote: Some(name.end..name.end + 1) });
        }
        self.done = true;
        self.at += len.max(1);
    }

    /// `true`, `false`, `null`.
    fn word(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word))?;
        self.done = true;
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
