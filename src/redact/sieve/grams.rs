//! Many literals, searched at once without ASCII case: each by four bytes of it, for which there is one bit.
//!
//! How many literals there are matters little: a byte of text costs one look at a table.

use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes by which a literal is found.
pub(super) const GRAM: usize = 4;
/// The bits of each byte that count; letters of both cases have the same.
const MASK: u32 = 0x1f1f_1f1f;
/// How many bytes differ in them.
const FOLDS: u32 = 32;
/// Bits of the filter for each gram: one byte in so many passes it by chance.
const SPARSE: usize = 32;

/// The literals.
#[derive(Debug)]
pub(super) struct Grams<W> {
    /// A bit for each gram that a literal is found by, by its hash. Small enough to stay at hand.
    known: Vec<u64>,
    /// By how much a hash is shifted to be the number of a bit.
    shift: u32,
    literals: BTreeMap<u32, Vec<Literal<W>>>,
    /// Of all grams in the order of `literals`: a table by hash, of number and place, for [`Self::verify`].
    slots: Vec<(u32, u32)>,
    lists: Vec<Vec<Literal<W>>>,
}

#[derive(Debug, Clone)]
struct Literal<W> {
    bytes: Vec<u8>,
    /// Where its gram begins in it.
    gram: usize,
    what: W,
}

impl<W: Clone> Grams<W> {
    /// No literal.
    pub(super) fn new() -> Self {
        Self { known: Vec::new(), shift: 31, literals: BTreeMap::new(), slots: Vec::new(), lists: Vec::new() }
    }

    /// Adds a literal, found by the gram that begins at `gram` in it. It may be shorter than that: then any bytes may follow.
    pub(super) fn add(&mut self, bytes: &[u8], gram: usize, what: W) {
        let mut numbers = vec![0_u32];
        for (nth, at) in (gram..gram + GRAM).enumerate() {
            let folds = match bytes.get(at) {
                Some(byte) => fold(*byte)..fold(*byte) + 1,
                None => 0..FOLDS,
            };
            numbers = numbers
                .iter()
                .flat_map(|number| folds.clone().map(move |fold| number | fold << (nth * 8)))
                .collect();
        }
        for number in numbers {
            let literal = Literal { bytes: bytes.to_ascii_lowercase(), gram, what: what.clone() };
            self.literals.entry(number).or_default().push(literal);
        }
    }

    /// Makes them ready to be searched.
    pub(super) fn finished(mut self) -> Self {
        let bits = (self.literals.len() * SPARSE).next_power_of_two().clamp(64, 1 << 24);
        self.shift = 32 - bits.trailing_zeros();
        self.known = vec![0; bits / 64];
        for number in self.literals.keys() {
            let bit = hash(*number) >> self.shift;
            if let Some(bits) = self.known.get_mut(bit as usize / 64) {
                *bits |= 1 << (bit % 64);
            }
        }
        let size = (self.literals.len() * 2).next_power_of_two();
        self.slots = vec![(u32::MAX, 0); size];
        for (number, list) in std::mem::take(&mut self.literals) {
            let place = self.lists.len() as u32;
            let free =
                self.slots_of(number).find(|slot| self.slots.get(*slot).is_some_and(|(n, _)| *n == u32::MAX));
            if let Some(slot) = free.and_then(|slot| self.slots.get_mut(slot)) {
                *slot = (number, place);
            }
            self.lists.push(list);
        }
        self
    }

    /// Where the place of a gram may be told, from the likeliest slot on.
    fn slots_of(&self, number: u32) -> impl Iterator<Item = usize> + use<W> {
        let size = self.slots.len();
        let first = (hash(number) >> 8) as usize;
        (0..size).map(move |step| (first + step) & (size - 1))
    }

    /// The literals of a gram.
    fn literals(&self, number: u32) -> &[Literal<W>] {
        for slot in self.slots_of(number) {
            match self.slots.get(slot) {
                Some((known, place)) if *known == number => {
                    return self.lists.get(*place as usize).map(Vec::as_slice).unwrap_or_default();
                }
                Some((known, _)) if *known != u32::MAX => {}
                _ => break,
            }
        }
        &[]
    }

    /// Whether there are no literals.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Calls `on` with each literal whose gram begins in a range of the text, and where the literal begins.
    #[inline]
    pub(super) fn each(&self, text: &[u8], range: Range<usize>, mut on: impl FnMut(&W, usize)) {
        // The last ones may reach behind the text.
        let safe = range.end.min(text.len().saturating_sub(GRAM - 1)).max(range.start);
        let run = text.get(range.start..safe + GRAM - 1).unwrap_or_default();
        for (at, gram) in run.windows(GRAM).enumerate() {
            let number = gram.first_chunk().map_or(0, |gram| number_of(*gram));
            if self.knows(number) {
                self.verify(text, range.start + at, number, &mut on);
            }
        }
        (safe..range.end).for_each(|at| self.at(text, at, &mut on));
    }

    /// Calls `on` with each literal whose gram stands at `at`.
    #[inline]
    pub(super) fn at(&self, text: &[u8], at: usize, mut on: impl FnMut(&W, usize)) {
        let rest = text.get(at..).unwrap_or_default();
        let number = match rest.first_chunk() {
            Some(gram) => number_of(*gram),
            None => number_of(std::array::from_fn(|nth| rest.get(nth).copied().unwrap_or_default())),
        };
        if self.knows(number) {
            self.verify(text, at, number, &mut on);
        }
    }

    #[inline]
    fn knows(&self, number: u32) -> bool {
        let bit = hash(number) >> self.shift;
        self.known.get(bit as usize / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
    }

    fn verify(&self, text: &[u8], at: usize, number: u32, on: &mut impl FnMut(&W, usize)) {
        for literal in self.literals(number) {
            let Some(start) = at.checked_sub(literal.gram) else { continue };
            let here = text.get(start..start + literal.bytes.len());
            if here.is_some_and(|here| here.eq_ignore_ascii_case(&literal.bytes)) {
                on(&literal.what, start);
            }
        }
    }
}

/// Spreads grams (Knuth, The Art of Computer Programming 3, 6.4: multiplication by the golden ratio).
#[inline]
fn hash(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

#[inline]
fn number_of(gram: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(gram) & MASK
}

/// The number of a byte: letters of both cases have the same, and some signs that of a letter.
#[inline]
fn fold(byte: u8) -> u32 {
    u32::from(byte & 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn finds_what_a_simple_search_finds(text in "[a-cA-C_-]{0,80}", from in 0..20_usize, literals in proptest::collection::vec("[a-c_-]{1,6}", 1..8)) {
            let mut grams = Grams::new();
            for (nth, literal) in literals.iter().enumerate() {
                grams.add(literal.as_bytes(), nth % literal.len(), nth);
            }
            let grams = grams.finished();
            let from = from.min(text.len());
            let mut found = Vec::new();
            grams.each(text.as_bytes(), from..text.len(), |what, at| found.push((*what, at)));
            let lower = text.to_ascii_lowercase();
            let mut expected = Vec::new();
            for (nth, literal) in literals.iter().enumerate() {
                for at in 0..lower.len() {
                    if lower[at..].starts_with(literal.as_str()) && at + nth % literal.len() >= from {
                        expected.push((nth, at));
                    }
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
