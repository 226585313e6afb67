//! Protobuf -> JSON: one object on one line, fields in the order in which they first occur.
//!
//! Any valid encoding reads as decoders read it: of a scalar given twice the last counts, pieces of a message are merged,
//! of a oneof the last member set counts, numbers may be packed or not. What JSON can't show is left out (unknown fields)
//! or replaced (text that isn't UTF-8 gets U+FFFD).
//!
//! Memory: the output, and a little for each level of nesting; no tree is built. A message is read twice: once to find
//! where its fields are, once to write them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::JsonError;
use super::shape::has_presence;
use crate::otlp::schema::WireType;
use crate::otlp::schema::{Field, Kind, Message};
use crate::otlp::wire::{Malformed, Reader, Record, Value};

/// Pieces of one singular message that are merged; no encoder writes so many. Bounds the memory of a hostile body.
const MAX_PIECES: usize = 1000;

/// Transcodes one encoded `message` into JSON.
///
/// # Errors
///
/// [`JsonError`] if the bytes are not a valid encoding of any message, or nested deeper than the wire reader allows.
pub fn from_protobuf(message: &'static Message, body: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut to = Transcoder { body, out: Vec::with_capacity(body.len() + body.len() / 2) };
    to.message(message, &[Reader::new(body)])?;
    Ok(to.out)
}

struct Transcoder<'a> {
    /// What the offsets of all readers refer to.
    body: &'a [u8],
    out: Vec<u8>,
}

/// Where the reading of a message stands, which may lie in several pieces.
#[derive(Clone, Copy)]
struct Cursor<'p, 'a> {
    piece: Reader<'a>,
    rest: &'p [Reader<'a>],
}

/// A known field that a message holds.
struct Present<'p, 'a> {
    field: &'static Field,
    count: usize,
    /// Just before its first occurrence.
    first: Cursor<'p, 'a>,
    /// Its last occurrence, and the reader that found it.
    last: (Record<'a>, Reader<'a>),
}

impl<'p, 'a> Cursor<'p, 'a> {
    fn new(pieces: &'p [Reader<'a>]) -> Self {
        Self { piece: Reader::new(&[]), rest: pieces }
    }

    fn next(&mut self) -> Result<Option<Record<'a>>, Malformed> {
        loop {
            if let Some(record) = self.piece.next_field()? {
                self.piece.skip(record)?;
                return Ok(Some(record));
            }
            let Some((piece, rest)) = self.rest.split_first() else { return Ok(None) };
            *self = Self { piece: *piece, rest };
        }
    }

    /// The next occurrence of this field.
    fn next_of(&mut self, field: &'static Field) -> Result<Option<Record<'a>>, Malformed> {
        while let Some(record) = self.next()? {
            if record.number == field.number && record.is_a(field) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

/// The known fields of a message, in the order in which they first occur.
fn present<'p, 'a>(
    message: &'static Message,
    pieces: &'p [Reader<'a>],
) -> Result<Vec<Present<'p, 'a>>, Malformed> {
    let mut fields: Vec<Present<'p, 'a>> = Vec::new();
    let mut cursor = Cursor::new(pieces);
    loop {
        let before = cursor;
        let Some(record) = cursor.next()? else { break };
        let Some(field) = message.field(record.number) else { continue };
        if !record.is_a(field) {
            continue; // decoders take it for an unknown field
        }
        let last = (record, cursor.piece);
        if field.one_of {
            // Setting a member of a oneof unsets the others.
            fields.retain(|other| !other.field.one_of || other.field.number == field.number);
        }
        match fields.iter_mut().rfind(|other| other.field.number == field.number) {
            Some(known) => (known.count, known.last) = (known.count + 1, last),
            None => fields.push(Present { field, count: 1, first: before, last }),
        }
    }
    Ok(fields)
}

impl<'a> Transcoder<'a> {
    fn message(&mut self, message: &'static Message, pieces: &[Reader<'a>]) -> Result<(), JsonError> {
        self.out.push(b'{');
        let empty = self.out.len();
        for present in present(message, pieces)? {
            let start = self.out.len();
            self.separate(empty);
            self.out.push(b'"');
            self.out.extend_from_slice(present.field.json_name.as_bytes());
            self.out.extend_from_slice(b"\":");
            if !self.field(&present)? {
                self.out.truncate(start);
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes a field's value; false if it is a default that is left out.
    fn field(&mut self, present: &Present<'_, 'a>) -> Result<bool, JsonError> {
        let (field, (last, reader)) = (present.field, &present.last);
        if field.repeated {
            return self.list(present);
        }
        let Kind::Message(message) = field.kind else {
            let shown = has_presence(field) || !self.is_default(field.kind, last)?;
            if shown {
                self.value(field.kind, last)?;
            }
            return Ok(shown);
        };
        if present.count == 1 {
            self.message(message, &[reader.enter(*last)?])?;
            return Ok(true);
        }
        if present.count > MAX_PIECES {
            return Err(JsonError::new("a message in too many pieces"));
        }
        let mut pieces = Vec::with_capacity(present.count);
        let mut cursor = present.first;
        for _ in 0..present.count {
            let Some(record) = cursor.next_of(field)? else { break };
            pieces.push(cursor.piece.enter(record)?);
        }
        self.message(message, &pieces)?;
        Ok(true)
    }

    /// Writes an array; false if it is empty.
    fn list(&mut self, present: &Present<'_, 'a>) -> Result<bool, JsonError> {
        let field = present.field;
        let mut cursor = present.first;
        self.out.push(b'[');
        let empty = self.out.len();
        for _ in 0..present.count {
            let Some(record) = cursor.next_of(field)? else { break };
            match (field.kind, record.value) {
                (kind, Value::Delimited(packed)) if kind.wire_type() != WireType::Delimited => {
                    self.packed(kind, packed, empty)?;
                }
                (Kind::Message(message), _) => {
                    self.separate(empty);
                    self.message(message, &[cursor.piece.enter(record)?])?;
                }
                (kind, _) => {
                    self.separate(empty);
                    self.value(kind, &record)?;
                }
            }
        }
        let shown = self.out.len() != empty;
        self.out.push(b']');
        Ok(shown)
    }

    /// A comma, unless the object or array that began here is still empty.
    fn separate(&mut self, empty: usize) {
        if self.out.len() != empty {
            self.out.push(b',');
        }
    }

    /// Packed numbers, as elements of the array that began at `empty`.
    fn packed(&mut self, kind: Kind, packed: &[u8], empty: usize) -> Result<(), JsonError> {
        const TORN: JsonError = JsonError::new("packed field of a wrong length");
        let mut put = |number: u64| {
            self.separate(empty);
            put_number(kind, number, &mut self.out)
        };
        match kind.wire_type() {
            WireType::Fixed32 => {
                let (numbers, torn) = packed.as_chunks();
                numbers.iter().try_for_each(|n| put(u64::from(u32::from_le_bytes(*n))))?;
                if torn.is_empty() { Ok(()) } else { Err(TORN) }
            }
            WireType::Fixed64 => {
                let (numbers, torn) = packed.as_chunks();
                numbers.iter().try_for_each(|n| put(u64::from_le_bytes(*n)))?;
                if torn.is_empty() { Ok(()) } else { Err(TORN) }
            }
            WireType::Varint => {
                let mut numbers = Reader::new(packed);
                while let Some(number) = numbers.next_varint()? {
                    put(number)?;
                }
                Ok(())
            }
            WireType::Delimited => Ok(()), // never packed
        }
    }

    /// One value that is no message.
    fn value(&mut self, kind: Kind, record: &Record<'a>) -> Result<(), JsonError> {
        match (kind, record.value) {
            (Kind::Id(_), Value::Delimited(id)) => {
                self.out.push(b'"');
                self.out.extend(id.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit));
                self.out.push(b'"');
                Ok(())
            }
            (Kind::Bytes | Kind::Payload, Value::Delimited(bytes)) => {
                self.out.push(b'"');
                self.out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
                self.out.push(b'"');
                Ok(())
            }
            (_, Value::Delimited(text)) => put_json(&String::from_utf8_lossy(text), &mut self.out),
            (_, _) => put_number(kind, self.number(record)?, &mut self.out),
        }
    }

    /// The number of a record that is one.
    fn number(&self, record: &Record<'a>) -> Result<u64, JsonError> {
        if let Value::Varint(number) = record.value {
            return Ok(number);
        }
        let fixed = self.body.get(record.after_tag..record.end).ok_or(JsonError::new("truncated"))?;
        Ok(fixed.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn is_default(&self, kind: Kind, record: &Record<'a>) -> Result<bool, JsonError> {
        Ok(match record.value {
            Value::Delimited(bytes) => bytes.is_empty(),
            _ if is_32_bit(kind) => self.number(record)? as u32 == 0,
            _ => self.number(record)? == 0,
        })
    }
}

/// Whether decoders keep only the low 32 bits of the number.
fn is_32_bit(kind: Kind) -> bool {
    matches!(kind, Kind::Enum | Kind::StringIndex | Kind::Int32 | Kind::Sint32 | Kind::Uint32 | Kind::Fixed32)
}

fn hex_digit(half: u8) -> u8 {
    if half < 10 { b'0' + half } else { b'a' + (half - 10) }
}

/// Writes a number as OTLP/JSON has it: 64-bit integers in quotes, and what JSON has no number for by name.
fn put_number(kind: Kind, wire: u64, out: &mut Vec<u8>) -> Result<(), JsonError> {
    let low = wire as u32;
    match kind {
        Kind::Bool => put_json(&(wire != 0), out),
        Kind::Enum | Kind::Int32 | Kind::StringIndex => put_json(&low.cast_signed(), out),
        Kind::Sint32 => put_json(&((low >> 1).cast_signed() ^ -(low & 1).cast_signed()), out),
        Kind::Uint32 | Kind::Fixed32 => put_json(&low, out),
        Kind::Int64 | Kind::Sfixed64 => put_json(&format_args!("{}", wire.cast_signed()), out),
        Kind::Uint64 | Kind::Fixed64 => put_json(&format_args!("{wire}"), out),
        Kind::Double => match f64::from_bits(wire) {
            number if number.is_nan() => put_json("NaN", out),
            f64::INFINITY => put_json("Infinity", out),
            f64::NEG_INFINITY => put_json("-Infinity", out),
            number => put_json(&number, out),
        },
        // Never a number on the wire.
        Kind::Message(_) | Kind::Text | Kind::Bytes | Kind::Id(_) | Kind::Payload => put_json("", out),
    }
}

fn put_json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), JsonError> {
    serde_json::to_writer(out, value).map_err(|_| JsonError::new("a value that JSON can't show"))
}
