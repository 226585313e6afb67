//! Why a request was not accepted: whose fault it is, and whether sending it again can help.
//!
//! Says nothing of HTTP or gRPC status codes of ours: that is `respond`. No variant carries payload text; a backend's
//! message is carried to the client and never printed.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

/// Why a request was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The sender's fault. Never worth a retry as it is.
    #[error("{0}")]
    Client(#[from] Client),
    /// The redactor could not do its work; nothing was forwarded.
    #[error("{0}")]
    Redact(#[from] Redact),
    /// The backend did not accept the data.
    #[error("{0}")]
    Backend(#[from] Backend),
    /// We have no room now; a retry later can help.
    #[error("{0}")]
    Overload(#[from] Overload),
}

/// Mistakes of the sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Client {
    /// Not valid protobuf, JSON, gzip...; says which, without a byte of it.
    #[error("malformed request: {0}")]
    Malformed(&'static str),
    /// The body is over the limit, compressed or decompressed.
    #[error("request body exceeds the limit of {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// A content type or content encoding that we don't take.
    #[error("unsupported {0}")]
    Unsupported(&'static str),
    /// Not POST.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// No such path or gRPC method.
    #[error("not found")]
    NotFound,
    /// The client stalled while it sent its body.
    #[error("the request body did not arrive in time")]
    TimedOut,
    /// The request has passed through too many Blackbars: a loop.
    #[error("forwarding loop: the request has passed through {hops} proxies")]
    Loop {
        /// Proxies that the request says it has passed.
        hops: u32,
    },
}

/// Failures of our own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Redact {
    /// A panic outside of the value scanner.
    #[error("internal error")]
    Internal,
    /// The self-canary survived: nothing is forwarded until redaction is known to work.
    #[error("redaction self-check failed")]
    CanarySurvived,
}

/// Too much at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Overload {
    /// Too many requests in flight.
    #[error("too many requests in flight")]
    Requests,
    /// Too many request bytes in flight.
    #[error("too many request bytes in flight")]
    Bytes,
    /// The exporter's queue is full.
    #[error("the queue is full")]
    QueueFull,
    /// The exporter's queue can't be written to its disk now.
    #[error("the queue can't be written")]
    QueueUnwritable,
}

/// What the backend did instead of accepting.
#[derive(Clone, PartialEq, Eq)]
pub enum Backend {
    /// No connection, or it broke.
    Unreachable,
    /// No answer in time.
    TimedOut,
    /// An HTTP answer other than success.
    Http {
        /// HTTP status code.
        status: u16,
        /// `Retry-After`, where it was given.
        retry_after: Option<Duration>,
        /// The backend's own words, for the client only.
        message: String,
    },
    /// A gRPC status other than OK.
    Grpc {
        /// gRPC status code (0 to 16).
        code: i32,
        /// `google.rpc.RetryInfo`, where it was given.
        retry_after: Option<Duration>,
        /// The backend's own words, for the client only.
        message: String,
        /// `grpc-status-details-bin`, decoded from base64: an encoded `google.rpc.Status`, for the client only.
        details: Bytes,
    },
    /// It answered something that is not OTLP. The data may have arrived.
    Garbage,
    /// A local sink (file, stdout) could not be written.
    Sink,
}

impl Backend {
    /// Whether sending the same request again can help (OTLP 1.11, "Failures").
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable | Self::TimedOut | Self::Sink => true,
            Self::Http { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            // CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS
            Self::Grpc { code: 1 | 4 | 10 | 11 | 14 | 15, .. } => true,
            // RESOURCE_EXHAUSTED, only where the server says that it can recover
            Self::Grpc { code: 8, retry_after, .. } => retry_after.is_some(),
            Self::Grpc { .. } | Self::Garbage => false,
        }
    }

    /// How long the backend asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Http { retry_after, .. } | Self::Grpc { retry_after, .. } => *retry_after,
            Self::Unreachable | Self::TimedOut | Self::Garbage | Self::Sink => None,
        }
    }
}

// By hand: a backend may echo what it was sent, so its message is never printed.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("backend unreachable"),
            Self::TimedOut => f.write_str("backend timed out"),
            Self::Http { status, .. } => write!(f, "backend answered HTTP {status}"),
            Self::Grpc { code, .. } => write!(f, "backend answered gRPC status {code}"),
            Self::Garbage => f.write_str("backend gave an answer that is not OTLP"),
            Self::Sink => f.write_str("output could not be written"),
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({self})")
    }
}

impl std::error::Error for Backend {}
