//! Profiles keep their strings in one table, and attributes point into it: so the whole table is read first, then
//! every attribute whose value is an index says what its entry is, and only then does the walk scrub the entries.
//!
//! A dictionary that occurs more than once is merged, which for a table means: concatenated, in wire order.

use super::context::{Frame, flatten, with_path};
use super::{Outer, Scrub, Walk};
use crate::otlp::schema::{Kind, Message, Role};
use crate::otlp::wire::{Malformed, Reader, Record, Value};
use crate::redact::policy::{ContentAction, Scope, stronger};

/// The string table of a request, empty for other signals.
#[derive(Debug, Default)]
pub(super) struct StringTable<'a> {
    entries: Vec<Entry<'a>>,
    /// The entry that the walk meets next.
    next: usize,
}

#[derive(Debug)]
struct Entry<'a> {
    text: &'a [u8],
    /// The keys, innermost first, of an attribute that is secret-named and has this value.
    secret: Option<Vec<Vec<u8>>>,
    /// What is to happen to it as the value of a content attribute: the strongest.
    content: Option<ContentAction>,
}

impl<'a> StringTable<'a> {
    /// Reads the table of every dictionary that stands directly in the request.
    pub(super) fn collect(request: &'static Message, mut reader: Reader<'a>) -> Result<Self, Malformed> {
        let mut table = Self::default();
        let dictionary = request.fields.iter().find_map(|field| match field.kind {
            Kind::Message(schema) if schema.role == Role::ProfilesDictionary => Some((field.number, schema)),
            _ => None,
        });
        let Some((number, schema)) = dictionary else { return Ok(table) };
        while let Some(record) = reader.next_field()? {
            match record.value {
                Value::Delimited(_) if record.number == number => {
                    table.append(schema, reader.enter(record)?)?
                }
                _ => reader.skip(record)?,
            }
        }
        Ok(table)
    }

    fn append(&mut self, schema: &'static Message, mut reader: Reader<'a>) -> Result<(), Malformed> {
        while let Some(record) = reader.next_field()? {
            match (schema.field(record.number).map(|field| field.kind), record.value) {
                (Some(Kind::Text), Value::Delimited(text)) => {
                    self.entries.push(Entry { text, secret: None, content: None });
                }
                _ => reader.skip(record)?,
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry that an `int32` on the wire points to.
    pub(super) fn get(&self, index: u64) -> Option<&'a [u8]> {
        self.entries.get(int32_index(index)?).map(|entry| entry.text)
    }
}

/// An `int32` field keeps the low 32 bits of its varint; a negative index points nowhere.
fn int32_index(varint: u64) -> Option<usize> {
    let low = u32::try_from(varint & u64::from(u32::MAX)).ok()?;
    usize::try_from(low.cast_signed()).ok()
}

impl<'a, S: Scrub> Walk<'a, S> {
    /// Marks the table entries that are values of secret-named or content attributes, in and below a message.
    pub(super) fn resolve_indices(
        &mut self,
        schema: &'static Message,
        mut reader: Reader<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        while let Some(record) = reader.next_field()? {
            match (schema.field(record.number).map(|field| field.kind), record.value) {
                (Some(Kind::Message(inner)), Value::Delimited(_)) => {
                    let inside = reader.enter(record)?;
                    match inner.role {
                        Role::KeyValue | Role::KeyValueAndUnit => {
                            let frame = Frame::new(self.name(inner, inside, outer)?, outer);
                            self.resolve_indices(inner, inside, Some(&frame))?;
                        }
                        _ => self.resolve_indices(inner, inside, outer)?,
                    }
                }
                (Some(Kind::StringIndex), Value::Varint(index)) if schema.role == Role::AnyValue => {
                    if let Some(frame) = outer {
                        self.mark_entry(index, frame);
                    }
                }
                _ => reader.skip(record)?,
            }
        }
        Ok(())
    }

    fn mark_entry(&mut self, index: u64, frame: &Frame<'_>) {
        let secret = self.secret_keys(Some(frame)).map(flatten);
        let Some(entry) = int32_index(index).and_then(|index| self.strings.entries.get_mut(index)) else {
            return;
        };
        entry.content = stronger(entry.content, frame.content);
        if entry.secret.is_none() {
            entry.secret = secret;
        }
    }

    /// The next entry of the string table: scrubbed as what it is used for.
    pub(super) fn table_entry(&mut self, record: Record<'a>, text: &[u8]) {
        let Some(entry) = self.strings.entries.get_mut(self.strings.next) else { return };
        self.strings.next += 1;
        let (secret, content) = (entry.secret.take(), entry.content);
        if content.is_none() && self.policy.scope == Scope::Listed {
            return;
        }
        let clean = match content {
            Some(action) if action.hides() => self.hide_text(action, text),
            action => with_path(secret.as_deref().unwrap_or_default(), None, &mut |keys| {
                let clean = self.ask(keys, text);
                match action {
                    Some(ContentAction::Truncate(limit)) => self.truncate(keys, text, clean, limit),
                    _ => clean,
                }
            }),
        };
        if let Some(clean) = clean {
            self.edits.replace(record, clean);
        }
    }
}
