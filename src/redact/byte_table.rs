//! Sets of bytes that are asked for at every byte of a text: one look at a table.

/// A set of bytes.
#[derive(Debug)]
pub(super) struct ByteTable([bool; 256]);

impl ByteTable {
    /// ASCII letters, digits, and these signs.
    #[allow(clippy::indexing_slicing, reason = "evaluated by the compiler: out of bounds would not build")]
    pub(super) const fn letters_and_digits(signs: &[u8]) -> Self {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = byte < 128 && (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        let mut at = 0;
        while at < signs.len() {
            table[signs[at] as usize] = true;
            at += 1;
        }
        Self(table)
    }

    /// Whether it holds the byte.
    #[inline]
    pub(super) fn holds(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }
}
