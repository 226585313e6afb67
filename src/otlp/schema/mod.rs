//! The one schema table: what each field of each OTLP message is, as far as redaction and JSON need it.
//!
//! The walk, the JSON transcoder and the coverage tests all read this table; none of them names a field. A test
//! compares it with the descriptors compiled from `proto/`, so a new OTLP field fails the build until it is
//! classified here.

pub mod common;
pub mod logs;
pub mod metrics;
pub mod profiles;
pub mod traces;

/// A protobuf message type.
#[derive(Debug)]
pub struct Message {
    /// Full protobuf name, `opentelemetry.proto.common.v1.KeyValue`.
    pub name: &'static str,
    /// What the walk has to know beyond the fields.
    pub role: Role,
    /// The fields in ascending order of number.
    pub fields: &'static [Field],
}

/// Messages that the walk treats specially.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing special.
    Plain,
    /// A span, log record, data point or profile: counted as one item.
    Item,
    /// All that one resource sent.
    OfResource,
    /// A key with a value: the key gives the value its context.
    KeyValue,
    /// A value of any type.
    AnyValue,
    /// A profile attribute: its key is an index into the string table.
    KeyValueAndUnit,
    /// Holds the string table of a profiles request.
    ProfilesDictionary,
}

/// One field of a message.
#[derive(Debug)]
pub struct Field {
    /// Field number.
    pub number: u32,
    /// Name in the `.proto` file.
    pub name: &'static str,
    /// Name in JSON (lowerCamelCase).
    pub json_name: &'static str,
    /// Type and meaning.
    pub kind: Kind,
    /// How one value is encoded; follows from the kind.
    pub wire_type: WireType,
    /// `repeated` in the `.proto` file.
    pub repeated: bool,
    /// Member of the message's (only) oneof: the last one set wins.
    pub one_of: bool,
}

/// Type and meaning of a field.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A sub-message.
    Message(&'static Message),
    /// `string`: scanned.
    Text,
    /// `bytes` that may hold text: scanned.
    Bytes,
    /// `bytes` that are an identifier of this many bytes (or empty): never text. Of any other length: scanned.
    Id(usize),
    /// `bytes` in a foreign format (a profile's `original_payload`): dropped unless it can be scanned.
    Payload,
    /// `int32` index into the profiles string table.
    StringIndex,
    /// `bool`.
    Bool,
    /// An enum, an integer in JSON.
    Enum,
    /// `int32`.
    Int32,
    /// `sint32`.
    Sint32,
    /// `uint32`.
    Uint32,
    /// `fixed32`.
    Fixed32,
    /// `int64`.
    Int64,
    /// `uint64`.
    Uint64,
    /// `fixed64`.
    Fixed64,
    /// `sfixed64`.
    Sfixed64,
    /// `double`.
    Double,
}

/// How a value is encoded on the wire. Groups are left out: OTLP has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireType {
    /// Wire type 0.
    Varint,
    /// Wire type 1.
    Fixed64,
    /// Wire type 2.
    Delimited,
    /// Wire type 5.
    Fixed32,
}

impl Kind {
    /// How one value of this kind is encoded.
    pub const fn wire_type(self) -> WireType {
        match self {
            Self::Message(_) | Self::Text | Self::Bytes | Self::Id(_) | Self::Payload => WireType::Delimited,
            Self::StringIndex
            | Self::Bool
            | Self::Enum
            | Self::Int32
            | Self::Sint32
            | Self::Uint32
            | Self::Int64
            | Self::Uint64 => WireType::Varint,
            Self::Fixed32 => WireType::Fixed32,
            Self::Fixed64 | Self::Sfixed64 | Self::Double => WireType::Fixed64,
        }
    }
}

impl Message {
    /// The field with this number.
    #[inline]
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        // Nearly every OTLP field sits at its number minus one; fall back to a search.
        let guess = self.fields.get((number as usize).wrapping_sub(1));
        guess
            .filter(|field| field.number == number)
            .or_else(|| self.fields.iter().find(|f| f.number == number))
    }

    /// The field with this JSON name; the `.proto` name is accepted too, as proto3 JSON requires.
    pub fn field_by_json_name(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.json_name == name || f.name == name)
    }
}

const fn field(number: u32, name: &'static str, json_name: &'static str, kind: Kind) -> Field {
    Field { number, name, json_name, kind, wire_type: kind.wire_type(), repeated: false, one_of: false }
}

const fn repeated(number: u32, name: &'static str, json_name: &'static str, kind: Kind) -> Field {
    Field { number, name, json_name, kind, wire_type: kind.wire_type(), repeated: true, one_of: false }
}

const fn one_of(number: u32, name: &'static str, json_name: &'static str, kind: Kind) -> Field {
    Field { number, name, json_name, kind, wire_type: kind.wire_type(), repeated: false, one_of: true }
}
