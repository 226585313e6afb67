//! Schema table: the log messages, request and response.
//!
//! Facts from `proto/`; a test holds the two together, field by field.

use super::common::{ANY_VALUE, INSTRUMENTATION_SCOPE, KEY_VALUE, RESOURCE};
use super::{Kind, Message, Role, field, repeated};

/// `opentelemetry.proto.logs.v1.ResourceLogs`.
pub static RESOURCE_LOGS: Message = Message {
    name: "opentelemetry.proto.logs.v1.ResourceLogs",
    role: Role::OfResource,
    fields: &[
        field(1, "resource", "resource", Kind::Message(&RESOURCE)),
        repeated(2, "scope_logs", "scopeLogs", Kind::Message(&SCOPE_LOGS)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.logs.v1.ScopeLogs`.
pub static SCOPE_LOGS: Message = Message {
    name: "opentelemetry.proto.logs.v1.ScopeLogs",
    role: Role::Plain,
    fields: &[
        field(1, "scope", "scope", Kind::Message(&INSTRUMENTATION_SCOPE)),
        repeated(2, "log_records", "logRecords", Kind::Message(&LOG_RECORD)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.logs.v1.LogRecord`.
pub static LOG_RECORD: Message = Message {
    name: "opentelemetry.proto.logs.v1.LogRecord",
    role: Role::Item,
    fields: &[
        field(1, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(2, "severity_number", "severityNumber", Kind::Enum),
        field(3, "severity_text", "severityText", Kind::Text),
        field(5, "body", "body", Kind::Message(&ANY_VALUE)),
        repeated(6, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(7, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
        field(8, "flags", "flags", Kind::Fixed32),
        field(9, "trace_id", "traceId", Kind::Id(16)),
        field(10, "span_id", "spanId", Kind::Id(8)),
        field(11, "observed_time_unix_nano", "observedTimeUnixNano", Kind::Fixed64),
        field(12, "event_name", "eventName", Kind::Text),
    ],
};

/// `opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest`.
pub static EXPORT_LOGS_SERVICE_REQUEST: Message = Message {
    name: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
    role: Role::Plain,
    fields: &[repeated(1, "resource_logs", "resourceLogs", Kind::Message(&RESOURCE_LOGS))],
};

/// `opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse`.
pub static EXPORT_LOGS_SERVICE_RESPONSE: Message = Message {
    name: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse",
    role: Role::Plain,
    fields: &[field(1, "partial_success", "partialSuccess", Kind::Message(&EXPORT_LOGS_PARTIAL_SUCCESS))],
};

/// `opentelemetry.proto.collector.logs.v1.ExportLogsPartialSuccess`.
pub static EXPORT_LOGS_PARTIAL_SUCCESS: Message = Message {
    name: "opentelemetry.proto.collector.logs.v1.ExportLogsPartialSuccess",
    role: Role::Plain,
    fields: &[
        field(1, "rejected_log_records", "rejectedLogRecords", Kind::Int64),
        field(2, "error_message", "errorMessage", Kind::Text),
    ],
};
