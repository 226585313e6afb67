//! What JSON and the wire must know of a field beyond the schema table: its tag, and whether "unset" and "default" differ.

use crate::otlp::schema::WireType;
use crate::otlp::schema::{Field, Kind};
use crate::otlp::wire::put_varint;

/// Appends a field's tag.
pub(super) fn put_tag(out: &mut Vec<u8>, number: u32, wire_type: WireType) {
    let code = match wire_type {
        WireType::Varint => 0,
        WireType::Fixed64 => 1,
        WireType::Delimited => 2,
        WireType::Fixed32 => 5,
    };
    put_varint(out, u64::from(number) << 3 | code);
}

/// Whether a default value that is set means something else than an unset one.
///
/// True of messages and oneof members. The table doesn't say which fields are `optional`; all that are, are doubles (a
/// test holds that against `proto/`), and for a double without presence a written default does no harm.
pub(super) const fn has_presence(field: &Field) -> bool {
    field.one_of || matches!(field.kind, Kind::Message(_) | Kind::Double)
}
