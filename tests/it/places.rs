//! Every place of an OTLP export request that can hold text, derived from the descriptors of `proto/`, with a request
//! for each that holds a given text there and nowhere else. A new OTLP field is a new place without a line here.

use std::fmt;
use std::sync::LazyLock;

use blackbar::otlp::Signal;
use blackbar::otlp::wire::{Reader, Value as Wire, put_field, put_varint};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};

/// Values inside values: a text in an array in a kvlist, and the reverse.
const MAX_VALUES: usize = 3;
/// A field number that OTLP doesn't use, and the group that holds another one.
const UNKNOWN: u32 = 1777;
const UNKNOWN_GROUP: u32 = 1778;

/// The descriptors of `proto/`.
pub(crate) fn pool() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/proto");
        let files =
            ["trace/v1/trace", "metrics/v1/metrics", "logs/v1/logs", "profiles/v1development/profiles"]
                .map(|file| format!("opentelemetry/proto/collector/{file}_service.proto"));
        let files = protox::compile(files, [root]).expect("proto/ compiles");
        DescriptorPool::from_file_descriptor_set(files).expect("proto/ is consistent")
    });
    &POOL
}

/// The descriptor of a signal's export request.
pub(crate) fn request(signal: Signal) -> MessageDescriptor {
    pool().get_message_by_name(signal.request().name).expect("the request is declared")
}

/// What kind of field a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// `string`.
    Text,
    /// `bytes`.
    Bytes,
    /// `bytes` that hold an identifier, unless their length is wrong.
    Id,
    /// A field that no schema knows. JSON can't carry it.
    Unknown,
}

/// One place: a path of fields from the export request down.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) signal: Signal,
    pub(crate) kind: PlaceKind,
    path: Vec<FieldDescriptor>,
    /// Below the path, in the message it leads to.
    unknown: &'static [u32],
}

/// Every place of a signal.
pub(crate) fn places(signal: Signal) -> Vec<Place> {
    let mut found = Vec::new();
    descend(signal, &request(signal), &mut Vec::new(), &mut found);
    found
}

fn descend(
    signal: Signal,
    message: &MessageDescriptor,
    path: &mut Vec<FieldDescriptor>,
    found: &mut Vec<Place>,
) {
    for unknown in [&[UNKNOWN] as &[u32], &[UNKNOWN_GROUP, UNKNOWN]] {
        found.push(Place { signal, kind: PlaceKind::Unknown, path: path.clone(), unknown });
    }
    for field in message.fields() {
        path.push(field.clone());
        let mut leaf = |kind| found.push(Place { signal, kind, path: path.clone(), unknown: &[] });
        match field.kind() {
            Kind::String => leaf(PlaceKind::Text),
            Kind::Bytes if field.name().ends_with("_id") => leaf(PlaceKind::Id),
            Kind::Bytes => leaf(PlaceKind::Bytes),
            Kind::Message(inner) => {
                let values = path.iter().filter(|field| is_any_value(field)).count();
                if values <= MAX_VALUES {
                    descend(signal, &inner, path, found);
                }
            }
            _ => {}
        }
        path.pop();
    }
}

fn is_any_value(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Kind::Message(message) if message.name() == "AnyValue")
}

impl Place {
    /// An encoded export request with `text` at this place, and identifiers, numbers, times and other texts beside it.
    pub(crate) fn request(&self, text: &[u8]) -> Vec<u8> {
        self.encode(&request(self.signal), &self.path, text)
    }

    fn encode(&self, message: &MessageDescriptor, path: &[FieldDescriptor], text: &[u8]) -> Vec<u8> {
        let mut out = neighbours(message, path.first()).encode_to_vec();
        match (path, self.unknown) {
            ([], [number]) => put_field(&mut out, *number, text),
            ([], [group, number]) => {
                put_varint(&mut out, u64::from(group << 3 | 3));
                put_field(&mut out, *number, text);
                put_varint(&mut out, u64::from(group << 3 | 4));
            }
            ([field, below @ ..], _) => match field.kind() {
                Kind::Message(inner) => {
                    put_field(&mut out, field.number(), &self.encode(&inner, below, text))
                }
                _ => put_field(&mut out, field.number(), text),
            },
            _ => unreachable!("a place is a field or an unknown one"),
        }
        out
    }

    /// What stands at this place in an encoded request; `None` if the field isn't there.
    pub(crate) fn text_in(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut found = None;
        edit(body, Reader::new(body), &self.numbers(), &mut |text| found = Some(text.to_vec()));
        found
    }

    /// The request without the field at this place: what must not change.
    pub(crate) fn without(&self, body: &[u8]) -> Vec<u8> {
        edit(body, Reader::new(body), &self.numbers(), &mut |_| {})
    }

    fn numbers(&self) -> Vec<u32> {
        self.path.iter().map(FieldDescriptor::number).chain(self.unknown.iter().copied()).collect()
    }
}

/// Copies a message without the field that the path leads to, and shows that field's content.
fn edit(body: &[u8], mut reader: Reader<'_>, path: &[u32], show: &mut dyn FnMut(&[u8])) -> Vec<u8> {
    let mut out = Vec::new();
    let (first, below) = path.split_first().expect("a path");
    while let Some(record) = reader.next_record().expect("well-formed") {
        match record.value {
            Wire::Delimited(content) if record.number == *first && below.is_empty() => show(content),
            Wire::Delimited(_) if record.number == *first => {
                let inner = edit(body, reader.enter(record).expect("not too deep"), below, show);
                put_field(&mut out, *first, &inner);
            }
            Wire::StartGroup if record.number == *first => {
                while let Some(inner) = reader.next_in_group(*first).expect("well-formed") {
                    match inner.value {
                        Wire::Delimited(content) if below == [inner.number] => show(content),
                        _ => out.extend_from_slice(&body[inner.start..inner.end]),
                    }
                }
            }
            _ => out.extend_from_slice(&body[record.start..record.end]),
        }
    }
    out
}

/// The other fields of a message on the way: identifiers, numbers, times, and a text beside it.
fn neighbours(message: &MessageDescriptor, taken: Option<&FieldDescriptor>) -> DynamicMessage {
    let mut out = DynamicMessage::new(message.clone());
    let taken_one_of = taken.and_then(FieldDescriptor::containing_oneof);
    for field in message.fields() {
        let is_taken =
            taken == Some(&field) || (taken_one_of.is_some() && field.containing_oneof() == taken_one_of);
        if !is_taken && let Some(value) = neighbour(&field) {
            let value = if field.is_list() { Value::List(vec![value.clone(), value]) } else { value };
            out.set_field(&field, value);
        }
    }
    out
}

fn neighbour(field: &FieldDescriptor) -> Option<Value> {
    let number = field.number();
    Some(match (field.kind(), field.name()) {
        (Kind::Bytes, "trace_id" | "profile_id") => Value::Bytes((0xa0..0xb0).collect::<Vec<u8>>().into()),
        (Kind::Bytes, "span_id" | "parent_span_id") => Value::Bytes((0xc0..0xc8).collect::<Vec<u8>>().into()),
        (Kind::String, "string_table") => Value::String(String::new()),
        (Kind::String, _) => Value::String(format!("neighbour.{}", field.name())),
        (Kind::Bool, _) => Value::Bool(true),
        // Index 0 is the empty string, which keeps the profiles' references harmless.
        (Kind::Int32, name) if name.ends_with("_strindex") => return None,
        (Kind::Int32 | Kind::Sint32, _) => Value::I32(1_000_000_007 + number as i32),
        (Kind::Uint32 | Kind::Fixed32, _) => Value::U32(3_000_000_019 + number),
        (Kind::Int64 | Kind::Sfixed64, _) => Value::I64(-7_000_000_000_000_000_001 - i64::from(number)),
        (Kind::Uint64 | Kind::Fixed64, _) => Value::U64(1_700_000_000_123_456_789 + u64::from(number)),
        (Kind::Double, _) => Value::F64(0.1 + f64::from(number)),
        (Kind::Enum(_), _) => Value::EnumNumber(2),
        _ => return None,
    })
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.signal.as_str())?;
        for field in &self.path {
            write!(f, "/{}", field.name())?;
        }
        match self.unknown {
            [] => Ok(()),
            [_] => f.write_str("/(unknown field)"),
            _ => f.write_str("/(unknown field in a group)"),
        }
    }
}
