//! Base64 (standard, URL-safe, padded or not, wrapped), base32 and hex: runs of an alphabet that decode to text, or to
//! compressed text.
//!
//! A run may be glued to what stands before it (`\nU0VS...`, `path/U0VS...`), so every alignment is tried; a few characters
//! tell whether one can be text before anything is decoded. What decodes to binary is still handed on where it is long
//! enough to hold a secret, as [`Run::text`]` == false`.

use std::ops::Range;

use super::{View, is_printable};
use crate::decompress::{Coding, Decoder};

/// Shortest run that is looked at, in characters: 15 bytes of base64.
pub(in crate::redact) const MIN_BASE64: usize = 20;
/// Shortest hex run, in digits.
pub(super) const MIN_HEX: usize = 24;
/// Shortest run that is decoded although it is no text, in characters.
pub(super) const MIN_BINARY: usize = 64;
/// Shortest line of wrapped base64 or hex that continues on the next.
pub(super) const MIN_WRAPPED: usize = 40;
/// Printable bytes in a row that make a decoded run text.
pub(super) const MIN_TEXT: usize = 8;
/// Most blanks before a continued line.
const MAX_INDENT: usize = 32;

/// A decoded run.
pub(in crate::redact) struct Run {
    /// What it decodes to; the whole run is one unit.
    pub(in crate::redact) view: View,
    /// Whether that reads as text.
    pub(in crate::redact) text: bool,
}

/// Decodes the runs of `text`. `known` says of a range that it was decoded before, in an outer view.
pub(in crate::redact) fn each(
    text: &[u8],
    known: impl Fn(&Range<usize>) -> bool,
    mut found: impl FnMut(Run),
) {
    let mut at = 0;
    while let Some(first) = next_run(text, at, MIN_BASE64, is_base64) {
        let lines = wrapped(text, first.clone());
        let last = lines.last().map_or(first.end, |line| line.end);
        let whole = first.start..last;
        if !known(&whole) {
            if lines.is_empty() {
                run(text, std::slice::from_ref(&first), &mut found);
            } else {
                let mut all = vec![first];
                all.extend(lines);
                run(text, &all, &mut found);
            }
        }
        at = last;
    }
}

fn run(text: &[u8], lines: &[Range<usize>], found: &mut impl FnMut(Run)) {
    let mut joined = Vec::new();
    let chars: &[u8] = match lines {
        [line] => text.get(line.clone()).unwrap_or_default(),
        lines => {
            for line in lines {
                joined.extend_from_slice(text.get(line.clone()).unwrap_or_default());
            }
            &joined
        }
    };
    let place = Encoded { text, lines };
    let mut hex_end = 0;
    while let Some(digits) = next_run(chars, hex_end, MIN_HEX, |b| b.is_ascii_hexdigit()) {
        hex_end = digits.end;
        place.hex(chars, digits, found);
    }
    let mut base32_end = 0;
    while let Some(run) = next_run(chars, base32_end, MIN_HEX, is_base32) {
        base32_end = run.end;
        place.base32(chars, run, found);
    }
    place.base64(chars, found);
}

/// The characters of a run, and where they stand.
struct Encoded<'t> {
    text: &'t [u8],
    lines: &'t [Range<usize>],
}

impl Encoded<'_> {
    fn hex(&self, chars: &[u8], digits: Range<usize>, found: &mut impl FnMut(Run)) {
        let run = chars.get(digits.clone()).unwrap_or_default();
        for odd in 0..2 {
            let pairs = run.get(odd..).unwrap_or_default().chunks_exact(2);
            // The high digit of printable ASCII is 2 to 7; of line ends and tabs 0.
            let ascii = |pair: &[u8]| matches!(pair.first(), Some(b'2'..=b'7' | b'0'));
            if !pairs.clone().take(8).all(ascii) && !pairs.clone().skip(8).take(8).all(ascii) {
                continue;
            }
            let bytes: Vec<u8> = pairs.filter_map(hex_byte).collect();
            if let Some(from) = text_start(&bytes) {
                let start = digits.start + odd + from * 2;
                self.emit(start..digits.end, bytes, from, found);
                return;
            }
        }
    }

    fn base32(&self, chars: &[u8], run: Range<usize>, found: &mut impl FnMut(Run)) {
        let bytes = decode_base32(chars.get(run.clone()).unwrap_or_default());
        if text_start(&bytes) == Some(0) {
            self.emit(run, bytes, 0, found);
        }
    }

    fn base64(&self, chars: &[u8], found: &mut impl FnMut(Run)) {
        let mut decoded = false;
        if chars.len() >= MIN_BINARY && self.compressed(chars, found) {
            return;
        }
        for skip in 0..4 {
            let aligned = chars.get(skip..).unwrap_or_default();
            if !may_be_text(aligned) {
                continue;
            }
            let mut bytes = decode_base64(aligned);
            let zeros = bytes.iter().filter(|b| **b == 0).count();
            if zeros * 5 >= bytes.len() * 2 {
                // UTF-16 of ASCII text.
                bytes.retain(|b| *b != 0);
                if text_start(&bytes).is_some() {
                    let whole = super::is_text(&bytes);
                    self.emit(skip..chars.len(), bytes, 0, found);
                    if whole {
                        return;
                    }
                }
            } else if skip == 0 && zeros * 16 >= bytes.len() {
                // UTF-16 of text that is partly ASCII.
                bytes.retain(|b| *b != 0);
                if text_start(&bytes).is_some() {
                    self.emit(0..chars.len(), bytes, 0, found);
                }
            } else if let Some(from) = text_start(&bytes) {
                self.emit(skip + from / 3 * 4..chars.len(), bytes, from, found);
                decoded = true;
                if from == 0 {
                    return;
                }
            }
        }
        if !decoded && chars.len() >= MIN_BINARY {
            let bytes = decode_base64(chars);
            found(Run { view: View::of_unit(self.source(0..chars.len()), bytes), text: false });
        }
    }

    /// Whether the run is compressed text.
    fn compressed(&self, chars: &[u8], found: &mut impl FnMut(Run)) -> bool {
        let Some(bytes) =
            may_be_compressed(chars).then(|| decode_base64(chars)).and_then(|bytes| inflated(&bytes))
        else {
            return false;
        };
        found(Run { view: View::of_unit(self.source(0..chars.len()), bytes), text: true });
        true
    }

    fn emit(&self, chars: Range<usize>, mut bytes: Vec<u8>, from: usize, found: &mut impl FnMut(Run)) {
        bytes.drain(..from.min(bytes.len()));
        let text = super::is_text(&bytes);
        found(Run { view: View::of_unit(self.source(chars), bytes), text });
    }

    /// Where characters of the run stand in the text, padding included.
    fn source(&self, chars: Range<usize>) -> Range<usize> {
        let mut before = 0;
        let mut start = None;
        let mut end = 0;
        for line in self.lines {
            if start.is_none() && chars.start < before + line.len() {
                start = Some(line.start + (chars.start - before));
            }
            if chars.end > before {
                end = line.start + (chars.end - before).min(line.len());
            }
            before += line.len();
        }
        let padding =
            self.text.get(end..).unwrap_or_default().iter().take(6).take_while(|b| **b == b'=').count();
        start.unwrap_or(end)..end + padding
    }
}

/// The next run of at least `min` bytes of a class, from `at` on. Looks at the last byte of a window first, so that most
/// of a text without runs is skipped.
pub(super) fn next_run(
    text: &[u8],
    at: usize,
    min: usize,
    class: impl Fn(u8) -> bool,
) -> Option<Range<usize>> {
    let mut start = at;
    loop {
        let window = text.get(start..start + min)?;
        match window.iter().rposition(|b| !class(*b)) {
            Some(other) => start += other + 1,
            None => {
                let rest = text.get(start + min..).unwrap_or_default();
                let more = rest.iter().position(|b| !class(*b)).unwrap_or(rest.len());
                return Some(start..start + min + more);
            }
        }
    }
}

/// The lines that continue a run: all as long as the first, the last may be shorter.
fn wrapped(text: &[u8], first: Range<usize>) -> Vec<Range<usize>> {
    let width = first.len();
    let mut lines = Vec::new();
    if width < MIN_WRAPPED || !width.is_multiple_of(4) {
        return lines;
    }
    let mut end = first.end;
    while let Some(start) = next_line(text, end) {
        let rest = text.get(start..).unwrap_or_default();
        let len = rest.iter().take(width + 1).take_while(|b| is_base64(**b)).count();
        if len == 0 || len > width {
            break;
        }
        end = start + len;
        lines.push(start..end);
        if len < width {
            break;
        }
    }
    lines
}

/// Where the next line begins, its indentation skipped, if a line ends at `end`.
pub(super) fn next_line(text: &[u8], end: usize) -> Option<usize> {
    let rest = text.get(end..)?;
    let ending = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.first() == Some(&b'\n')) };
    if ending == 0 {
        return None;
    }
    let indent = rest.iter().skip(ending).take(MAX_INDENT).take_while(|b| matches!(b, b' ' | b'\t')).count();
    Some(end + ending + indent)
}

/// Whether text can begin at this alignment: the first character of a group of four holds the high bit of a byte,
/// which is zero in ASCII. Looks at a few groups from the middle on.
pub(super) fn may_be_text(chars: &[u8]) -> bool {
    const GROUPS: usize = 6;
    let groups = chars.len() / 4;
    let skip = if groups > 2 * GROUPS { groups / 2 } else { groups.saturating_sub(GROUPS) };
    chars
        .chunks_exact(4)
        .skip(skip)
        .take(GROUPS)
        .all(|group| group.first().is_some_and(|b| six_bits(*b) < 32))
}

/// Where text begins in decoded bytes: the first of [`MIN_TEXT`] printable bytes in a row.
pub(super) fn text_start(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !is_printable(*byte) {
            start = at + 1;
        } else if at + 1 - start >= MIN_TEXT {
            return Some(start);
        }
    }
    None
}

/// Whether base64 begins like gzip or zlib.
pub(super) fn may_be_compressed(chars: &[u8]) -> bool {
    chars.starts_with(b"H4sI") || chars.starts_with(b"eJ") || chars.starts_with(b"eN")
}

/// What compressed bytes begin with: gzip or zlib of any level. Only so much as their length pays for.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    const RATIO: usize = 32;
    let coding = match bytes {
        [0x1f, 0x8b, 8, ..] => Coding::Gzip,
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Coding::Deflate,
        _ => return None,
    };
    let mut decoder = Decoder::new(coding, bytes.len() * RATIO).ok()?;
    // What is cut off or too long counts as far as it goes.
    let _incomplete = decoder.push(bytes, &mut |_| Ok(()));
    Some(decoder.into_partial()).filter(|out| text_start(out).is_some())
}

pub(super) fn is_base32(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'2'..=b'7')
}

/// RFC 4648, table 3.
fn decode_base32(chars: &[u8]) -> Vec<u8> {
    let five_bits = |byte: &u8| if byte.is_ascii_digit() { byte - b'2' + 26 } else { byte - b'A' };
    let mut bytes = Vec::with_capacity(chars.len() / 8 * 5 + 5);
    for group in chars.chunks(8) {
        let word = group.iter().fold(0_u64, |word, b| (word << 5) | u64::from(five_bits(b)));
        let word = word << (5 * (8 - group.len()));
        let [_, _, _, octets @ ..] = word.to_be_bytes();
        bytes.extend_from_slice(octets.get(..group.len() * 5 / 8).unwrap_or_default());
    }
    bytes
}

pub(in crate::redact) fn is_base64(byte: u8) -> bool {
    six_bits(byte) < 64
}

/// RFC 4648, tables 1 and 2 at once; 64 for any other byte.
pub(super) const fn six_bits(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => 64,
    }
}

fn decode_base64(chars: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(chars.len() / 4 * 3 + 2);
    for group in chars.chunks(4) {
        let word = group.iter().fold(0_u32, |word, b| (word << 6) | u32::from(six_bits(*b)));
        let word = word << (6 * (4 - group.len()));
        let [_, octets @ ..] = word.to_be_bytes();
        bytes.extend_from_slice(octets.get(..(group.len() * 3) / 4).unwrap_or_default());
    }
    bytes
}

fn hex_byte(pair: &[u8]) -> Option<u8> {
    let digit = |at: usize| pair.get(at).and_then(|b| char::from(*b).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}
