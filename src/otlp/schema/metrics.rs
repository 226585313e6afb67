//! Schema table: the metric messages, request and response.
//!
//! Facts from `proto/`; a test holds the two together, field by field.

use super::common::{INSTRUMENTATION_SCOPE, KEY_VALUE, RESOURCE};
use super::{Kind, Message, Role, field, one_of, repeated};

/// `opentelemetry.proto.metrics.v1.ResourceMetrics`.
pub static RESOURCE_METRICS: Message = Message {
    name: "opentelemetry.proto.metrics.v1.ResourceMetrics",
    role: Role::OfResource,
    fields: &[
        field(1, "resource", "resource", Kind::Message(&RESOURCE)),
        repeated(2, "scope_metrics", "scopeMetrics", Kind::Message(&SCOPE_METRICS)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.metrics.v1.ScopeMetrics`.
pub static SCOPE_METRICS: Message = Message {
    name: "opentelemetry.proto.metrics.v1.ScopeMetrics",
    role: Role::Plain,
    fields: &[
        field(1, "scope", "scope", Kind::Message(&INSTRUMENTATION_SCOPE)),
        repeated(2, "metrics", "metrics", Kind::Message(&METRIC)),
        field(3, "schema_url", "schemaUrl", Kind::Text),
    ],
};

/// `opentelemetry.proto.metrics.v1.Metric`.
pub static METRIC: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Metric",
    role: Role::Plain,
    fields: &[
        field(1, "name", "name", Kind::Text),
        field(2, "description", "description", Kind::Text),
        field(3, "unit", "unit", Kind::Text),
        one_of(5, "gauge", "gauge", Kind::Message(&GAUGE)),
        one_of(7, "sum", "sum", Kind::Message(&SUM)),
        one_of(9, "histogram", "histogram", Kind::Message(&HISTOGRAM)),
        one_of(10, "exponential_histogram", "exponentialHistogram", Kind::Message(&EXPONENTIAL_HISTOGRAM)),
        one_of(11, "summary", "summary", Kind::Message(&SUMMARY)),
        repeated(12, "metadata", "metadata", Kind::Message(&KEY_VALUE)),
    ],
};

/// `opentelemetry.proto.metrics.v1.Gauge`.
pub static GAUGE: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Gauge",
    role: Role::Plain,
    fields: &[repeated(1, "data_points", "dataPoints", Kind::Message(&NUMBER_DATA_POINT))],
};

/// `opentelemetry.proto.metrics.v1.Sum`.
pub static SUM: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Sum",
    role: Role::Plain,
    fields: &[
        repeated(1, "data_points", "dataPoints", Kind::Message(&NUMBER_DATA_POINT)),
        field(2, "aggregation_temporality", "aggregationTemporality", Kind::Enum),
        field(3, "is_monotonic", "isMonotonic", Kind::Bool),
    ],
};

/// `opentelemetry.proto.metrics.v1.Histogram`.
pub static HISTOGRAM: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Histogram",
    role: Role::Plain,
    fields: &[
        repeated(1, "data_points", "dataPoints", Kind::Message(&HISTOGRAM_DATA_POINT)),
        field(2, "aggregation_temporality", "aggregationTemporality", Kind::Enum),
    ],
};

/// `opentelemetry.proto.metrics.v1.ExponentialHistogram`.
pub static EXPONENTIAL_HISTOGRAM: Message = Message {
    name: "opentelemetry.proto.metrics.v1.ExponentialHistogram",
    role: Role::Plain,
    fields: &[
        repeated(1, "data_points", "dataPoints", Kind::Message(&EXPONENTIAL_HISTOGRAM_DATA_POINT)),
        field(2, "aggregation_temporality", "aggregationTemporality", Kind::Enum),
    ],
};

/// `opentelemetry.proto.metrics.v1.Summary`.
pub static SUMMARY: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Summary",
    role: Role::Plain,
    fields: &[repeated(1, "data_points", "dataPoints", Kind::Message(&SUMMARY_DATA_POINT))],
};

/// `opentelemetry.proto.metrics.v1.NumberDataPoint`.
pub static NUMBER_DATA_POINT: Message = Message {
    name: "opentelemetry.proto.metrics.v1.NumberDataPoint",
    role: Role::Item,
    fields: &[
        field(2, "start_time_unix_nano", "startTimeUnixNano", Kind::Fixed64),
        field(3, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        one_of(4, "as_double", "asDouble", Kind::Double),
        repeated(5, "exemplars", "exemplars", Kind::Message(&EXEMPLAR)),
        one_of(6, "as_int", "asInt", Kind::Sfixed64),
        repeated(7, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(8, "flags", "flags", Kind::Uint32),
    ],
};

/// `opentelemetry.proto.metrics.v1.HistogramDataPoint`.
pub static HISTOGRAM_DATA_POINT: Message = Message {
    name: "opentelemetry.proto.metrics.v1.HistogramDataPoint",
    role: Role::Item,
    fields: &[
        field(2, "start_time_unix_nano", "startTimeUnixNano", Kind::Fixed64),
        field(3, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(4, "count", "count", Kind::Fixed64),
        field(5, "sum", "sum", Kind::Double),
        repeated(6, "bucket_counts", "bucketCounts", Kind::Fixed64),
        repeated(7, "explicit_bounds", "explicitBounds", Kind::Double),
        repeated(8, "exemplars", "exemplars", Kind::Message(&EXEMPLAR)),
        repeated(9, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(10, "flags", "flags", Kind::Uint32),
        field(11, "min", "min", Kind::Double),
        field(12, "max", "max", Kind::Double),
    ],
};

/// `opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint`.
pub static EXPONENTIAL_HISTOGRAM_DATA_POINT: Message = Message {
    name: "opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint",
    role: Role::Item,
    fields: &[
        repeated(1, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(2, "start_time_unix_nano", "startTimeUnixNano", Kind::Fixed64),
        field(3, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(4, "count", "count", Kind::Fixed64),
        field(5, "sum", "sum", Kind::Double),
        field(6, "scale", "scale", Kind::Sint32),
        field(7, "zero_count", "zeroCount", Kind::Fixed64),
        field(8, "positive", "positive", Kind::Message(&EXPONENTIAL_HISTOGRAM_DATA_POINT_BUCKETS)),
        field(9, "negative", "negative", Kind::Message(&EXPONENTIAL_HISTOGRAM_DATA_POINT_BUCKETS)),
        field(10, "flags", "flags", Kind::Uint32),
        repeated(11, "exemplars", "exemplars", Kind::Message(&EXEMPLAR)),
        field(12, "min", "min", Kind::Double),
        field(13, "max", "max", Kind::Double),
        field(14, "zero_threshold", "zeroThreshold", Kind::Double),
    ],
};

/// `opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint.Buckets`.
pub static EXPONENTIAL_HISTOGRAM_DATA_POINT_BUCKETS: Message = Message {
    name: "opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint.Buckets",
    role: Role::Plain,
    fields: &[
        field(1, "offset", "offset", Kind::Sint32),
        repeated(2, "bucket_counts", "bucketCounts", Kind::Uint64),
    ],
};

/// `opentelemetry.proto.metrics.v1.SummaryDataPoint`.
pub static SUMMARY_DATA_POINT: Message = Message {
    name: "opentelemetry.proto.metrics.v1.SummaryDataPoint",
    role: Role::Item,
    fields: &[
        field(2, "start_time_unix_nano", "startTimeUnixNano", Kind::Fixed64),
        field(3, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        field(4, "count", "count", Kind::Fixed64),
        field(5, "sum", "sum", Kind::Double),
        repeated(
            6,
            "quantile_values",
            "quantileValues",
            Kind::Message(&SUMMARY_DATA_POINT_VALUE_AT_QUANTILE),
        ),
        repeated(7, "attributes", "attributes", Kind::Message(&KEY_VALUE)),
        field(8, "flags", "flags", Kind::Uint32),
    ],
};

/// `opentelemetry.proto.metrics.v1.SummaryDataPoint.ValueAtQuantile`.
pub static SUMMARY_DATA_POINT_VALUE_AT_QUANTILE: Message = Message {
    name: "opentelemetry.proto.metrics.v1.SummaryDataPoint.ValueAtQuantile",
    role: Role::Plain,
    fields: &[field(1, "quantile", "quantile", Kind::Double), field(2, "value", "value", Kind::Double)],
};

/// `opentelemetry.proto.metrics.v1.Exemplar`.
pub static EXEMPLAR: Message = Message {
    name: "opentelemetry.proto.metrics.v1.Exemplar",
    role: Role::Plain,
    fields: &[
        field(2, "time_unix_nano", "timeUnixNano", Kind::Fixed64),
        one_of(3, "as_double", "asDouble", Kind::Double),
        field(4, "span_id", "spanId", Kind::Id(8)),
        field(5, "trace_id", "traceId", Kind::Id(16)),
        one_of(6, "as_int", "asInt", Kind::Sfixed64),
        repeated(7, "filtered_attributes", "filteredAttributes", Kind::Message(&KEY_VALUE)),
    ],
};

/// `opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest`.
pub static EXPORT_METRICS_SERVICE_REQUEST: Message = Message {
    name: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
    role: Role::Plain,
    fields: &[repeated(1, "resource_metrics", "resourceMetrics", Kind::Message(&RESOURCE_METRICS))],
};

/// `opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse`.
pub static EXPORT_METRICS_SERVICE_RESPONSE: Message = Message {
    name: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse",
    role: Role::Plain,
    fields: &[field(1, "partial_success", "partialSuccess", Kind::Message(&EXPORT_METRICS_PARTIAL_SUCCESS))],
};

/// `opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess`.
pub static EXPORT_METRICS_PARTIAL_SUCCESS: Message = Message {
    name: "opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess",
    role: Role::Plain,
    fields: &[
        field(1, "rejected_data_points", "rejectedDataPoints", Kind::Int64),
        field(2, "error_message", "errorMessage", Kind::Text),
    ],
};
