//! Numbers between JSON and the wire: ranges, integral floats, and the two's complement of negative varints.

use crate::otlp::schema::Kind;

/// A number as JSON had it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// Not negative, no fraction, no exponent.
    Unsigned(u64),
    /// Negative, no fraction, no exponent.
    Signed(i64),
    /// Anything else.
    Float(f64),
}

/// A scalar as the wire has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 5.
    Fixed32(u32),
    /// Wire type 1.
    Fixed64(u64),
}

impl Scalar {
    /// Whether it is the value that proto3 leaves off the wire.
    pub(super) fn is_zero(self) -> bool {
        matches!(self, Self::Varint(0) | Self::Fixed32(0) | Self::Fixed64(0))
    }
}

impl Number {
    /// Reads the text of a JSON string as a number: what JSON writes without quotes, and leading zeros or a plus.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            return None; // keeps out "inf" and "nan", which f64 would read
        }
        let unsigned = text.parse().map(Self::Unsigned).ok();
        let signed = || text.parse().map(Self::Signed).ok();
        let float = || text.parse::<f64>().ok().filter(|f| f.is_finite()).map(Self::Float);
        unsigned.or_else(signed).or_else(float)
    }

    /// The wire form of this number in a field of this kind; `None` if it is out of range, not integral where it must
    /// be, or the kind is no number.
    pub(super) fn to_wire(self, kind: Kind) -> Option<Scalar> {
        Some(match kind {
            // A negative int32 is sign-extended to 64 bits on the wire.
            Kind::Enum | Kind::Int32 | Kind::StringIndex => {
                Scalar::Varint(i64::from(i32::try_from(self.to_i64()?).ok()?).cast_unsigned())
            }
            Kind::Sint32 => {
                let n = i32::try_from(self.to_i64()?).ok()?;
                Scalar::Varint(u64::from(((n << 1) ^ (n >> 31)).cast_unsigned()))
            }
            Kind::Uint32 => Scalar::Varint(u64::from(u32::try_from(self.to_u64()?).ok()?)),
            Kind::Fixed32 => Scalar::Fixed32(u32::try_from(self.to_u64()?).ok()?),
            Kind::Int64 => Scalar::Varint(self.to_i64()?.cast_unsigned()),
            Kind::Uint64 => Scalar::Varint(self.to_u64()?),
            Kind::Fixed64 => Scalar::Fixed64(self.to_u64()?),
            Kind::Sfixed64 => Scalar::Fixed64(self.to_i64()?.cast_unsigned()),
            Kind::Double => Scalar::Fixed64(self.to_f64().to_bits()),
            Kind::Message(_) | Kind::Text | Kind::Bytes | Kind::Id(_) | Kind::Payload | Kind::Bool => {
                return None;
            }
        })
    }

    fn to_i64(self) -> Option<i64> {
        match self {
            Self::Unsigned(n) => i64::try_from(n).ok(),
            Self::Signed(n) => Some(n),
            // Both bounds are exact as f64; past them `as` would saturate.
            Self::Float(f) => (f.fract() == 0.0 && (-TWO_63..TWO_63).contains(&f)).then_some(f as i64),
        }
    }

    fn to_u64(self) -> Option<u64> {
        match self {
            Self::Unsigned(n) => Some(n),
            Self::Signed(n) => u64::try_from(n).ok(),
            Self::Float(f) => (f.fract() == 0.0 && (0.0..2.0 * TWO_63).contains(&f)).then_some(f as u64),
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Unsigned(n) => n as f64,
            Self::Signed(0) => -0.0, // only "-0" is read as that
            Self::Signed(n) => n as f64,
            Self::Float(f) => f,
        }
    }
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;
