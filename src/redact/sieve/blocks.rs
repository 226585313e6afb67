//! Looks at a text in blocks of 64 bytes: which bytes are of which class, and where one of many literals may begin.
//!
//! With AVX2 where the processor has it, else with tables; a test holds the two equal. This is the only file of the engine with
//! `unsafe`: a call of code for AVX2 behind its detection, and loads of whole vectors from arrays of fixed length.

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;
/// Blocks that are looked at together.
pub(super) const BLOCKS: usize = 8;
/// Bytes of a fingerprint.
pub(super) const PRINT: usize = 3;
/// Banks of eight buckets.
const BANKS: usize = 2;
/// Sets of fingerprints that are looked for together.
pub(super) const BUCKETS: usize = 8 * BANKS;
/// A block, and what a fingerprint that begins in it may reach.
const WINDOW: usize = BLOCK + PRINT - 1;

/// Sets of bytes, each of which has its own mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// What tokens are made of.
    Token,
    /// What random values are made of.
    Random,
    /// What numbers and their separators are made of.
    Digits,
    /// Where a token may be parted: line ends, quotes, tags.
    Break,
    /// What stands before such a place.
    Before,
    /// What an escape may begin with.
    Escape,
}

const CLASSES: usize = 6;

impl Class {
    const ALL: [Self; CLASSES] =
        [Self::Token, Self::Random, Self::Digits, Self::Break, Self::Before, Self::Escape];
}

/// What stands in a block, a bit a byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    classes: [u64; CLASSES],
    /// Where a fingerprint begins: a literal may stand there.
    pub(super) literal: u64,
}

impl Masks {
    pub(super) fn of(&self, class: Class) -> u64 {
        self.classes.get(class as usize).copied().unwrap_or_default()
    }
}

/// What is looked for.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// For each byte, a bit for each class.
    class_bits: Vec<u8>,
    /// For each class: by low four bits, which high four bits are in it; those below 8, then those from 8 on.
    rows: [[[u8; 16]; 2]; CLASSES],
    /// For each byte of a fingerprint, by its low and by its high four bits: the buckets that hold such a one. Eight buckets a bank.
    prints: [[[[u8; 16]; 2]; PRINT]; BANKS],
}

impl Tables {
    /// Tables for these sets, without fingerprints.
    pub(super) fn new(is_in: impl Fn(Class, u8) -> bool) -> Self {
        let mut tables = Self {
            class_bits: vec![0; 256],
            rows: [[[0; 16]; 2]; CLASSES],
            prints: [[[[0; 16]; 2]; PRINT]; BANKS],
        };
        for class in Class::ALL {
            for byte in (0..=u8::MAX).filter(|byte| is_in(class, *byte)) {
                let (low, high) = (usize::from(byte & 15), usize::from(byte >> 4));
                if let Some(bits) = tables.class_bits.get_mut(usize::from(byte)) {
                    *bits |= 1 << class as usize;
                }
                let rows = tables.rows.get_mut(class as usize).and_then(|halves| halves.get_mut(high / 8));
                if let Some(row) = rows.and_then(|rows| rows.get_mut(low)) {
                    *row |= 1 << (high % 8);
                }
            }
        }
        tables
    }

    /// Adds a fingerprint, in lower case, to one of the [`BUCKETS`].
    pub(super) fn add_print(&mut self, bucket: usize, print: [u8; PRINT]) {
        for (tables, byte) in self.prints.iter_mut().skip(bucket / 8).take(1).flatten().zip(print) {
            let [low, high] = tables;
            for (table, nibble) in [(low, fold(byte) & 15), (high, fold(byte) >> 4)] {
                if let Some(buckets) = table.get_mut(usize::from(nibble)) {
                    *buckets |= 1 << (bucket % 8);
                }
            }
        }
    }

    /// Whether a fingerprint may stand at `at`.
    fn is_print(&self, text: &[u8], at: usize) -> bool {
        self.prints.iter().any(|bank| {
            let bytes = (at..).map(|at| text.get(at).copied().unwrap_or_default());
            bank.iter().zip(bytes).fold(u8::MAX, |buckets, (tables, byte)| buckets & bucket(tables, byte))
                != 0
        })
    }

    /// Looks at up to [`BLOCKS`] blocks of `text` from `at` on. Returns how many there were; bits beyond the text are zero.
    pub(super) fn look(&self, text: &[u8], at: usize, masks: &mut [Masks; BLOCKS]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return avx2::look(self, text, at, masks);
        }
        self.look_by_table(text, at, masks)
    }

    fn look_by_table(&self, text: &[u8], at: usize, masks: &mut [Masks; BLOCKS]) -> usize {
        each_window(text, at, masks, |window, masks| *masks = self.block(window))
    }

    fn block(&self, window: &[u8; WINDOW]) -> Masks {
        let mut masks = Masks::default();
        for (n, byte) in window.iter().take(BLOCK).enumerate() {
            let bits = self.class_bits.get(usize::from(*byte)).copied().unwrap_or_default();
            for (class, mask) in masks.classes.iter_mut().enumerate() {
                *mask |= u64::from(bits >> class & 1) << n;
            }
            masks.literal |= u64::from(self.is_print(window, n)) << n;
        }
        masks
    }
}

/// Lower case, if it is a letter: what a fingerprint is compared by.
fn fold(byte: u8) -> u8 {
    byte | 0x20
}

fn bucket([low, high]: &[[u8; 16]; 2], byte: u8) -> u8 {
    let byte = fold(byte);
    let of = |table: &[u8; 16], nibble: u8| table.get(usize::from(nibble)).copied().unwrap_or_default();
    of(low, byte & 15) & of(high, byte >> 4)
}

/// Calls `block` with each block of the text from `at` on, filled with zeros at its end, and cuts what it says there.
#[inline]
fn each_window(
    text: &[u8],
    at: usize,
    masks: &mut [Masks; BLOCKS],
    mut block: impl FnMut(&[u8; WINDOW], &mut Masks),
) -> usize {
    let mut count = 0;
    for (n, masks) in masks.iter_mut().enumerate() {
        let rest = text.get(at + n * BLOCK..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        count += 1;
        if let Some(window) = rest.first_chunk() {
            block(window, masks);
            continue;
        }
        let mut window = [0; WINDOW];
        if let Some(window) = window.get_mut(..rest.len()) {
            window.copy_from_slice(rest);
        }
        block(&window, masks);
        if rest.len() < BLOCK {
            let inside = !(u64::MAX << rest.len());
            masks.classes.iter_mut().for_each(|mask| *mask &= inside);
            masks.literal &= inside;
        }
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "measured: 7 times as fast as the tables")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_xor_si256,
    };

    use super::{BANKS, BLOCKS, CLASSES, Masks, PRINT, Tables, WINDOW, each_window};

    /// As `look_by_table`. To be called only where there is AVX2.
    pub(super) fn look(tables: &Tables, text: &[u8], at: usize, masks: &mut [Masks; BLOCKS]) -> usize {
        debug_assert!(std::arch::is_x86_feature_detected!("avx2"), "the caller has to ask");
        // SAFETY: the only caller has found that the processor has AVX2.
        unsafe { look_here(tables, text, at, masks) }
    }

    #[target_feature(enable = "avx2")]
    fn look_here(tables: &Tables, text: &[u8], at: usize, masks: &mut [Masks; BLOCKS]) -> usize {
        let rows = tables.rows.each_ref().map(|halves| halves.each_ref().map(|half| twice(half)));
        let prints = tables
            .prints
            .each_ref()
            .map(|bank| bank.each_ref().map(|halves| halves.each_ref().map(|half| twice(half))));
        each_window(text, at, masks, |window, masks| {
            let low = half::<0>(window, &rows, &prints);
            let high = half::<32>(window, &rows, &prints);
            for ((mask, low), high) in masks.classes.iter_mut().zip(low.0).zip(high.0) {
                *mask = u64::from(low) | u64::from(high) << 32;
            }
            masks.literal = u64::from(low.1) | u64::from(high.1) << 32;
        })
    }

    /// The masks of 32 bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn half<const FROM: usize>(
        window: &[u8; WINDOW],
        rows: &[[__m256i; 2]; CLASSES],
        prints: &[[[__m256i; 2]; PRINT]; BANKS],
    ) -> ([u32; CLASSES], u32) {
        let bytes = load::<FROM>(window);
        // The bit of the high four bits in a row; a shuffle reads zero where the top bit is set.
        let bit_of = twice(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
        let bit = _mm256_shuffle_epi8(bit_of, high_nibble(bytes));
        let flipped = _mm256_xor_si256(bytes, _mm256_set1_epi8(i8::MIN));
        let classes = rows.each_ref().map(|[below, above]| {
            let row =
                _mm256_or_si256(_mm256_shuffle_epi8(*below, bytes), _mm256_shuffle_epi8(*above, flipped));
            mask(_mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit))
        });
        // The same bytes for both banks: their nibbles are taken once.
        let bytes = [bytes, load_from(window, FROM + 1), load_from(window, FROM + 2)].map(|bytes| {
            let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
            [_mm256_and_si256(folded, _mm256_set1_epi8(15)), high_nibble(folded)]
        });
        let mut buckets = _mm256_setzero_si256();
        for bank in prints {
            let mut here = _mm256_set1_epi8(-1);
            for ([low, high], [low_nibble, high_nibble]) in bank.iter().zip(&bytes) {
                here = _mm256_and_si256(here, _mm256_shuffle_epi8(*low, *low_nibble));
                here = _mm256_and_si256(here, _mm256_shuffle_epi8(*high, *high_nibble));
            }
            buckets = _mm256_or_si256(buckets, here);
        }
        (classes, !mask(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256())))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn high_nibble(bytes: __m256i) -> __m256i {
        _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const FROM: usize>(window: &[u8; WINDOW]) -> __m256i {
        const { assert!(FROM + 32 <= WINDOW) };
        load_from(window, FROM)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_from(window: &[u8; WINDOW], from: usize) -> __m256i {
        let bytes: &[u8; 32] = match window.get(from..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => bytes,
            None => return _mm256_setzero_si256(),
        };
        // SAFETY: the load is unaligned, of 32 bytes that are there.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    /// A table of 16 bytes in both lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; 16]) -> __m256i {
        // SAFETY: the load is unaligned, of 16 bytes that are there.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tables() -> Tables {
        let mut tables = Tables::new(|class, byte| match class {
            Class::Token => byte.is_ascii_alphanumeric() || b"_-./+=~%".contains(&byte),
            Class::Random | Class::Digits => byte.is_ascii_hexdigit(),
            Class::Break => b"\n+".contains(&byte),
            Class::Before => byte.is_ascii_punctuation(),
            Class::Escape => byte == 0 || byte >= 0xc2 || byte == b'\\',
        });
        for (bucket, print) in [*b"key", *b"pas", *b"://", *b"=3d"].into_iter().enumerate() {
            tables.add_print(bucket * 5, print);
        }
        tables
    }

    fn check(text: &[u8]) {
        let tables = tables();
        for at in (0..text.len()).step_by(BLOCK * BLOCKS) {
            let (mut here, mut twin) = ([Masks::default(); BLOCKS], [Masks::default(); BLOCKS]);
            assert_eq!(tables.look(text, at, &mut here), tables.look_by_table(text, at, &mut twin));
            assert_eq!(here, twin);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn vectors_and_tables_see_the_same(text in proptest::collection::vec(any::<u8>(), 0..1300)) {
            check(&text);
        }

        #[test]
        fn also_in_text(text in "[ -~]{0,20}(key|PASS|://|=3D|\n|é|\\\\){0,40}[a-z]{0,64}") {
            check(text.as_bytes());
        }
    }

    #[test]
    fn every_byte_is_of_its_class() {
        let text: Vec<u8> = (0..=255).collect();
        let mut masks = [Masks::default(); BLOCKS];
        assert_eq!(tables().look(&text, 0, &mut masks), 4);
        let token = |byte: usize| masks[byte / 64].of(Class::Token) >> (byte % 64) & 1 == 1;
        for byte in 0..=255_u8 {
            let expected = byte.is_ascii_alphanumeric() || b"_-./+=~%".contains(&byte);
            assert_eq!(token(usize::from(byte)), expected, "{byte}");
        }
        assert_eq!(masks[0].of(Class::Break), 1 << 10 | 1 << 43);
    }
}
