//! Bytes written as numbers: dumps of `xxd`, `hexdump` and `od`, spaced or colon-separated hex, arrays of bytes of any language
//! (`0x67, 0x68`, `[103, 104]`, `[103 104]`, `01100111`).
//!
//! A number is a unit of the map; of a dump a whole line is, since the text stands beside the numbers again.

use std::ops::Range;

use super::runs::{MIN_TEXT, next_run, text_start};
use super::{View, is_printable};

/// Shortest run of numbers and separators that is looked at, in bytes.
pub(in crate::redact) const MIN_RUN: usize = 32;
/// Fewest numbers that may be a text.
const MIN_NUMBERS: usize = 12;
/// Longest line of a dump, in bytes.
const MAX_LINE: usize = 400;
/// The second line of a dump of characters (`od -c`), which holds no run of numbers.
pub(in crate::redact) const SECOND_LINE: &[u8] = b"0000020 ";

/// Decodes the runs of numbers of `text`. `known` says of a range that it was decoded before, in an outer view.
pub(in crate::redact) fn each(
    text: &[u8],
    known: impl Fn(&Range<usize>) -> bool,
    mut found: impl FnMut(View),
) {
    let mut emit = |view: View| {
        if text_start(&view.bytes).is_some() {
            found(view);
        }
    };
    let mut at = 0;
    while let Some(run) = next_run(text, at, MIN_RUN, is_part) {
        at = run.end;
        if known(&run) {
            continue;
        }
        let mut start = line_start(text, run.start);
        while start < run.end {
            match Dump::read(text, start).filter(|dump| dump.end > run.start) {
                Some(dump) => {
                    start = dump.end;
                    at = at.max(dump.end);
                    dump.views(&mut emit);
                }
                None => start = next_line(text, start, run.end),
            }
        }
        lists(text, run, &mut emit);
    }
    if let Some(second) = memchr::memmem::find(text, SECOND_LINE) {
        let before = line_start(text, line_start(text, second).saturating_sub(1));
        characters(text, before, &mut emit);
    }
}

/// Whether a run of what [`is_part`] holds numbers that are text, or a line of a dump. Allocates nothing.
pub(in crate::redact) fn may_be(text: &[u8], run: &Range<usize>) -> bool {
    let mut rows = [0_usize; Notation::ALL.len()];
    let groups = text.get(run.clone()).unwrap_or_default().split(|b| !b.is_ascii_alphanumeric());
    for number in groups.filter(|group| !group.is_empty()) {
        for (row, notation) in rows.iter_mut().zip(Notation::ALL) {
            *row = if notation.value(number).is_some_and(is_printable) { *row + 1 } else { 0 };
            if *row == MIN_TEXT {
                return true;
            }
        }
    }
    let mut start = line_start(text, run.start);
    while start < run.end {
        if dump_head(text, start).is_some() {
            return true;
        }
        start = next_line(text, start, run.end);
    }
    false
}

/// What stands in a run of numbers.
pub(in crate::redact) fn is_part(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
        || matches!(byte, b'x' | b'X' | b' ' | b',' | b':' | b'-' | b'\n' | b'\r' | b'\t' | b';')
}

fn line_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(MAX_LINE);
    let window = text.get(from..at).unwrap_or_default();
    memchr::memrchr2(b'\n', b'"', window).map_or(if from == 0 { 0 } else { at }, |end| from + end + 1)
}

fn next_line(text: &[u8], at: usize, end: usize) -> usize {
    text.get(at..end).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(end, |line| at + line + 1)
}

/// How a byte is written.
#[derive(Debug, Clone, Copy)]
enum Notation {
    Hex,
    Prefixed,
    Decimal,
    Octal,
    Binary,
}

impl Notation {
    const ALL: [Self; 5] = [Self::Hex, Self::Prefixed, Self::Decimal, Self::Octal, Self::Binary];

    fn value(self, number: &[u8]) -> Option<u8> {
        let digits = |digits: &[u8], radix: u32, len: std::ops::RangeInclusive<usize>| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| len.contains(&digits.len()))?;
            u8::from_str_radix(digits, radix).ok()
        };
        match self {
            Self::Hex => digits(number, 16, 2..=2),
            Self::Prefixed => {
                let number = number.strip_prefix(b"0x").or_else(|| number.strip_prefix(b"0X"))?;
                digits(number, 16, 1..=2)
            }
            Self::Decimal => digits(number, 10, 1..=3),
            Self::Octal => digits(number, 8, 3..=3),
            Self::Binary => digits(number, 2, 8..=8),
        }
    }
}

/// The numbers of a run in each notation that holds for enough of them in a row.
fn lists(text: &[u8], run: Range<usize>, emit: &mut impl FnMut(View)) {
    let quote = quote_before(text, run.start);
    for notation in Notation::ALL {
        let mut view = View::default();
        let mut numbers = 0;
        let mut finish = |view: &mut View, numbers: &mut usize| {
            let done = std::mem::take(view);
            if std::mem::take(numbers) >= MIN_NUMBERS {
                emit(done.quoted(quote.clone()));
            }
        };
        let mut at = run.start;
        while at < run.end {
            let rest = text.get(at..run.end).unwrap_or_default();
            let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
            let number = rest.get(..len).unwrap_or_default();
            match notation.value(number) {
                Some(byte) => {
                    view.unit(at..at + len, &[byte]);
                    numbers += 1;
                }
                None if len > 0 => finish(&mut view, &mut numbers),
                None => {}
            }
            at += len.max(1);
        }
        finish(&mut view, &mut numbers);
    }
}

/// The quote of the name whose array begins at `at`: `"data":[`.
fn quote_before(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(..at)?.trim_ascii_end().strip_suffix(b"[")?.trim_ascii_end();
    let name = before.strip_suffix(b":")?.trim_ascii_end();
    let escapes = name.strip_suffix(b"\"")?;
    let escaped = escapes.iter().rev().take_while(|b| **b == b'\\').count();
    Some(escapes.len() - escaped..escapes.len() + 1)
}

/// Lines of a dump: an address, numbers of one width, and perhaps the text.
struct Dump {
    /// Digits of a number.
    width: usize,
    /// Where each line's numbers begin and the line ends, and the numbers.
    lines: Vec<(Range<usize>, Vec<u32>)>,
    end: usize,
}

impl Dump {
    fn read(text: &[u8], start: usize) -> Option<Self> {
        let mut dump = Self { width: 0, lines: Vec::new(), end: start };
        while let Some((range, width, numbers)) = dump_line(text, dump.end) {
            if dump.width != 0 && dump.width != width {
                break;
            }
            dump.width = width;
            dump.end = range.end + 1;
            dump.lines.push((range, numbers));
        }
        (!dump.lines.is_empty()).then_some(dump)
    }

    /// Its bytes; of words of two bytes and more also in the order of little-endian machines.
    fn views(&self, emit: &mut impl FnMut(View)) {
        // Numbers of three or six digits are octal.
        let bytes = if self.width.is_multiple_of(3) { self.width / 3 } else { self.width / 2 };
        for swapped in [false, true] {
            let mut view = View::default();
            for (range, numbers) in &self.lines {
                let mut line = Vec::with_capacity(numbers.len() * bytes);
                for number in numbers {
                    let octets = number.to_be_bytes();
                    let word = octets.get(octets.len() - bytes.min(octets.len())..).unwrap_or_default();
                    if swapped { line.extend(word.iter().rev()) } else { line.extend_from_slice(word) }
                }
                view.unit(range.clone(), &line);
            }
            emit(view);
            if bytes == 1 {
                return;
            }
        }
    }
}

/// A line that may be one of a dump, and where in it the first number stands, behind an address.
fn dump_head(text: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let rest = text.get(start..text.len().min(start + MAX_LINE))?;
    let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()))?;
    let blank = blanks(line, 0);
    let at = blank + prefix(line, blank);
    let address = hex(line, at);
    let colon = usize::from(line.get(at + address) == Some(&b':'));
    let gap = blanks(line, at + address + colon);
    let first = at + address + colon + gap;
    let is_address = address >= 4 && gap > 0 && (colon > 0 || gap > 1 || address >= 6);
    (is_address && hex(line, first + prefix(line, first)) > 1).then_some((line, first))
}

fn blanks(line: &[u8], from: usize) -> usize {
    line.iter().skip(from).take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Hexadecimal digits, up to one more than an address has.
fn hex(line: &[u8], from: usize) -> usize {
    line.iter().skip(from).take(17).take_while(|b| b.is_ascii_hexdigit()).count()
}

fn prefix(line: &[u8], from: usize) -> usize {
    if line.get(from..from + 2) == Some(b"0x") { 2 } else { 0 }
}

/// One line of a dump: from its first number to the line's end, the digits of a number, the numbers.
fn dump_line(text: &[u8], start: usize) -> Option<(Range<usize>, usize, Vec<u32>)> {
    let (line, first) = dump_head(text, start)?;
    let mut at = first;
    let mut numbers = Vec::new();
    let mut width = 0;
    loop {
        let begin = at + prefix(line, at);
        let len = hex(line, begin);
        let radix = if len.is_multiple_of(3) { 8 } else { 16 };
        // The last number of a line may be half of one.
        let fits = matches!(len, 2 | 3 | 4 | 6 | 8) && (width == 0 || len == width);
        let number = std::str::from_utf8(line.get(begin..begin + len)?).ok();
        let half = width == 4 && len == 2;
        let Some(number) = number.filter(|_| fits || half).and_then(|n| u32::from_str_radix(n, radix).ok())
        else {
            break;
        };
        width = width.max(len);
        // Half a word stands for its first byte.
        numbers.push(if half { number << 8 } else { number });
        at = begin + len;
        let gap = blanks(line, at);
        // `hexdump -C` leaves two blanks in the middle; the text of other dumps stands behind two or more.
        if gap == 0 || (gap > 1 && !(width == 2 && numbers.len() == 8 && gap == 2)) {
            break;
        }
        at += gap;
    }
    (!numbers.is_empty()).then(|| (start + first..start + line.len(), width, numbers))
}

/// The dump of `od -c` from the line at `start` on: an address, then cells of four.
fn characters(text: &[u8], start: usize, emit: &mut impl FnMut(View)) {
    let mut view = View::default();
    let mut at = start;
    while let Some(rest) = text.get(at..text.len().min(at + MAX_LINE)) {
        let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        let address = line.iter().take_while(|b| matches!(b, b'0'..=b'7')).count();
        let cells = line.get(address..).unwrap_or_default();
        if address < 6 || cells.first() != Some(&b' ') {
            break;
        }
        let bytes: Vec<u8> = cells.chunks(4).map(cell).collect();
        view.unit(at + address..at + line.len(), &bytes);
        at += line.len() + 1;
    }
    emit(view);
}

/// A character, or an escape of one: what is not printed stands for nothing that matters.
fn cell(cell: &[u8]) -> u8 {
    match cell.trim_ascii() {
        [byte] => *byte,
        b"\\t" => b'\t',
        b"\\r" => b'\r',
        b"" => b' ',
        _ => b'\n',
    }
}
