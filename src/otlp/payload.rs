//! Request bodies that have not been redacted. `Debug` prints a length, never a byte.

use std::fmt;

use bytes::Bytes;

/// Telemetry as a client sent it: may hold secrets, so it can't be printed and is not accepted by `forward`.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(Bytes);

impl Payload {
    /// Wraps unredacted bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// The bytes, for the redactor.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The bytes, borrowed.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} B)", self.0.len())
    }
}
