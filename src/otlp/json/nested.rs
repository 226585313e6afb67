//! Protobuf output whose nested messages get their length when they end, in linear time at any depth.
//!
//! A message's length stands before it but is known only after it. Each one gets one byte; most need no more. The few
//! that are longer are noted, and one backward pass at the end makes room for all of them.

use super::shape::put_tag;
use crate::otlp::schema::WireType;
use crate::otlp::wire::{put_varint, varint_len};

/// Protobuf bytes under construction.
#[derive(Debug, Default)]
pub(super) struct Nested {
    bytes: Vec<u8>,
    wide: Vec<Wide>,
    /// Bytes that the noted lengths need beyond the one that they have.
    extra: usize,
}

/// A length that did not fit into its byte.
#[derive(Debug)]
struct Wide {
    at: usize,
    length: usize,
}

/// A length-delimited field that has begun.
#[derive(Debug)]
#[must_use]
pub(super) struct Open {
    start: usize,
    at: usize,
    extra: usize,
}

impl Nested {
    /// Room for about this many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Where values are appended.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Begins a length-delimited field.
    pub(super) fn open(&mut self, number: u32) -> Open {
        let start = self.bytes.len();
        put_tag(&mut self.bytes, number, WireType::Delimited);
        let at = self.bytes.len();
        self.bytes.push(0);
        Open { start, at, extra: self.extra }
    }

    /// Ends it.
    pub(super) fn close(&mut self, open: Open) {
        let length = self.bytes.len() - open.at - 1 + (self.extra - open.extra);
        match u8::try_from(length) {
            Ok(small @ 0..0x80) => {
                if let Some(byte) = self.bytes.get_mut(open.at) {
                    *byte = small;
                }
            }
            _ => {
                self.extra += varint_len(length) - 1;
                self.wide.push(Wide { at: open.at, length });
            }
        }
    }

    /// Ends it, or takes it back if nothing was written into it.
    pub(super) fn close_unless_empty(&mut self, open: Open) {
        if self.bytes.len() == open.at + 1 {
            self.bytes.truncate(open.start);
        } else {
            self.close(open);
        }
    }

    /// The finished bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.wide.sort_unstable_by_key(|wide| wide.at);
        let mut from = self.bytes.len();
        let mut to = from + self.extra;
        self.bytes.resize(to, 0);
        let mut length = Vec::with_capacity(10);
        for wide in self.wide.iter().rev() {
            // What stands behind the length moves to its final place, then the length goes before it.
            let behind = wide.at + 1..from;
            to -= behind.len();
            from = wide.at;
            self.bytes.copy_within(behind, to);
            length.clear();
            put_varint(&mut length, wide.length as u64);
            to -= length.len();
            if let Some(room) = self.bytes.get_mut(to..to + length.len()) {
                room.copy_from_slice(&length);
            }
        }
        self.bytes
    }
}
