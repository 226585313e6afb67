//! One request on disk: a header, then the redacted body, with checksums of our own. The store below gives back flipped
//! bits without an error (docs/reliability.md), so nothing that it returns is believed before it has been checked here.
//!
//! ```text
//! magic 8 | number 8 | accepted 8 | items 8 | body length 8 | signal 1 | format 1 | hops 1 | 0 | CRC of the header 4 | CRC of all 4 | body
//! ```
//!
//! Integers are little endian. Both checksums begin with the store's random key, so that text which looks like a record
//! inside of a body can't pass for one when a damaged file is searched. No I/O here.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::otlp::Signal;

/// What every record and every mark begins with.
pub(super) const PREFIX: [u8; 4] = *b"\xB1BBQ";
const RECORD: [u8; 8] = *b"\xB1BBQREC1";
const MARK: [u8; 8] = *b"\xB1BBQMRK1";
/// Bytes before the body.
pub(super) const HEADER: usize = 52;
/// The body is an export request in protobuf.
const PROTOBUF: u8 = 0;
/// The most numbers that a mark lists.
const MOST_GAPS: u64 = 256;
/// The longest mark, in bytes.
pub(super) const LONGEST_MARK: usize = 44 + 8 * MOST_GAPS as usize;

/// Random bytes that the checksums of one store begin with. Not a secret: it only must not be known to who sends telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) [u8; 16]);

impl Key {
    fn crc(&self, parts: &[&[u8]]) -> [u8; 4] {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.0);
        for part in parts {
            crc.update(part);
        }
        crc.finalize().to_le_bytes()
    }
}

/// What a record says of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Its place in the order in which requests were accepted.
    pub(super) number: u64,
    /// When it was accepted.
    pub(super) accepted: SystemTime,
    /// Spans, log records, data points or profiles in it.
    pub(super) items: u64,
    /// Length of the body, in bytes.
    pub(super) length: u64,
    /// Which export request it is.
    pub(super) signal: Signal,
    /// How many Blackbars it has passed: without it a loop through queues would never end.
    pub(super) hops: u8,
}

/// A record that passed its checks.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) header: Header,
    pub(super) body: Bytes,
}

/// These bytes are not the record that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

/// Writes a record.
pub(super) fn encode(key: &Key, header: &Header, body: &[u8]) -> Vec<u8> {
    let accepted = header.accepted.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend(RECORD);
    out.extend(header.number.to_le_bytes());
    out.extend(u64::try_from(accepted).unwrap_or(u64::MAX).to_le_bytes());
    out.extend(header.items.to_le_bytes());
    out.extend((body.len() as u64).to_le_bytes());
    out.extend([code(header.signal), PROTOBUF, header.hops, 0]);
    let own = key.crc(&[&out]);
    out.extend(own);
    let all = key.crc(&[&out, body]);
    out.extend(all);
    out.extend(body);
    out
}

/// Reads the header alone, if it is whole. The body may still be damaged.
pub(super) fn header(key: &Key, bytes: &[u8]) -> Option<Header> {
    let mut fields = Fields(bytes);
    if fields.take()? != RECORD {
        return None;
    }
    let (number, accepted, items, length) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
    let [signal, format, hops, 0] = fields.take()? else { return None };
    let crc: [u8; 4] = fields.take()?;
    if key.crc(&[bytes.get(..HEADER - 8)?]) != crc || format != PROTOBUF {
        return None;
    }
    let accepted = UNIX_EPOCH.checked_add(Duration::from_millis(accepted))?;
    let signal = Signal::ALL.into_iter().find(|known| code(*known) == signal)?;
    Some(Header { number, accepted, items, length, signal, hops })
}

/// Reads a record; `bytes` holds it and nothing else.
///
/// # Errors
///
/// [`Damaged`] if a single bit is not as it was written.
pub(super) fn decode(key: &Key, bytes: Bytes) -> Result<Record, Damaged> {
    let header = header(key, &bytes).ok_or(Damaged)?;
    let (before, after) = bytes.split_at_checked(HEADER - 4).ok_or(Damaged)?;
    let (crc, body) = after.split_at_checked(4).ok_or(Damaged)?;
    if body.len() as u64 != header.length || key.crc(&[before, body]) != crc {
        return Err(Damaged);
    }
    Ok(Record { header, body: bytes.slice(HEADER..) })
}

/// Stable on disk: never renumber.
const fn code(signal: Signal) -> u8 {
    match signal {
        Signal::Traces => 1,
        Signal::Metrics => 2,
        Signal::Logs => 3,
        Signal::Profiles => 4,
    }
}

/// Which numbers are alive, written with every commit: when a damaged file is searched for records, this tells those that
/// were delivered from those that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// Counts commits: of several marks in a file the highest is the newest.
    pub(super) commit: u64,
    /// The next number to give.
    pub(super) next: u64,
    /// No lower number is alive.
    pub(super) floor: u64,
    /// From `floor` on, the numbers that are not alive; `None`: too many to list.
    pub(super) gone: Option<Vec<u64>>,
}

impl Mark {
    /// Describes these numbers, in ascending order.
    pub(super) fn of(commit: u64, next: u64, alive: &std::collections::BTreeSet<u64>) -> Self {
        let floor = alive.first().copied().unwrap_or(next);
        let missing = (next - floor).saturating_sub(alive.len() as u64);
        if missing > MOST_GAPS {
            return Self { commit, next, floor, gone: None };
        }
        let mut gone = Vec::new();
        let mut expected = floor;
        for number in alive.iter().copied().chain([next]) {
            if gone.len() as u64 == missing {
                break;
            }
            gone.extend(expected..number);
            expected = number + 1;
        }
        Self { commit, next, floor, gone: Some(gone) }
    }

    /// Whether a record of this number has not been delivered, as far as this mark knows.
    pub(super) fn may_be_alive(&self, number: u64) -> bool {
        number >= self.floor && self.gone.as_ref().is_none_or(|gone| gone.binary_search(&number).is_err())
    }

    /// Every number that must be in the store; `None`: not known.
    pub(super) fn alive(&self) -> Option<impl Iterator<Item = u64>> {
        let gone = self.gone.as_ref()?;
        Some((self.floor..self.next).filter(|number| gone.binary_search(number).is_err()))
    }

    /// Writes the mark.
    pub(super) fn encode(&self, key: &Key) -> Vec<u8> {
        let listed = self.gone.as_deref().unwrap_or_default();
        let count = if self.gone.is_some() { listed.len() as u64 } else { u64::MAX };
        let mut out = Vec::from(MARK);
        for field in [self.commit, self.next, self.floor, count].iter().chain(listed) {
            out.extend(field.to_le_bytes());
        }
        let crc = key.crc(&[&out]);
        out.extend(crc);
        out
    }

    /// Reads a mark at the beginning of `bytes`.
    pub(super) fn decode(key: &Key, bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.take()? != MARK {
            return None;
        }
        let (commit, next, floor, count) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
        let gone = match count {
            u64::MAX => None,
            0..=MOST_GAPS => Some((0..count).map(|_| fields.u64()).collect::<Option<Vec<_>>>()?),
            _ => return None,
        };
        let crc: [u8; 4] = fields.take()?;
        let length = bytes.len().checked_sub(fields.0.len() + 4)?;
        let whole = key.crc(&[bytes.get(..length)?]) == crc && floor <= next;
        whole.then_some(Self { commit, next, floor, gone })
    }
}

/// Fixed-size fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const KEY: Key = Key(*b"0123456789abcdef");

    proptest! {
        /// Any single flipped bit and any cut is noticed.
        #[test]
        fn what_is_damaged_is_not_believed(
            body in proptest::collection::vec(any::<u8>(), 0..200),
            (number, items, millis) in (any::<u64>(), any::<u64>(), 0..1u64 << 44),
            (signal, hops) in (0..4usize, any::<u8>()),
            at in any::<prop::sample::Index>(),
            bit in 0..8u8,
        ) {
            let accepted = UNIX_EPOCH + Duration::from_millis(millis);
            let (length, signal) = (body.len() as u64, Signal::ALL[signal]);
            let header = Header { number, accepted, items, length, signal, hops };
            let bytes = encode(&KEY, &header, &body);
            let whole = decode(&KEY, bytes.clone().into()).unwrap_or_else(|Damaged| panic!("damaged"));
            prop_assert_eq!(whole.header, header);
            prop_assert_eq!(&whole.body[..], &body[..]);
            let at = at.index(bytes.len());
            prop_assert!(decode(&KEY, Bytes::copy_from_slice(&bytes[..at])).is_err());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            prop_assert!(decode(&KEY, flipped.into()).is_err());
            prop_assert!(decode(&Key([0; 16]), bytes.into()).is_err(), "another store's record");
        }

        /// A mark says exactly which numbers are alive, or that it does not know.
        #[test]
        fn a_mark_knows_what_is_alive(
            alive in proptest::collection::btree_set(0..400u64, 0..200),
            more in 0..300u64,
            rest in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let next = alive.last().map_or(0, |last| last + 1) + more;
            let mark = Mark::of(7, next, &alive);
            let mut bytes = mark.encode(&KEY);
            prop_assert!(bytes.len() <= LONGEST_MARK);
            bytes.extend(rest);
            prop_assert_eq!(Mark::decode(&KEY, &bytes), Some(mark.clone()));
            match mark.alive() {
                Some(numbers) => prop_assert_eq!(numbers.collect::<BTreeSet<_>>(), alive),
                None => prop_assert!(alive.iter().all(|number| mark.may_be_alive(*number))),
            }
        }
    }
}
