//! Which service sent something: `service.name` of the resource, read before anything that the resource sent.
//!
//! What a service is spared depends on it, so in doubt there is no name: several values, a value that is no text, an
//! attribute with several keys. The resource may stand behind what it sent, and in several pieces.

use super::{Scrub, Walk};
use crate::otlp::schema::common::RESOURCE;
use crate::otlp::schema::{Kind, Message, Role};
use crate::otlp::wire::{Malformed, Reader, Record, Value};

/// The attribute that names a service.
const SERVICE_NAME: &[u8] = b"service.name";

/// What is known of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found<'a> {
    Nothing,
    Name(&'a [u8]),
    Doubt,
}

impl<'a> Found<'a> {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, found) | (found, Self::Nothing) => found,
            (one, other) if one == other => one,
            _ => Self::Doubt,
        }
    }
}

impl<'a, S: Scrub> Walk<'a, S> {
    /// What scrubs all that a resource sent: `group` is at its beginning.
    pub(super) fn scrubber_for(
        &self,
        schema: &'static Message,
        mut group: Reader<'a>,
    ) -> Result<&'a S, Malformed> {
        if self.services.is_empty() {
            return Ok(self.scrubber);
        }
        let mut found = Found::Nothing;
        while let Some(record) = group.next_field()? {
            match sub_message(schema, record) {
                Some(inner) if std::ptr::eq(inner, &raw const RESOURCE) => {
                    found = found.and(self.resource(inner, group.enter(record)?)?);
                }
                _ => group.skip(record)?,
            }
        }
        let Found::Name(name) = found else { return Ok(self.scrubber) };
        let known = self.services.iter().find(|service| service.name.as_bytes() == name);
        Ok(known.map_or(self.scrubber, |service| &service.scrubber))
    }

    fn resource(&self, schema: &'static Message, mut resource: Reader<'a>) -> Result<Found<'a>, Malformed> {
        let mut found = Found::Nothing;
        while let Some(record) = resource.next_field()? {
            match sub_message(schema, record) {
                Some(inner) if inner.role == Role::KeyValue => {
                    found = found.and(self.attribute(inner, resource.enter(record)?)?);
                }
                _ => resource.skip(record)?,
            }
        }
        Ok(found)
    }

    /// The name that an attribute gives, if it is called so.
    fn attribute(&self, schema: &'static Message, mut attribute: Reader<'a>) -> Result<Found<'a>, Malformed> {
        let (mut keys, mut is_name) = (0_usize, false);
        let (mut values, mut name) = (0_usize, None);
        while let Some(record) = attribute.next_field()? {
            let known = schema.field(record.number).filter(|field| record.is_a(field));
            match (known.map(|field| field.kind), record.value) {
                (Some(Kind::Message(value)), Value::Delimited(_)) => {
                    values += 1;
                    name = self.only_text(value, attribute.enter(record)?)?;
                }
                (Some(kind), value) => {
                    keys += 1;
                    is_name |= self.text_of(kind, value) == Some(SERVICE_NAME);
                }
                (None, _) => attribute.skip(record)?,
            }
        }
        Ok(match (is_name, name) {
            (false, _) => Found::Nothing,
            (true, Some(name)) if keys == 1 && values == 1 => Found::Name(name),
            _ => Found::Doubt,
        })
    }

    /// The text of a value that is one, and nothing else besides.
    fn only_text(
        &self,
        schema: &'static Message,
        mut value: Reader<'a>,
    ) -> Result<Option<&'a [u8]>, Malformed> {
        let mut fields = 0_usize;
        let mut text = None;
        while let Some(record) = value.next_field()? {
            fields += 1;
            let known = schema.field(record.number).filter(|field| record.is_a(field));
            text = known.and_then(|field| self.text_of(field.kind, record.value));
            value.skip(record)?;
        }
        Ok(text.filter(|_| fields == 1))
    }

    fn text_of(&self, kind: Kind, value: Value<'a>) -> Option<&'a [u8]> {
        match (kind, value) {
            (Kind::Text, Value::Delimited(text)) => Some(text),
            (Kind::StringIndex, Value::Varint(index)) => self.strings.get(index),
            _ => None,
        }
    }
}

/// What a record is a message of.
fn sub_message(schema: &'static Message, record: Record<'_>) -> Option<&'static Message> {
    match schema.field(record.number).filter(|field| record.is_a(field))?.kind {
        Kind::Message(inner) => Some(inner),
        _ => None,
    }
}
