//! Which three bytes a literal is found by.

use super::blocks::{BUCKETS, PRINT, Tables};
use super::grams::Grams;

/// With more literals so large a share of all bytes would look like the beginning of one that it is cheaper to search for the others.
const MOST: f64 = 0.12;

/// Spreads literals over the buckets of fingerprints, so that text of words and code meets few of them by chance.
#[derive(Debug, Default)]
pub(super) struct Spread {
    buckets: [Bucket; BUCKETS],
}

impl Spread {
    /// Adds a literal of at least [`PRINT`] bytes; false: there is no room for it.
    pub(super) fn add<W: Clone>(
        &mut self,
        tables: &mut Tables,
        grams: &mut Grams<W>,
        bytes: &[u8],
        what: W,
    ) -> bool {
        let mut best: Option<(f64, usize, usize)> = None;
        for (print, window) in bytes.windows(PRINT).enumerate() {
            for (at, bucket) in self.buckets.iter().enumerate() {
                let cost = bucket.with(window).chance() - bucket.chance();
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, print, at));
                }
            }
        }
        let Some((cost, print, at)) = best else { return false };
        if cost > 0.0 && self.chance() + cost > MOST {
            return false;
        }
        let window: [u8; PRINT] = std::array::from_fn(|n| bytes.get(print + n).copied().unwrap_or_default());
        tables.add_print(at, window);
        grams.add(bytes, print, what);
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket = bucket.with(&window);
        }
        true
    }

    /// How many bytes of a text look like the beginning of a literal, roughly.
    pub(super) fn chance(&self) -> f64 {
        self.buckets.iter().map(Bucket::chance).sum()
    }
}

/// Where in a literal its rarest three bytes begin.
pub(super) fn rarest(literal: &[u8]) -> usize {
    let chance =
        |(at, window): (usize, &[u8])| (window.iter().map(|b| frequency(b | 0x20)).product::<f64>(), at);
    let all = literal.windows(PRINT).enumerate().map(chance);
    all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, at)| at)
}

/// The low and the high four bits of each byte that a bucket's fingerprints have.
#[derive(Debug, Clone, Default)]
struct Bucket {
    nibbles: [(u16, u16); PRINT],
}

impl Bucket {
    fn with(&self, print: &[u8]) -> Self {
        let mut grown = self.clone();
        for ((low, high), byte) in grown.nibbles.iter_mut().zip(print) {
            let byte = byte | 0x20;
            *low |= 1 << (byte & 15);
            *high |= 1 << (byte >> 4);
        }
        grown
    }

    /// How likely three bytes of a text look like one of this bucket, roughly.
    fn chance(&self) -> f64 {
        let share = |(low, high): &(u16, u16)| -> f64 {
            let holds = |byte: &u8| low >> (byte & 15) & 1 == 1 && high >> (byte >> 4) & 1 == 1;
            (0x20..=0x7f).filter(|byte| byte & 0x20 != 0).filter(holds).map(frequency).sum::<f64>() / 100.0
        };
        self.nibbles.iter().map(share).product()
    }
}

/// How often a byte stands in texts, of a hundred. A guess that speed depends on, and nothing else.
fn frequency(byte: u8) -> f64 {
    const COMMON: &[u8] = b" etaionsrlcdupmhfg_.,b:yw=v-k\"/0x1()'2;j{}q3z4";
    match COMMON.iter().position(|common| *common == byte) {
        Some(place) => 9.0 / (1.0 + place as f64 * 0.35),
        None => 0.3,
    }
}
