//! What a `KeyValue` is called, whatever the order of its fields and however often they occur.

use super::{Outer, Scrub, Walk};
use crate::otlp::schema::{Kind, Message, Role};
use crate::otlp::wire::{Malformed, Reader, Value};
use crate::redact::policy::{ContentAction, stronger};
use crate::redact::text::KeyPath;

/// What a `KeyValue` is called.
pub(super) struct Name<'a> {
    pub(super) key: &'a [u8],
    /// What the policy has in mind for it, or for another one of its names: the strongest.
    pub(super) content: Option<ContentAction>,
}

impl<'a, S: Scrub> Walk<'a, S> {
    /// The name of the `KeyValue` or `KeyValueAndUnit` that `reader` is at the beginning of.
    ///
    /// All its keys are read before any of its values. If there are several, a secret-named one counts, else the
    /// last one; as content it counts if any of them is listed, with the strongest action.
    pub(super) fn name(
        &self,
        schema: &'static Message,
        mut reader: Reader<'a>,
        outer: Outer<'_>,
    ) -> Result<Name<'a>, Malformed> {
        let mut key: Option<&'a [u8]> = None;
        let mut content = None;
        let mut take = |candidate: &'a [u8]| {
            if self.by_key {
                content = stronger(content, self.policy.content(candidate));
            }
            if !key.is_some_and(|key| self.is_secret_key(&path(key, outer))) {
                key = Some(candidate);
            }
        };
        let mut has_index = false;
        while let Some(record) = reader.next_field()? {
            let kind = schema.field(record.number).map(|field| field.kind);
            match (kind, record.value) {
                (Some(Kind::Text), Value::Delimited(name)) => take(name),
                (Some(Kind::StringIndex), Value::Varint(index)) if is_key(schema, record.number) => {
                    has_index = true;
                    if let Some(name) = self.strings.get(index).filter(|name| !name.is_empty()) {
                        take(name);
                    }
                }
                _ => reader.skip(record)?,
            }
        }
        // proto3 leaves out a zero, and in a profile's attribute zero is an index like any other.
        if schema.role == Role::KeyValueAndUnit
            && !has_index
            && let Some(name) = self.strings.get(0)
        {
            take(name);
        }
        Ok(Name { key: key.unwrap_or_default(), content })
    }
}

/// `key_strindex`, and not `unit_strindex`.
fn is_key(schema: &'static Message, number: u32) -> bool {
    schema.field(number).is_some_and(|field| field.name == "key_strindex")
}

fn path<'p>(key: &'p [u8], outer: Outer<'p>) -> KeyPath<'p> {
    KeyPath { key, parent: outer.map(|outer| &outer.keys) }
}
