//! JSON -> protobuf, in one pass: `serde_json` reads, each value is written as it is met.
//!
//! Lenient where proto3 JSON is (both spellings of a name, numbers in strings, `null`, unknown fields), and a little
//! beyond (`null` inside an array is a default element; a name given twice: the later wins or, for lists and messages,
//! adds). Refuses whatever could be read in two ways. Only names that the schema knows reach the output.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::nested::Nested;
use super::number::{Number, Scalar};
use super::shape::{has_presence, put_tag};
use super::{JsonError, TOO_LONG};
use crate::otlp::schema::WireType;
use crate::otlp::schema::{Field, Kind, Message};
use crate::otlp::wire::{MAX_DEPTH, put_varint};

/// JSON nesting of an unknown field: as much as the deepest message takes.
const MAX_IGNORED_NESTING: u32 = 2 * MAX_DEPTH as u32;

/// Transcodes one JSON body into the protobuf encoding of `message`. The result can be up to four times as long as the
/// JSON (`0,` in a list of counts takes eight bytes), so a limit must be checked on it too.
///
/// # Errors
///
/// [`JsonError`] if the body is not exactly one JSON object in UTF-8, a known field holds what it can't hold, or
/// messages are nested deeper than [`MAX_DEPTH`].
pub fn to_protobuf(message: &'static Message, json: &[u8]) -> Result<Vec<u8>, JsonError> {
    to_protobuf_within(message, json, usize::MAX)
}

/// The same, but stops where the protobuf would take more than `limit` bytes.
///
/// # Errors
///
/// As [`to_protobuf`], and one that [`JsonError::is_too_long`].
pub fn to_protobuf_within(
    message: &'static Message,
    json: &[u8],
    limit: usize,
) -> Result<Vec<u8>, JsonError> {
    let text = std::str::from_utf8(json)
        .map_err(|error| JsonError { what: "invalid UTF-8", offset: Some(error.valid_up_to()) })?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Its limit of 128 is under what 100 messages need; `depth` bounds the recursion instead.
    deserializer.disable_recursion_limit();
    let mut to = Transcoder { out: Nested::with_capacity(json.len() / 2), wanted: "", limit };
    Object { to: &mut to, message, depth: 0 }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|error| refusal(&error, to.wanted, text))?;
    let protobuf = to.out.finish();
    // The lengths of long messages come last.
    if protobuf.len() > limit { Err(JsonError::new(TOO_LONG)) } else { Ok(protobuf) }
}

/// Keeps of serde_json's error only its class and place: its text may quote the body.
fn refusal(error: &serde_json::Error, wanted: &'static str, text: &str) -> JsonError {
    let what = match error.classify() {
        serde_json::error::Category::Data => wanted,
        serde_json::error::Category::Eof => "unexpected end of JSON",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "invalid JSON",
    };
    let lines_before = error.line().checked_sub(1);
    let line_start = lines_before.map(|n| text.split_inclusive('\n').take(n).map(str::len).sum::<usize>());
    JsonError { what, offset: line_start.map(|start| (start + error.column()).min(text.len())) }
}

struct Transcoder {
    out: Nested,
    /// What the value being read has to be: the reason if it isn't.
    wanted: &'static str,
    limit: usize,
}

impl Transcoder {
    fn refuse<E: Error>(&mut self, why: &'static str) -> E {
        self.wanted = why;
        E::custom("")
    }

    fn scalar(&mut self, scalar: Scalar) {
        let bytes = self.out.bytes();
        match scalar {
            Scalar::Varint(n) => put_varint(bytes, n),
            Scalar::Fixed32(n) => bytes.extend_from_slice(&n.to_le_bytes()),
            Scalar::Fixed64(n) => bytes.extend_from_slice(&n.to_le_bytes()),
        }
    }
}

/// A JSON object that is a message; writes its fields.
struct Object<'t> {
    to: &'t mut Transcoder,
    message: &'static Message,
    /// Messages around it.
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.to.wanted = "expected an object";
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { to, message, depth } = self;
        let mut seen = 0_u64;
        while let Some(field) = map.next_key_seed(Name(message))? {
            let Some(field) = field else {
                map.next_value_seed(Ignored(to))?;
                continue;
            };
            if field.repeated {
                map.next_value_seed(List { to, field, depth })?;
                continue;
            }
            let bit = 1_u64.checked_shl(field.number).unwrap_or(0);
            let place = if seen & bit == 0 { Place::First } else { Place::Again };
            seen |= bit;
            map.next_value_seed(Value { to, field, depth, place })?;
        }
        Ok(())
    }
}

/// An object key: the schema's field, if it knows one of this name.
struct Name(&'static Message);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static Field>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static Field>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.field_by_json_name(name))
    }
}

/// The value of an unknown field: any JSON, of bounded nesting. serde_json skips it without recursion.
struct Ignored<'t>(&'t mut Transcoder);

impl<'de> DeserializeSeed<'de> for Ignored<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
        for byte in raw.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => depth += 1,
                b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_IGNORED_NESTING {
                return Err(self.0.refuse("nested too deep"));
            }
        }
        Ok(())
    }
}

/// The value of a repeated field: an array, or `null` for none.
struct List<'t> {
    to: &'t mut Transcoder,
    field: &'static Field,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.to.wanted = "expected an array";
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { to, field, depth } = self;
        // Numbers are packed, as proto3 does by default; what is length-delimited can't be.
        let packed = field.wire_type != WireType::Delimited;
        let place = if packed { Place::Packed } else { Place::Element };
        let open = packed.then(|| to.out.open(field.number));
        while elements.next_element_seed(Value { to, field, depth, place })?.is_some() {
            // Only what is repeated can grow: every other value takes about as many bytes as in JSON, or fewer.
            if to.out.bytes().len() > to.limit {
                return Err(to.refuse(TOO_LONG));
            }
        }
        if let Some(open) = open {
            to.out.close_unless_empty(open);
        }
        Ok(())
    }
}

/// Where a single value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In its field, for the first time in this object.
    First,
    /// In a field that this object has had before: must be written even if it is the default, to win.
    Again,
    /// In the array of a repeated field, with a tag of its own.
    Element,
    /// In the array of a packed field, without a tag.
    Packed,
}

/// A single value of a known field.
struct Value<'t> {
    to: &'t mut Transcoder,
    field: &'static Field,
    depth: u8,
    place: Place,
}

impl Value<'_> {
    /// Whether a default value is left out, as proto3 does for fields without presence.
    fn omits_default(&self) -> bool {
        self.place == Place::First && !has_presence(self.field)
    }

    fn scalar(self, scalar: Scalar) {
        if self.omits_default() && scalar.is_zero() {
            return;
        }
        if self.place != Place::Packed {
            put_tag(self.to.out.bytes(), self.field.number, self.field.wire_type);
        }
        self.to.scalar(scalar);
    }

    fn number<E: Error>(self, number: Number) -> Result<(), E> {
        match number.to_wire(self.field.kind) {
            Some(scalar) => {
                self.scalar(scalar);
                Ok(())
            }
            None => Err(self.to.refuse(wanted(self.field.kind))),
        }
    }

    /// Writes a length-delimited value by `write`, which says whether it could.
    fn bytes<E: Error>(self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> Result<(), E> {
        let omits_default = self.omits_default();
        let open = self.to.out.open(self.field.number);
        if !write(self.to.out.bytes()) {
            return Err(self.to.refuse(wanted(self.field.kind)));
        }
        if omits_default {
            self.to.out.close_unless_empty(open);
        } else {
            self.to.out.close(open);
        }
        Ok(())
    }
}

/// What a value of this kind has to look like, as a reason.
fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Message(_) => "expected an object",
        Kind::Text => "expected a string",
        Kind::Bytes | Kind::Payload => "expected a base64 string",
        Kind::Id(_) => "expected a hex string",
        Kind::Bool => "expected true or false",
        Kind::Enum => "expected the number of an enum value",
        Kind::StringIndex | Kind::Int32 | Kind::Sint32 => "expected a 32-bit integer",
        Kind::Uint32 | Kind::Fixed32 => "expected an unsigned 32-bit integer",
        Kind::Int64 | Kind::Sfixed64 => "expected a 64-bit integer",
        Kind::Uint64 | Kind::Fixed64 => "expected an unsigned 64-bit integer",
        Kind::Double => "expected a number",
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.to.wanted = wanted(self.field.kind);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(wanted(self.field.kind))
    }

    /// `null`: unset, or in an array the default.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.place {
            Place::First | Place::Again => Ok(()),
            Place::Element => self.bytes(|_| true),
            Place::Packed if matches!(self.field.kind, Kind::Bool) => self.visit_bool(false),
            Place::Packed => self.number(Number::Unsigned(0)),
        }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match self.field.kind {
            Kind::Bool => {
                self.scalar(Scalar::Varint(u64::from(value)));
                Ok(())
            }
            kind => Err(self.to.refuse(wanted(kind))),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.number(Number::Unsigned(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.number(Number::Signed(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.number(Number::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.field.kind {
            Kind::Text => self.bytes(|out| {
                out.extend_from_slice(text.as_bytes());
                true
            }),
            Kind::Bytes | Kind::Payload => self.bytes(|out| base64_decode(text, out)),
            Kind::Id(_) => self.bytes(|out| hex_decode(text, out)),
            Kind::Double if text == "NaN" => self.number(Number::Float(f64::NAN)),
            Kind::Double if text == "Infinity" => self.number(Number::Float(f64::INFINITY)),
            Kind::Double if text == "-Infinity" => self.number(Number::Float(f64::NEG_INFINITY)),
            kind => match Number::parse(text) {
                Some(number) => self.number(number),
                None => Err(self.to.refuse(wanted(kind))),
            },
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Kind::Message(message) = self.field.kind else {
            return Err(self.to.refuse(wanted(self.field.kind)));
        };
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            return Err(self.to.refuse("nested too deep"));
        }
        let open = self.to.out.open(self.field.number);
        Object { to: self.to, message, depth }.visit_map(map)?;
        self.to.out.close(open);
        Ok(())
    }
}

/// Appends hex digits in either case as bytes.
fn hex_decode(text: &str, out: &mut Vec<u8>) -> bool {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    for &[high, low] in pairs {
        let (Some(high), Some(low)) = (digit(high), digit(low)) else { return false };
        out.push(high << 4 | low);
    }
    rest.is_empty()
}

/// Appends what base64 of either alphabet holds, padded or not.
fn base64_decode(text: &str, out: &mut Vec<u8>) -> bool {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
    const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);
    let engine = if text.contains(['-', '_']) { URL } else { PLAIN };
    engine.decode_vec(text, out).is_ok()
}
