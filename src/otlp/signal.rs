//! The four OTLP signals, the two body encodings and the two transports, with their standard names.

use std::fmt;

use super::schema::{self, Message};

/// An OTLP signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Data points.
    Metrics,
    /// Log records.
    Logs,
    /// Profiles (OTLP status: development).
    Profiles,
}

impl Signal {
    /// Every signal, in the order of the OTLP specification.
    pub const ALL: [Self; 4] = [Self::Traces, Self::Metrics, Self::Logs, Self::Profiles];

    /// The Collector's pipeline name: `traces`, `metrics`, `logs`, `profiles`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
            Self::Profiles => "profiles",
        }
    }

    /// The default HTTP path (OTLP/HTTP request, `v1/<signal>`), with its leading slash.
    pub const fn http_path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
            Self::Logs => "/v1/logs",
            Self::Profiles => "/v1development/profiles",
        }
    }

    /// The gRPC method path, `/package.Service/Export`.
    pub const fn grpc_path(self) -> &'static str {
        match self {
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Self::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Self::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
            Self::Profiles => "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
        }
    }

    /// The schema of this signal's export request.
    pub fn request(self) -> &'static Message {
        match self {
            Self::Traces => &schema::traces::EXPORT_TRACE_SERVICE_REQUEST,
            Self::Metrics => &schema::metrics::EXPORT_METRICS_SERVICE_REQUEST,
            Self::Logs => &schema::logs::EXPORT_LOGS_SERVICE_REQUEST,
            Self::Profiles => &schema::profiles::EXPORT_PROFILES_SERVICE_REQUEST,
        }
    }

    /// The schema of this signal's export response.
    pub fn response(self) -> &'static Message {
        match self {
            Self::Traces => &schema::traces::EXPORT_TRACE_SERVICE_RESPONSE,
            Self::Metrics => &schema::metrics::EXPORT_METRICS_SERVICE_RESPONSE,
            Self::Logs => &schema::logs::EXPORT_LOGS_SERVICE_RESPONSE,
            Self::Profiles => &schema::profiles::EXPORT_PROFILES_SERVICE_RESPONSE,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a request or reply body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Binary protobuf (`application/x-protobuf`, and every gRPC message).
    Protobuf,
    /// OTLP/JSON (`application/json`).
    Json,
}

impl Encoding {
    /// The HTTP content type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }
}

/// The transport that a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP.
    Http,
}

impl Protocol {
    /// The metrics label: `grpc` or `http`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Http => "http",
        }
    }
}
