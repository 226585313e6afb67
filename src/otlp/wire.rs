//! The protobuf wire format (<https://protobuf.dev/programming-guides/encoding/>): the only file that touches raw bytes.
//!
//! [`Reader`] checks everything it hands out: varints, lengths, wire types, nesting. Positions are offsets into the
//! whole body, so that an edit can name the bytes it replaces. It knows no field names: that is `schema`.

use super::schema::{Field, WireType};

/// Protobuf's usual cap on nesting: so many messages and groups below the outermost one.
pub const MAX_DEPTH: u8 = 100;

/// Malformed protobuf. Says what was wrong, without a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed protobuf: {0}")]
pub struct Malformed(pub &'static str);

const TRUNCATED: Malformed = Malformed("truncated");
const BAD_VARINT: Malformed = Malformed("varint of more than 64 bits");
const BAD_TAG: Malformed = Malformed("invalid field number");
const BAD_WIRE_TYPE: Malformed = Malformed("invalid wire type");
const TOO_DEEP: Malformed = Malformed("nested too deeply");
const BAD_GROUP: Malformed = Malformed("unmatched end of group");
const BAD_PACKED: Malformed = Malformed("packed field of a wrong length");

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1: eight bytes.
    Fixed64,
    /// Wire type 2: text, bytes, a sub-message or packed numbers.
    Delimited(&'a [u8]),
    /// Wire type 3. What follows belongs to the group: see [`Reader::enter_group`].
    StartGroup,
    /// Wire type 4.
    EndGroup,
    /// Wire type 5: four bytes.
    Fixed32,
}

/// One field occurrence.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Field number, 1 to 2^29 - 1.
    pub number: u32,
    /// Offset of the tag.
    pub start: usize,
    /// Offset behind the tag: of the value, or of the length of a delimited one.
    pub after_tag: usize,
    /// Offset behind the record (of a group: behind its start tag).
    pub end: usize,
    /// The value.
    pub value: Value<'a>,
}

/// Reads the records of one message. Cheap to copy: a copy reads on independently.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The body up to the end of this message.
    bytes: &'a [u8],
    at: usize,
    depth_left: u8,
}

impl<'a> Reader<'a> {
    /// A reader for an outermost message.
    pub fn new(body: &'a [u8]) -> Self {
        Self { bytes: body, at: 0, depth_left: MAX_DEPTH }
    }

    /// The next record, `None` at the end of the message. An end of group is a record too: its owner judges it.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if what follows is not a record that ends within this message.
    #[inline(always)]
    pub fn next_record(&mut self) -> Result<Option<Record<'a>>, Malformed> {
        let start = self.at;
        if start >= self.bytes.len() {
            return Ok(None);
        }
        let tag = u32::try_from(self.varint()?).map_err(|_| BAD_TAG)?;
        let number = tag >> 3;
        if number == 0 {
            return Err(BAD_TAG);
        }
        let after_tag = self.at;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed64)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| TRUNCATED)?;
                Value::Delimited(self.take(length)?)
            }
            3 => Value::StartGroup,
            4 => Value::EndGroup,
            5 => self.take(4).map(|_| Value::Fixed32)?,
            _ => return Err(BAD_WIRE_TYPE),
        };
        Ok(Some(Record { number, start, after_tag, end: self.at, value }))
    }

    /// The next record of a message: like [`Self::next_record`], but an end of group has nothing to end here.
    ///
    /// # Errors
    ///
    /// [`Malformed`] as for `next_record`, and for an end of group.
    #[inline(always)]
    pub fn next_field(&mut self) -> Result<Option<Record<'a>>, Malformed> {
        match self.next_record()? {
            Some(Record { value: Value::EndGroup, .. }) => Err(BAD_GROUP),
            other => Ok(other),
        }
    }

    /// The next record of the group with this number; `None` at its end.
    ///
    /// # Errors
    ///
    /// [`Malformed`] as for `next_record`, for another group's end, and for the end of the message.
    pub fn next_in_group(&mut self, group: u32) -> Result<Option<Record<'a>>, Malformed> {
        match self.next_record()? {
            None => Err(TRUNCATED),
            Some(Record { value: Value::EndGroup, number, .. }) if number == group => Ok(None),
            Some(Record { value: Value::EndGroup, .. }) => Err(BAD_GROUP),
            other => Ok(other),
        }
    }

    /// A reader for a delimited record that is a sub-message. Of any other record: an empty one.
    ///
    /// # Errors
    ///
    /// [`Malformed`] below [`MAX_DEPTH`].
    #[inline]
    pub fn enter(&self, record: Record<'a>) -> Result<Self, Malformed> {
        let length = match record.value {
            Value::Delimited(content) => content.len(),
            _ => 0,
        };
        let bytes = self.bytes.get(..record.end).ok_or(TRUNCATED)?;
        Ok(Self { bytes, at: record.end.saturating_sub(length), depth_left: self.deeper()? })
    }

    /// A reader for the group whose start tag was read last. [`Self::leave_group`] takes its position back.
    ///
    /// # Errors
    ///
    /// [`Malformed`] below [`MAX_DEPTH`].
    pub fn enter_group(&self) -> Result<Self, Malformed> {
        Ok(Self { depth_left: self.deeper()?, ..*self })
    }

    /// Goes on behind the group that `inner` has read to its end.
    pub fn leave_group(&mut self, inner: &Self) {
        self.at = inner.at;
    }

    /// Skips the rest of a record whose content doesn't matter: only a group has any.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the group is.
    pub fn skip(&mut self, record: Record<'a>) -> Result<(), Malformed> {
        if record.value != Value::StartGroup {
            return Ok(());
        }
        let mut inner = self.enter_group()?;
        while let Some(nested) = inner.next_in_group(record.number)? {
            inner.skip(nested)?;
        }
        self.leave_group(&inner);
        Ok(())
    }

    fn deeper(&self) -> Result<u8, Malformed> {
        self.depth_left.checked_sub(1).ok_or(TOO_DEEP)
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(length).ok_or(TRUNCATED)?;
        let taken = self.bytes.get(self.at..end).ok_or(TRUNCATED)?;
        self.at = end;
        Ok(taken)
    }

    /// The next number of a packed field of varints, `None` at its end.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if what follows is no varint.
    pub fn next_varint(&mut self) -> Result<Option<u64>, Malformed> {
        if self.at >= self.bytes.len() { Ok(None) } else { self.varint().map(Some) }
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(TRUNCATED)?;
            self.at += 1;
            // The tenth byte has room for one bit.
            if shift == 63 && byte > 1 {
                return Err(BAD_VARINT);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(BAD_VARINT)
    }
}

impl Record<'_> {
    /// Whether the value has the wire type of this field. One that doesn't is an unknown field.
    #[inline]
    pub fn is_a(&self, field: &Field) -> bool {
        match self.value {
            Value::Varint(_) => field.wire_type == WireType::Varint,
            Value::Fixed64 => field.wire_type == WireType::Fixed64,
            Value::Fixed32 => field.wire_type == WireType::Fixed32,
            // Numbers may be packed: decoders take either form.
            Value::Delimited(_) => field.wire_type == WireType::Delimited || field.repeated,
            Value::StartGroup | Value::EndGroup => false,
        }
    }
}

/// Checks that packed numbers of this wire type fill their field exactly.
///
/// # Errors
///
/// [`Malformed`] if they don't.
pub fn check_packed(wire_type: WireType, content: &[u8]) -> Result<(), Malformed> {
    let fits = match wire_type {
        WireType::Fixed32 => content.len().is_multiple_of(4),
        WireType::Fixed64 => content.len().is_multiple_of(8),
        WireType::Delimited => true,
        WireType::Varint => {
            let mut numbers = Reader::new(content);
            while numbers.at < content.len() {
                numbers.varint()?;
            }
            true
        }
    };
    if fits { Ok(()) } else { Err(BAD_PACKED) }
}

/// Appends a varint in its shortest form.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Bytes that [`put_varint`] writes for a length.
pub fn varint_len(value: usize) -> usize {
    let bits = usize::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends a length and as many bytes.
pub fn put_delimited(out: &mut Vec<u8>, content: &[u8]) {
    put_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Appends a field of wire type 2: text, bytes or an encoded message.
pub fn put_field(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_delimited(out, content);
}
