//! The loop guard: every outgoing request says through how many Blackbars it has passed.
//!
//! The pipeline refuses a request that has passed through [`MAX_HOPS`]; nothing here refuses anything.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header, in HTTP and in gRPC metadata.
pub const HEADER: HeaderName = HeaderName::from_static("blackbar-hops");

/// A request that has passed through this many proxies goes in circles: sidecar, node and gateway are three.
pub const MAX_HOPS: u32 = 8;

/// The proxies that a request says it has passed: the largest value, 0 without a readable one.
pub fn count(headers: &HeaderMap) -> u32 {
    let values = headers.get_all(HEADER).iter();
    values.filter_map(|value| value.to_str().ok()?.trim().parse().ok()).max().unwrap_or(0)
}

/// What a request says that has passed through so many.
pub(super) fn after(count: u8) -> HeaderMap {
    HeaderMap::from_iter([(HEADER, HeaderValue::from(u16::from(count)))])
}

/// The value for the request that goes on.
pub(super) fn next(headers: &HeaderMap) -> HeaderValue {
    HeaderValue::from(count(headers).saturating_add(1))
}
