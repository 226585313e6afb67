//! Messages for the properties of the walk: any message of a signal, in the usual encoding and in unusual ones.
//!
//! Choices are drawn from a byte string, so that proptest can shrink it: no bytes left, no more fields.

use blackbar::otlp::Signal;
use blackbar::otlp::wire::put_varint;
use prost_reflect::{
    Cardinality, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _, Value,
};

use crate::places::request;

/// Where choices come from.
#[derive(Debug, Clone)]
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// 0 to `limit - 1`; 0 when the bytes are used up.
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const TEXTS: [&str; 10] = [
    "",
    "plain",
    "a SECRET1 and SECRET22.",
    "SECRET333",
    "né SECRET4 ü",
    "SECRET without a number",
    "${VAR}",
    "[REDACTED:secret]",
    "tail SECRET5",
    "Retrieved 42 rows from table customers, none of which says anything about anything at all: it is only long",
];
const KEYS: [&str; 8] =
    ["", "http.method", "password", "tool.input", "api_key", "gen_ai.prompt", "SECRET6.key", "password.hint"];

/// Any export request of this signal.
pub(crate) fn any_request(signal: Signal, choices: &mut Choices<'_>) -> DynamicMessage {
    any_message(&request(signal), choices, 14)
}

fn any_message(descriptor: &MessageDescriptor, choices: &mut Choices<'_>, depth: usize) -> DynamicMessage {
    let mut out = DynamicMessage::new(descriptor.clone());
    for field in descriptor.fields() {
        // Sub-messages often, else little is ever reached.
        let wanted = match field.kind() {
            Kind::Message(_) => depth > 0 && !choices.one_in(4) && choices.at < choices.bytes.len(),
            _ => choices.below(3) > 0,
        };
        if !wanted {
            continue;
        }
        let value = if field.is_list() {
            let count = choices.below(3) + usize::from(choices.one_in(9));
            Value::List((0..count).map(|_| any_value(&field, choices, depth)).collect())
        } else {
            any_value(&field, choices, depth)
        };
        out.set_field(&field, value);
    }
    out
}

fn any_value(field: &FieldDescriptor, choices: &mut Choices<'_>, depth: usize) -> Value {
    let wide = u64::from_le_bytes([0; 8].map(|_: u8| choices.byte()));
    match field.kind() {
        Kind::Message(inner) => Value::Message(any_message(&inner, choices, depth.saturating_sub(1))),
        Kind::String => Value::String(match field.name() {
            "key" => choices.pick(&KEYS).to_owned(),
            "string_table" if choices.one_in(2) => choices.pick(&KEYS).to_owned(),
            _ => choices.pick(&TEXTS).to_owned(),
        }),
        Kind::Bytes => Value::Bytes(match field.name() {
            name if name.ends_with("_id") && !choices.one_in(5) => {
                let length = if matches!(name, "trace_id" | "profile_id") { 16 } else { 8 };
                // May well look like text, and even like a secret: it is an identifier all the same.
                b"SECRET7890123456"[..length].to_vec().into()
            }
            _ if choices.one_in(3) => wide.to_le_bytes().to_vec().into(),
            _ => choices.pick(&TEXTS).as_bytes().to_vec().into(),
        }),
        Kind::Bool => Value::Bool(wide & 1 == 1),
        Kind::Enum(_) => Value::EnumNumber((wide % 5) as i32),
        Kind::Int32 if field.name().ends_with("_strindex") => Value::I32((wide % 9) as i32 - 1),
        Kind::Int32 | Kind::Sint32 => Value::I32(wide as i32),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(wide as u32),
        Kind::Int64 | Kind::Sfixed64 => Value::I64(wide as i64),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(wide),
        // No NaN: the comparison is by value.
        Kind::Double => Value::F64((wide % 1000) as f64 / 8.0),
        kind => panic!("OTLP has no {kind:?}"),
    }
}

/// How far an encoding is from the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// Means exactly the same to every decoder: order, repetition, long varints, unknown fields.
    Equivalent,
    /// Also known field numbers with wrong wire types, which `prost` refuses and others take as unknown.
    WrongTypes,
}

/// Another valid encoding of the message.
pub(crate) fn encode_oddly(message: &DynamicMessage, choices: &mut Choices<'_>, oddity: Oddity) -> Vec<u8> {
    let encoder = &mut Encoder { choices, oddity };
    encoder.message(message)
}

struct Encoder<'c, 'a> {
    choices: &'c mut Choices<'a>,
    oddity: Oddity,
}

/// Records that must stay in order among themselves: those of one field, or of one oneof.
type Queue = Vec<Vec<u8>>;

impl Encoder<'_, '_> {
    fn message(&mut self, message: &DynamicMessage) -> Vec<u8> {
        let mut queues: Vec<Queue> = Vec::new();
        for (field, value) in message.fields() {
            let queue = match value {
                Value::List(values) => self.list(&field, values),
                value => self.singular(&field, value),
            };
            queues.push(queue);
        }
        if self.choices.one_in(4) {
            queues.push(vec![self.unknown(1900, 3)]);
        }
        if self.oddity == Oddity::WrongTypes && self.choices.one_in(3) {
            queues.extend(self.wrong_type(&message.descriptor()));
        }
        self.interleave(queues)
    }

    fn list(&mut self, field: &FieldDescriptor, values: &[Value]) -> Queue {
        let is_packable = !matches!(field.kind(), Kind::String | Kind::Bytes | Kind::Message(_));
        let mut queue = Queue::new();
        let mut packed = Vec::new();
        for value in values {
            if is_packable && !self.choices.one_in(3) {
                self.scalar(&mut packed, field, value);
            } else {
                if !packed.is_empty() {
                    queue.push(self.delimited(field.number(), &std::mem::take(&mut packed)));
                }
                queue.push(self.record(field, value));
            }
        }
        if !packed.is_empty() {
            queue.push(self.delimited(field.number(), &packed));
        }
        queue
    }

    fn singular(&mut self, field: &FieldDescriptor, value: &Value) -> Queue {
        let mut queue = Queue::new();
        if self.choices.one_in(3) {
            queue.extend(self.decoy(field));
        }
        match value {
            Value::Message(message) if self.choices.one_in(3) => {
                let (first, second) = self.split(message);
                queue.push(self.record(field, &Value::Message(first)));
                queue.push(self.record(field, &Value::Message(second)));
            }
            _ => queue.push(self.record(field, value)),
        }
        queue
    }

    /// An earlier value of the same field or oneof, which the real one overrides.
    fn decoy(&mut self, field: &FieldDescriptor) -> Option<Vec<u8>> {
        if field.parent_message().name() == "AnyValue" {
            let text = self.choices.pick(&["decoy", "decoy SECRET8"]);
            return Some(self.delimited(1, text.as_bytes()));
        }
        match field.kind() {
            // A decoy of a key would rightly change what becomes of the value.
            Kind::String if field.name() == "key" => Some(self.delimited(field.number(), b"decoy")),
            Kind::String => Some(self.delimited(field.number(), b"decoy SECRET9")),
            Kind::Bytes => Some(self.delimited(field.number(), b"decoy SECRET9 in bytes")),
            Kind::Uint64 | Kind::Int64 => {
                let mut out = self.tag(field.number(), 0);
                put_varint(&mut out, 99);
                Some(out)
            }
            _ => None,
        }
    }

    /// Two messages that merge into this one.
    fn split(&mut self, message: &DynamicMessage) -> (DynamicMessage, DynamicMessage) {
        let mut first = DynamicMessage::new(message.descriptor());
        let mut second = first.clone();
        for (field, value) in message.fields() {
            match value {
                Value::List(values) => {
                    let at = self.choices.below(values.len() + 1);
                    first.set_field(&field, Value::List(values[..at].to_vec()));
                    second.set_field(&field, Value::List(values[at..].to_vec()));
                }
                value if self.choices.one_in(2) => first.set_field(&field, value.clone()),
                value => second.set_field(&field, value.clone()),
            }
        }
        (first, second)
    }

    fn record(&mut self, field: &FieldDescriptor, value: &Value) -> Vec<u8> {
        match value {
            Value::Message(message) => {
                let content = self.message(message);
                self.delimited(field.number(), &content)
            }
            Value::String(text) => self.delimited(field.number(), text.as_bytes()),
            Value::Bytes(bytes) => self.delimited(field.number(), bytes),
            scalar => {
                let wire_type = match field.kind() {
                    Kind::Fixed32 => 5,
                    Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => 1,
                    _ => 0,
                };
                let mut out = self.tag(field.number(), wire_type);
                self.scalar(&mut out, field, scalar);
                out
            }
        }
    }

    fn scalar(&mut self, out: &mut Vec<u8>, field: &FieldDescriptor, value: &Value) {
        match (field.kind(), value) {
            (Kind::Sint32, Value::I32(value)) => {
                self.varint(out, u64::from((value << 1 ^ value >> 31) as u32))
            }
            (_, Value::Bool(value)) => self.varint(out, u64::from(*value)),
            (_, Value::I32(value) | Value::EnumNumber(value)) => self.varint(out, i64::from(*value) as u64),
            (Kind::Fixed32, Value::U32(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Value::U32(value)) => self.varint(out, u64::from(*value)),
            (Kind::Sfixed64, Value::I64(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Value::I64(value)) => self.varint(out, *value as u64),
            (Kind::Fixed64, Value::U64(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Value::U64(value)) => self.varint(out, *value),
            (_, Value::F64(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (kind, value) => panic!("{value:?} is no {kind:?}"),
        }
    }

    fn delimited(&mut self, number: u32, content: &[u8]) -> Vec<u8> {
        let mut out = self.tag(number, 2);
        self.varint(&mut out, content.len() as u64);
        out.extend_from_slice(content);
        out
    }

    fn tag(&mut self, number: u32, wire_type: u32) -> Vec<u8> {
        let mut out = Vec::new();
        self.varint(&mut out, u64::from(number << 3 | wire_type));
        out
    }

    /// Now and then longer than it has to be.
    fn varint(&mut self, out: &mut Vec<u8>, value: u64) {
        let start = out.len();
        put_varint(out, value);
        if self.choices.one_in(6) {
            let room = 10 - (out.len() - start);
            for _ in 0..self.choices.below(room + 1) {
                *out.last_mut().unwrap() |= 0x80;
                out.push(0);
            }
        }
    }

    /// A field that no schema knows, of any wire type; groups hold more of them.
    fn unknown(&mut self, number: u32, depth: usize) -> Vec<u8> {
        match self.choices.below(6) {
            0 => {
                let mut out = self.tag(number, 0);
                self.varint(&mut out, 1 << 40);
                out
            }
            1 => [self.tag(number, 1), vec![0xee; 8]].concat(),
            2 => [self.tag(number, 5), vec![0xee; 4]].concat(),
            3 if depth > 0 => {
                let mut out = self.tag(number, 3);
                for inner in 0..self.choices.below(3) as u32 {
                    out.extend(self.unknown(inner + 1, depth - 1));
                }
                out.extend(self.tag(number, 4));
                out
            }
            _ => {
                let text = self.choices.pick(&["unknown", "unknown SECRET10", ""]);
                self.delimited(number, text.as_bytes())
            }
        }
    }

    /// A known number with a wire type that the field can't have.
    fn wrong_type(&mut self, descriptor: &MessageDescriptor) -> Option<Queue> {
        let fields: Vec<_> = descriptor.fields().collect();
        let field = &fields[self.choices.below(fields.len())];
        let record = match field.kind() {
            Kind::String | Kind::Bytes | Kind::Message(_) => {
                [self.tag(field.number(), 1), vec![0x11; 8]].concat()
            }
            _ if field.cardinality() == Cardinality::Repeated => return None,
            _ => self.delimited(field.number(), b"not a number: SECRET11"),
        };
        Some(vec![record])
    }

    fn interleave(&mut self, queues: Vec<Queue>) -> Vec<u8> {
        let mut queues: Vec<_> = queues.into_iter().map(|queue| queue.into_iter().peekable()).collect();
        let mut out = Vec::new();
        loop {
            queues.retain_mut(|queue| queue.peek().is_some());
            if queues.is_empty() {
                return out;
            }
            let chosen = self.choices.below(queues.len());
            out.extend(queues[chosen].next().unwrap());
        }
    }
}
