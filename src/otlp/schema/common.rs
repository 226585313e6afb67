//! Schema table: resource, scope, attributes and their values, shared by all signals.
//!
//! Facts from `proto/`; a test holds the two together, field by field.

use super::{Kind, Message, Role, field, one_of, repeated};

/// `opentelemetry.proto.common.v1.AnyValue`.
pub static ANY_VALUE: Message = Message {
    name: "opentelemetry.proto.common.v1.AnyValue",
    role: Role::AnyValue,
    fields: &[
        one_of(1, "string_value", "stringValue", Kind::Text),
        one_of(2, "bool_value", "boolValue", Kind::Bool),
        one_of(3, "int_value", "intValue", Kind::Int64),
        one_of(4, "double_value", "doubleValue", Kind::Double),
        one_of(5, "array_value", "arrayValue", Kind::Message(&ARRAY_VALUE)),
        one_of(6, "kvlist_value", "kvlistValue", Kind::Message(&KEY_VALUE_LIST)),
        one_of(7, "bytes_value", "bytesValue", Kind::Bytes),
        one_of(8, "string_value_strindex", "stringValueStrindex", Kind::StringIndex),
    ],
};

/// `opentelemetry.proto.common.v1.ArrayValue`.
pub static ARRAY_VALUE: Message = Message {
    name: "opentelemetry.proto.common.v1.ArrayValue",
    role: Role::Plain,
    fields: &[repeated(1, "values", "values", Kind::Message(&ANY_VALUE))],
};

/// `opentelemetry.proto.common.v1.KeyValueList`.
pub static KEY_VALUE_LIST: Message = Message {
    name: "opentelemetry.proto.common.v1.KeyValueList",
    role: Role::Plain,
    fields: &[repeated(1, "values", "values", Kind::Message(&KEY_VALUE))],
};

/// `opentelemetry.proto.common.v1.KeyValue`.
pub static KEY_VALUE: Message = Message {
    name: "opentelemetry.proto.common.v1.KeyValue",
    role: Role::KeyValue,
    fields: &[
        field(1, "key", "key", Kind::Text),
        field(2, "value", "value", Kind::Message(&ANY_VALUE)),
        field(3, "key_strindex", "keyStrindex", Kind::StringIndex),
    ],
};

/// `opentelemetry.proto.common.v1.InstrumentationScope`.
pub static INSTRUMENTATION_SCOPE: Message = Message {
    name: "opentelemetry.proto.common.v1.InstrumentationScope",
    role: Role::Plain,
    fields: &[
        field(1, "name", "name", Kind::Text),
        field(2, "version", "version", Kind::Text),
        repeated(3, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(4, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
    ],
};

/// `opentelemetry.proto.common.v1.EntityRef`.
pub static ENTITY_REF: Message = Message {
    name: "opentelemetry.proto.common.v1.EntityRef",
    role: Role::Plain,
    fields: &[
        field(1, "schema_url", "schemaUrl", Kind::Text),
        field(2, "type", "type", Kind::Text),
        repeated(3, "id_keys", "idKeys", Kind::Text),
        repeated(4, "description_keys", "descriptionKeys", Kind::Text),
    ],
};

/// `opentelemetry.proto.resource.v1.Resource`.
pub static RESOURCE: Message = Message {
    name: "opentelemetry.proto.resource.v1.Resource",
    role: Role::Plain,
    fields: &[
        repeated(1, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(2, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
        repeated(3, "entity_refs", "entityRefs", Kind::Message(&ENTITY_REF)),
    ],
};
