//! Schema table: the profile messages (development status), request and response.
//!
//! Facts from `proto/`; a test holds the two together, field by field.

use super::common::{ANY_VALUE, INSTRUMENTATION_SCOPE, RESOURCE};
use super::{Kind, Message, Role, field, repeated};

/// `opentelemetry.proto.profiles.v1development.ProfilesDictionary`.
pub static PROFILES_DICTIONARY: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.ProfilesDictionary",
    role: Role::ProfilesDictionary,
    fields: &[
        repeated(1, "mapping_table", "mappingTable", Kind::Message(&MAPPING)),
        repeated(2, "location_table", "locationTable", Kind::Message(&LOCATION)),
        repeated(3, "function_table", "functionTable", Kind::Message(&FUNCTION)),
        repeated(4, "link_table", "linkTable", Kind::Message(&PROFILE_LINK)),
        repeated(5, "string_table", "stringTable", Kind::Text),
        repeated(6, "attribute_table", "attributeTable", Kind::Message(&KEY_VALUE_AND_UNIT)),
        repeated(7, "stack_table", "stackTable", Kind::Message(&STACK)),
    ],
};

/// `opentelemetry.proto.profiles.v1development.ResourceProfiles`.
pub static RESOURCE_PROFILES: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.ResourceProfiles",
    role: Role::OfResource,
    fields: &[
        field(1, "resource", "resource", Kind::Message(&RESOURCE)),
        repeated(2, "scope_profiles", "scopeProfiles", Kind::Message(&SCOPE_PROFILES)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.profiles.v1development.ScopeProfiles`.
pub static SCOPE_PROFILES: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.ScopeProfiles",
    role: Role::Plain,
    fields: &[
        field(1, "scope", "scope", Kind::Message(&INSTRUMENTATION_SCOPE)),
        repeated(2, "profiles", "profiles", Kind::Message(&PROFILE)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Profile`.
pub static PROFILE: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Profile",
    role: Role::Item,
    fields: &[
        field(1, "sample_type", "sampleType", Kind::Message(&VALUE_TYPE)),
        repeated(2, "samples", "samples", Kind::Message(&SAMPLE)),
        field(3, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(4, "duration_nano", "durationNano", Kind::Uint64),
        field(5, "period_type", "periodType", Kind::Message(&VALUE_TYPE)),
        field(6, "period", "period", Kind::Int64),
        field(7, "profile_id", "profileId", Kind::Id(16)),
        field(8, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
        field(9, "original_payload_format", "originalPayloadFormat", Kind::Text),
        field(10, "original_payload", "originalPayload", Kind::Payload),
        repeated(11, "attribute_indices", "attributeIndices", Kind::Int32),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Link`.
pub static PROFILE_LINK: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Link",
    role: Role::Plain,
    fields: &[field(1, "trace_id", "traceId", Kind::Id(16)), field(2, "span_id", "spanId", Kind::Id(8))],
};

/// `opentelemetry.proto.profiles.v1development.ValueType`.
pub static VALUE_TYPE: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.ValueType",
    role: Role::Plain,
    fields: &[
        field(1, "type_strindex", "typeStrindex", Kind::StringIndex),
        field(2, "unit_strindex", "unitStrindex", Kind::StringIndex),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Sample`.
pub static SAMPLE: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Sample",
    role: Role::Plain,
    fields: &[
        field(1, "stack_index", "stackIndex", Kind::Int32),
        repeated(2, "attribute_indices", "attributeIndices", Kind::Int32),
        field(3, "link_index", "linkIndex", Kind::Int32),
        repeated(4, "values", "values", Kind::Int64),
        repeated(5, "timestamps_unix_nano", "timestampsUnixNano", Kind::Fixed64),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Mapping`.
pub static MAPPING: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Mapping",
    role: Role::Plain,
    fields: &[
        field(1, "memory_start", "memoryStart", Kind::Uint64),
        field(2, "memory_limit", "memoryLimit", Kind::Uint64),
        field(3, "file_offset", "fileOffset", Kind::Uint64),
        field(4, "filename_strindex", "filenameStrindex", Kind::StringIndex),
        repeated(5, "attribute_indices", "attributeIndices", Kind::Int32),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Stack`.
pub static STACK: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Stack",
    role: Role::Plain,
    fields: &[repeated(1, "location_indices", "locationIndices", Kind::Int32)],
};

/// `opentelemetry.proto.profiles.v1development.Location`.
pub static LOCATION: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Location",
    role: Role::Plain,
    fields: &[
        field(1, "mapping_index", "mappingIndex", Kind::Int32),
        field(2, "address", "address", Kind::Uint64),
        repeated(3, "lines", "lines", Kind::Message(&LINE)),
        repeated(4, "attribute_indices", "attributeIndices", Kind::Int32),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Line`.
pub static LINE: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Line",
    role: Role::Plain,
    fields: &[
        field(1, "function_index", "functionIndex", Kind::Int32),
        field(2, "line", "line", Kind::Int64),
        field(3, "column", "column", Kind::Int64),
    ],
};

/// `opentelemetry.proto.profiles.v1development.Function`.
pub static FUNCTION: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.Function",
    role: Role::Plain,
    fields: &[
        field(1, "name_strindex", "nameStrindex", Kind::StringIndex),
        field(2, "system_name_strindex", "systemNameStrindex", Kind::StringIndex),
        field(3, "filename_strindex", "filenameStrindex", Kind::StringIndex),
        field(4, "start_line", "startLine", Kind::Int64),
    ],
};

/// `opentelemetry.proto.profiles.v1development.KeyValueAndUnit`.
pub static KEY_VALUE_AND_UNIT: Message = Message {
    name: "opentelemetry.proto.profiles.v1development.KeyValueAndUnit",
    role: Role::KeyValueAndUnit,
    fields: &[
        field(1, "key_strindex", "keyStrindex", Kind::StringIndex),
        field(2, "value", "value", Kind::Message(&ANY_VALUE)),
        field(3, "unit_strindex", "unitStrindex", Kind::StringIndex),
    ],
};

/// `opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest`.
pub static EXPORT_PROFILES_SERVICE_REQUEST: Message = Message {
    name: "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest",
    role: Role::Plain,
    fields: &[
        repeated(1, "resource_profiles", "resourceProfiles", Kind::Message(&RESOURCE_PROFILES)),
        field(2, "dictionary", "dictionary", Kind::Message(&PROFILES_DICTIONARY)),
    ],
};

/// `opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceResponse`.
pub static EXPORT_PROFILES_SERVICE_RESPONSE: Message = Message {
    name: "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceResponse",
    role: Role::Plain,
    fields: &[field(1, "partial_success", "partialSuccess", Kind::Message(&EXPORT_PROFILES_PARTIAL_SUCCESS))],
};

/// `opentelemetry.proto.collector.profiles.v1development.ExportProfilesPartialSuccess`.
pub static EXPORT_PROFILES_PARTIAL_SUCCESS: Message = Message {
    name: "opentelemetry.proto.collector.profiles.v1development.ExportProfilesPartialSuccess",
    role: Role::Plain,
    fields: &[
        field(1, "rejected_profiles", "rejectedProfiles", Kind::Int64),
        field(2, "error_message", "errorMessage", Kind::Text),
    ],
};
