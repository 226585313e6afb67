//! What a door may be told. Plain validated values: `config` makes them, `receive` builds doors from them.

use std::time::Duration;

/// One OTLP listener. Both ports serve both protocols; the name only says which key it came from.
#[derive(Debug, Clone)]
pub struct DoorSettings {
    /// `host:port` to bind; port 0 lets the system choose.
    pub endpoint: String,
    /// The largest request body in bytes, before and after decompression (`max_recv_msg_size_mib`,
    /// `max_request_body_size`; default 64 MiB).
    pub max_body: usize,
}

/// Bounds shared by all doors. One owner: `receive::limits`.
#[derive(Debug, Clone)]
pub struct LimitSettings {
    /// Requests being received, redacted or forwarded at once.
    pub max_in_flight_requests: usize,
    /// Bytes of request bodies held at once, compressed and decompressed.
    pub max_in_flight_bytes: usize,
    /// Open connections per listener.
    pub max_connections: usize,
    /// From accept to the first complete request head; also how long a header block may take.
    pub header_timeout: Duration,
    /// Longest pause between two pieces of a body.
    pub body_idle_timeout: Duration,
    /// From the request head to the reply, when the client names no deadline.
    pub request_timeout: Duration,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            max_in_flight_requests: 1024,
            max_in_flight_bytes: 512 << 20,
            max_connections: 4096,
            header_timeout: Duration::from_secs(10),
            body_idle_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
        }
    }
}
