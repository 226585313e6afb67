//! Schema table: the trace messages, request and response.
//!
//! Facts from `proto/`; a test holds the two together, field by field.

use super::common::{INSTRUMENTATION_SCOPE, KEY_VALUE, RESOURCE};
use super::{Kind, Message, Role, field, repeated};

/// `opentelemetry.proto.trace.v1.ResourceSpans`.
pub static RESOURCE_SPANS: Message = Message {
    name: "opentelemetry.proto.trace.v1.ResourceSpans",
    role: Role::OfResource,
    fields: &[
        field(1, "resource", "resource", Kind::Message(&RESOURCE)),
        repeated(2, "scope_spans", "scopeSpans", Kind::Message(&SCOPE_SPANS)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.trace.v1.ScopeSpans`.
pub static SCOPE_SPANS: Message = Message {
    name: "opentelemetry.proto.trace.v1.ScopeSpans",
    role: Role::Plain,
    fields: &[
        field(1, "scope", "scope", Kind::Message(&INSTRUMENTATION_SCOPE)),
        repeated(2, "spans", "spans", Kind::Message(&SPAN)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.trace.v1.Span`.
pub static SPAN: Message = Message {
    name: "opentelemetry.proto.trace.v1.Span",
    role: Role::Item,
    fields: &[
        field(1, "trace_id", "traceId", Kind::Id(16)),
        field(2, "span_id", "spanId", Kind::Id(8)),
        field(3, "trace_state", "traceState", Kind::Text),
        field(4, "parent_span_id", "parentSpanId", Kind::Id(8)),
        field(5, "name", "name", Kind::Text),
        field(6, "kind", "kind", Kind::Enum),
        field(7, "start_time_unix_nano", "startTimeUnixNano", Kind::Fixed64),
        field(8, "end_time_unix_nano", "endTimeUnixNano", Kind::Fixed64),
        repeated(9, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(10, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
        repeated(11, "events", "events", Kind::Message(&SPAN_EVENT)),
        field(12, "dropped_events_count", "droppedEventsCount", Kind::Uint32),
        repeated(13, "links", "links", Kind::Message(&SPAN_LINK)),
        field(14, "dropped_links_count", "droppedLinksCount", Kind::Uint32),
        field(15, "status", "status", Kind::Message(&STATUS)),
        field(16, "flags", "flags", Kind::Fixed32),
    ],
};

/// `opentelemetry.proto.trace.v1.Span.Event`.
pub static SPAN_EVENT: Message = Message {
    name: "opentelemetry.proto.trace.v1.Span.Event",
    role: Role::Plain,
    fields: &[
        field(1, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(2, "name", "name", Kind::Text),
        repeated(3, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(4, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
    ],
};

/// `opentelemetry.proto.trace.v1.Span.Link`.
pub static SPAN_LINK: Message = Message {
    name: "opentelemetry.proto.trace.v1.Span.Link",
    role: Role::Plain,
    fields: &[
        field(1, "trace_id", "traceId", Kind::Id(16)),
        field(2, "span_id", "spanId", Kind::Id(8)),
        field(3, "trace_state", "traceState", Kind::Text),
        repeated(4, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(5, "dropped_attributes_count", "droppedAttributesCount", Kind::Uint32),
        field(6, "flags", "flags", Kind::Fixed32),
    ],
};

/// `opentelemetry.proto.trace.v1.Status`.
pub static STATUS: Message = Message {
    name: "opentelemetry.proto.trace.v1.Status",
    role: Role::Plain,
    fields: &[field(2, "message", "message", Kind::Text), field(3, "code", "code", Kind::Enum)],
};

/// `opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest`.
pub static EXPORT_TRACE_SERVICE_REQUEST: Message = Message {
    name: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
    role: Role::Plain,
    fields: &[repeated(1, "resource_spans", "resourceSpans", Kind::Message(&RESOURCE_SPANS))],
};

/// `opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse`.
pub static EXPORT_TRACE_SERVICE_RESPONSE: Message = Message {
    name: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse",
    role: Role::Plain,
    fields: &[field(1, "partial_success", "partialSuccess", Kind::Message(&EXPORT_TRACE_PARTIAL_SUCCESS))],
};

/// `opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess`.
pub static EXPORT_TRACE_PARTIAL_SUCCESS: Message = Message {
    name: "opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess",
    role: Role::Plain,
    fields: &[
        field(1, "rejected_spans", "rejectedSpans", Kind::Int64),
        field(2, "error_message", "errorMessage", Kind::Text),
    ],
};
