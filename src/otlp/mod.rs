//! OTLP as data: signals, encodings, the schema table, the wire reader and writer, JSON <-> protobuf.
//!
//! Pure: depends on nothing else in this crate, and uses no sockets, clocks, environment or logging.

pub mod json;
pub mod payload;
pub mod reply;
pub mod schema;
pub mod signal;
pub mod wire;

pub use payload::Payload;
pub use signal::{Encoding, Protocol, Signal};
