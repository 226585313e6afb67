//! Which service sent something: `service.name` of the resource, read before anything that the resource sent.
//!
//! What a service is spared depends on it, so in doubt there is no name: several values, a value that is no text, an
//! attribute with several keys. The resource may stand behind what it sent, and in several pieces.

use super::{Scrub, Walk};
use crate::otlp::schema::common::RESOURCE;
use crate::otlp::schema::{Field, Kind, Message, Role};
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
        group: Reader<'a>,
    ) -> Result<&'a S, Malformed> {
        if self.services.is_empty() {
            return Ok(self.scrubber);
        }
        let name = self.fold(schema, group, &|walk, field, record, reader| match field.kind {
            Kind::Message(inner) if std::ptr::eq(inner, &raw const RESOURCE) => {
                walk.resource(inner, reader.enter(record)?)
            }
            _ => Ok(Found::Nothing),
        })?;
        let Found::Name(name) = name else { return Ok(self.scrubber) };
        let known = self.services.iter().find(|service| service.name.as_bytes() == name);
        Ok(known.map_or(self.scrubber, |service| &service.scrubber))
    }

    fn resource(&self, schema: &'static Message, resource: Reader<'a>) -> Result<Found<'a>, Malformed> {
        self.fold(schema, resource, &|walk, field, record, reader| match field.kind {
            Kind::Message(inner) if inner.role == Role::KeyValue => {
                walk.attribute(inner, reader.enter(record)?)
            }
            _ => Ok(Found::Nothing),
        })
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

    /// What all known fields of a message say together.
    fn fold(
        &self,
        schema: &'static Message,
        mut reader: Reader<'a>,
        of: &dyn Fn(&Self, &Field, Record<'a>, &Reader<'a>) -> Result<Found<'a>, Malformed>,
    ) -> Result<Found<'a>, Malformed> {
        let mut found = Found::Nothing;
        while let Some(record) = reader.next_field()? {
            match schema.field(record.number).filter(|field| record.is_a(field)) {
                Some(field) => found = found.and(of(self, field, record, &reader)?),
                None => reader.skip(record)?,
            }
        }
        Ok(found)
    }
}
