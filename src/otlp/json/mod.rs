//! OTLP/JSON <-> protobuf, driven by the schema table: no field is named here.
//!
//! JSON requests become protobuf at the door ([`to_protobuf`]), so that one walk serves both encodings; what goes to
//! a JSON backend, a file or a terminal is made from the redacted protobuf ([`from_protobuf`]).
//!
//! The format is proto3 JSON with OTLP's changes (OTLP 1.11, "JSON Protobuf Encoding"): ids are hex, enums are numbers.
//! This module knows nothing of secrets, of HTTP, or of `google.rpc.Status` (that is `reply`).

mod from_protobuf;
mod nested;
mod number;
mod shape;
mod to_protobuf;

use std::fmt;

use super::wire::Malformed;

pub use from_protobuf::from_protobuf;
pub use to_protobuf::{to_protobuf, to_protobuf_within};

/// Why a body could not be transcoded. Holds no byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong, in fixed words.
    pub what: &'static str,
    /// Where, in bytes from the start of the body, if known. For JSON it is just behind the offending token.
    pub offset: Option<usize>,
}

impl JsonError {
    const fn new(what: &'static str) -> Self {
        Self { what, offset: None }
    }

    /// Whether the output was over the limit given.
    pub fn is_too_long(&self) -> bool {
        self.what == TOO_LONG
    }
}

const TOO_LONG: &str = "too long in protobuf";

impl From<Malformed> for JsonError {
    fn from(malformed: Malformed) -> Self {
        Self::new(malformed.0)
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}", self.what),
            None => f.write_str(self.what),
        }
    }
}

impl std::error::Error for JsonError {}
