//! What a run of base64 or hex decodes to, told without decoding it as a whole: a trigger for `runs`.
//!
//! Says text too often, never too seldom. Allocates nothing.

use std::ops::Range;

use super::is_printable;
use super::runs::{
    MIN_BASE64, MIN_BINARY, MIN_HEX, MIN_TEXT, MIN_WRAPPED, is_base32, is_base64, may_be_compressed,
    may_be_text, next_line, next_run, six_bits,
};

/// What a run may decode to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Decodes {
    /// Nothing that is handed on.
    No,
    /// Text, or the run goes on in the next line.
    Text,
    /// Binary, long enough to hold a secret.
    Binary,
}

/// The next run that `runs` looks at, from `at` on.
pub(in crate::redact) fn next(text: &[u8], at: usize) -> Option<Range<usize>> {
    next_run(text, at, MIN_BASE64, is_base64)
}

/// What a run decodes to.
pub(in crate::redact) fn decodes(text: &[u8], run: &Range<usize>) -> Decodes {
    let chars = text.get(run.clone()).unwrap_or_default();
    let skipped = |skip| chars.get(skip..).unwrap_or_default();
    if goes_on(text, run)
        || (chars.len() >= MIN_BINARY && may_be_compressed(chars))
        || (0..4).any(|skip| may_be_text(skipped(skip)) && has_text(base64(skipped(skip))))
        || any_run(chars, |byte| byte.is_ascii_hexdigit(), is_hex_text)
        || any_run(chars, is_base32, is_base32_text)
    {
        return Decodes::Text;
    }
    if chars.len() >= MIN_BINARY { Decodes::Binary } else { Decodes::No }
}

/// Decodes base64 into `buffer`, as far as it reaches.
pub(in crate::redact) fn decode_into<'b>(chars: &[u8], buffer: &'b mut [u8]) -> &'b [u8] {
    let mut len = 0;
    for (byte, slot) in base64(chars).zip(buffer.iter_mut()) {
        *slot = byte;
        len += 1;
    }
    buffer.get(..len).unwrap_or_default()
}

/// Whether a run is a line of several.
fn goes_on(text: &[u8], run: &Range<usize>) -> bool {
    let is_line = run.len() >= MIN_WRAPPED && run.len().is_multiple_of(4);
    is_line && next_line(text, run.end).is_some_and(|next| text.get(next).is_some_and(|b| is_base64(*b)))
}

fn any_run(chars: &[u8], class: impl Fn(u8) -> bool + Copy, test: impl Fn(&[u8]) -> bool) -> bool {
    let mut at = 0;
    while let Some(run) = next_run(chars, at, MIN_HEX, class) {
        at = run.end;
        if test(chars.get(run).unwrap_or_default()) {
            return true;
        }
    }
    false
}

fn is_hex_text(digits: &[u8]) -> bool {
    (0..2).any(|odd| {
        let pairs = digits.get(odd..).unwrap_or_default().chunks_exact(2);
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        has_text(pairs.filter_map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        }))
    })
}

/// Whether it begins with text: base32 is tried at one alignment only.
fn is_base32_text(chars: &[u8]) -> bool {
    let five_bits = |byte: u8| if byte.is_ascii_digit() { byte - b'2' + 26 } else { byte - b'A' };
    let (mut word, mut bits, mut count) = (0_u32, 0, 0);
    for byte in chars {
        word = word << 5 | u32::from(five_bits(*byte));
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            let [.., byte] = (word >> bits).to_be_bytes();
            if !is_printable(byte) {
                return false;
            }
            count += 1;
            if count == MIN_TEXT {
                return true;
            }
        }
    }
    false
}

/// Whether so many printable bytes stand in a row, with or without the zeros between them.
fn has_text(bytes: impl Iterator<Item = u8>) -> bool {
    let mut row = 0;
    for byte in bytes.filter(|byte| *byte != 0) {
        row = if is_printable(byte) { row + 1 } else { 0 };
        if row == MIN_TEXT {
            return true;
        }
    }
    false
}

fn base64(chars: &[u8]) -> impl Iterator<Item = u8> {
    let (mut word, mut bits) = (0_u32, 0);
    chars.iter().filter_map(move |byte| {
        word = word << 6 | u32::from(six_bits(*byte));
        bits += 6;
        let [.., byte] = (word >> (bits & 7)).to_be_bytes();
        let whole = bits >= 8;
        bits &= 7;
        whole.then_some(byte)
    })
}
