//! What stands between two pieces of a token: the end of a line and the prefix of the next, the end of a string and the begin
//! of the next, tags. Part of `joins`.

use std::ops::Range;

use crate::redact::byte_table::ByteTable;
use crate::redact::wordlist::one_of;

/// How far apart two pieces may be, in bytes.
const MAX_GLUE: usize = 96;
/// How far a piece is followed, in bytes.
pub(super) const MAX_PIECE: usize = 4096;
/// Longest prefix of a line, in bytes.
const MAX_PREFIX: usize = 120;

/// What stands between two pieces.
pub(super) struct Glue {
    pub(super) range: Range<usize>,
    pub(super) bond: Bond,
}

/// How sure it is that two pieces are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Bond {
    /// A line ends between them.
    Line,
    /// Strings, or data of events, that are put together.
    String,
    /// They only follow each other: elements of a list, arguments, tags. One that is whole by itself ends there.
    Neighbours,
}

/// Whether glue can begin with this byte, the spaces before it left out.
pub(super) fn may_begin(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<')
}

/// Whether glue can stand around a byte that begins it, if this one stands before that.
pub(super) fn may_precede(byte: u8) -> bool {
    // What closes a line: blanks, backslashes, the frame of a box.
    is_token(byte) || matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'`' | b'|' | 0x82 | 0x91)
}

/// The glue around the byte at `at`.
pub(super) fn at(text: &[u8], at: usize) -> Option<Glue> {
    let glue = match text.get(at)? {
        b'\n' => line_end(text, at),
        // A carriage return alone goes back to the start of the line.
        b'\r' if text.get(at + 1) != Some(&b'\n') => Some(Glue { range: at..at + 1, bond: Bond::Line }),
        b'<' => tags(text, at),
        b'"' | b'\'' | b'`' => strings(text, at),
        _ => None,
    }?;
    let joins = text.get(..glue.range.start)?.last().is_some_and(|b| is_token(*b))
        && text.get(glue.range.end).is_some_and(|b| is_token(*b));
    joins.then_some(glue)
}

/// Bytes of tokens.
#[inline]
pub(super) fn is_token(byte: u8) -> bool {
    TOKEN.holds(byte)
}

static TOKEN: ByteTable = ByteTable::letters_and_digits(b"_-+/=.~:");

/// The line end at `at`: what closes the line, and what the next begins with.
fn line_end(text: &[u8], at: usize) -> Option<Glue> {
    let (before, line) = (text.get(..at)?, text.get(at + 1..)?);
    let closing = closing(before)?;
    if !before.len().checked_sub(closing + 1).and_then(|last| before.get(last)).is_some_and(|b| is_token(*b))
    {
        return None;
    }
    let line_start = memchr::memrchr(b'\n', before.get(..before.len() - closing)?).map_or(0, |end| end + 1);
    let whole = before.get(line_start..)?;
    // The first line of a string begins behind its quote.
    let in_string = memchr::memrchr(b'"', whole).and_then(|quote| whole.get(quote + 1..));
    let prefix = line_prefix(whole, line).max(in_string.map_or(0, |begin| line_prefix(begin, line)));
    // Server-sent events are made to be put together.
    let bond = if line.starts_with(b"data:") && prefix > 4 { Bond::String } else { Bond::Line };
    Some(Glue { range: at - closing..at + 1 + prefix, bond })
}

/// How many bytes before a line end are no text: `\`, a carriage return, empty lines, the frame of a box; blanks.
fn closing(before: &[u8]) -> Option<usize> {
    let last = *before.last()?;
    if is_token(last) && last != b'+' {
        return Some(0);
    }
    let window = before.get(before.len().saturating_sub(MAX_PREFIX)..)?;
    let is_filler = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'`');
    let back = |from: usize| {
        let rest = window.get(..window.len() - from).unwrap_or_default();
        from + rest.iter().rev().take_while(|b| is_filler(b)).count()
    };
    let fillers = back(0);
    let framed = match window.get(..window.len() - fillers)? {
        [.., 0xe2, 0x94, 0x82] | [.., 0xe2, 0x95, 0x91] => back(fillers + 3),
        [.., b'|'] => back(fillers + 1),
        _ => fillers,
    };
    // One blank may be content; more fill a line of a terminal.
    let content = framed == fillers && window.get(window.len() - framed..)?.starts_with(b" \n");
    let single = framed == fillers && fillers == 1 && last == b' ';
    (framed < window.len() && !content && !single).then_some(framed)
}

/// The length of what a line begins with and is no text: what the line before has too, a line number, a mark, blanks.
fn line_prefix(before: &[u8], line: &[u8]) -> usize {
    let blanks = |from: usize| {
        line.iter().skip(from).take(MAX_PREFIX).take_while(|b| matches!(b, b' ' | b'\t')).count()
    };
    let indent = blanks(0);
    let same = same_prefix(before, line);
    if same > indent {
        return same;
    }
    let digits = line.iter().skip(indent).take(6).take_while(|b| b.is_ascii_digit()).count();
    let mark = match line.get(indent + digits..).unwrap_or_default() {
        [0xe2, 0x86, 0x92, ..] => 3,
        [b'\t' | b'|', ..] => 1,
        [b':', b' ', ..] => 2,
        _ => return indent,
    };
    let at = indent + digits + mark;
    if digits > 0 { at + blanks(at) } else { indent }
}

/// The length of the prefix that two lines have in common: numbers may differ, and so may the blanks around them. It ends behind
/// a blank or a mark.
fn same_prefix(before: &[u8], line: &[u8]) -> usize {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let blanks = |text: &[u8]| text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let (mut left, mut right) = (before, line.get(..line.len().min(MAX_PREFIX)).unwrap_or_default());
    let len = right.len();
    let mut prefix = 0;
    loop {
        let gaps = (blanks(left), blanks(right));
        (left, right) = (left.get(gaps.0..).unwrap_or_default(), right.get(gaps.1..).unwrap_or_default());
        if gaps.1 > 0 && gaps.0 > 0 {
            prefix = len - right.len();
        }
        let numbers = (digits(left), digits(right));
        if numbers.0 > 0 && numbers.1 > 0 {
            (left, right) =
                (left.get(numbers.0..).unwrap_or_default(), right.get(numbers.1..).unwrap_or_default());
            continue;
        }
        let (Some((one, rest)), Some((other, tail))) = (left.split_first(), right.split_first()) else {
            break;
        };
        // The parts of a line in a container's log: `P` and `F`.
        if one != other && !(matches!(one, b'P' | b'F') && matches!(other, b'P' | b'F')) {
            break;
        }
        (left, right) = (rest, tail);
        // At the beginning of a line a plus or minus is the mark of a diff.
        let mark = if len - tail.len() == 1 {
            one.is_ascii_punctuation() && !matches!(one, b'_' | b'.' | b'=' | b'~' | b'/')
        } else {
            matches!(one, b'|' | b'>' | b'#' | b'*' | b']' | b')' | b':' | 0x92 | 0x82 | 0x91)
        };
        if mark {
            prefix = len - right.len();
        }
    }
    prefix
}

/// The closing quote at `at`, and what stands between it and the begin of the next string.
fn strings(text: &[u8], at: usize) -> Option<Glue> {
    let quote = *text.get(at)?;
    let last = *text.get(at.checked_sub(1)?)?;
    // After a colon a string begins.
    if !is_token(last) || last == b':' {
        return None;
    }
    let after = text.get(at + 1..)?;
    let between = Between::read(after.get(..after.len().min(MAX_GLUE))?)?;
    let rest = after.get(between.len..after.len().min(MAX_PIECE))?;
    let next = *rest.first()?;
    let bond = between.bond?;
    // Two kinds of quotes: a word of a shell.
    let same = next == quote || (is_quote(next) && between.len == 0);
    let empty = between.len == 0 && last == b'=';
    // A key of JSON follows the value before it, no more.
    let string = rest.get(1..)?;
    let piece = string.iter().take_while(|b| is_token(**b)).count();
    let is_key = bond == Bond::Neighbours
        && string.get(piece) == Some(&quote)
        && string.get(piece + 1..)?.trim_ascii_start().first() == Some(&b':');
    (same && !empty && !is_key).then_some(Glue { range: at..at + 1 + between.len + 1, bond })
}

/// What stands between the end of a string and the begin of the next.
struct Between {
    len: usize,
    bond: Option<Bond>,
}

impl Between {
    fn read(text: &[u8]) -> Option<Self> {
        let mut at = 0;
        let mut bond = Some(Bond::String);
        let mut operator = false;
        let mut line = false;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            at += match rest {
                [b'"' | b'\'' | b'`', ..] => {
                    // Side by side on one line they may be two arguments; without a blank they are one word.
                    if !operator && !line && at > 0 {
                        bond = Some(Bond::Neighbours);
                    }
                    return Some(Self { len: at, bond });
                }
                [b'\n', ..] => {
                    line = true;
                    1
                }
                [b' ' | b'\t' | b'\r' | b'\\', ..] => 1,
                [b'|', b'|', ..] | [b'<', b'>', ..] | [b'.', b'.', ..] | [b'+', b'+', ..] => {
                    operator = true;
                    2
                }
                [b'+' | b'.' | b'&' | b'^' | b'~', ..] => {
                    operator = true;
                    1
                }
                // Visual Basic goes on on the next line.
                [b'_', ..] if operator => 1,
                // What a line begins with: a mark, a number.
                [b'-' | b'>' | b'#' | b'*' | b'|' | b':' | b'0'..=b'9', ..] if line => 1,
                [0xe2, 0x94, 0x82, ..] | [0xe2, 0x86, 0x92, ..] if line => 3,
                [b',', ..] => {
                    bond = Some(Bond::Neighbours);
                    operator = true;
                    1
                }
                // `"abc" +  # the first half`: a comment.
                [b'/', b'/', ..] | [b'#', ..] if operator => rest.iter().position(|b| *b == b'\n')?,
                // `sb.append("abc").append("def")`.
                [b')', ..] => {
                    bond = Some(Bond::Neighbours);
                    operator = true;
                    call(rest)?
                }
                // `f"abc" f"def"`.
                [letter, quote, ..] if letter.is_ascii_alphabetic() && is_quote(*quote) && at > 0 => 1,
                [first, ..]
                    if (line || *first == b';')
                        && (first.is_ascii_alphabetic() || *first == b'$' || *first == b';') =>
                {
                    let (len, appended) = assignment(rest)?;
                    bond = Some(if appended { Bond::String } else { Bond::Neighbours });
                    operator = true;
                    len
                }
                _ => return None,
            };
        }
        None
    }
}

/// `).append(`.
fn call(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b")")?;
    let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let rest = rest.get(blanks..)?.strip_prefix(b".")?;
    let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    (rest.get(name) == Some(&b'(')).then_some(1 + blanks + 1 + name + 1)
}

/// `key += ` or `part2 = ` on a line of its own; and whether it appends.
fn assignment(text: &[u8]) -> Option<(usize, bool)> {
    let skip = |from: usize, class: &dyn Fn(&u8) -> bool| {
        from + text.get(from..).unwrap_or_default().iter().take_while(|b| class(b)).count()
    };
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let start = skip(0, &|b| matches!(b, b';' | b'\r' | b'\n' | b' ' | b'\t'));
    let name = skip(start, &|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b':' | b' '));
    let (sign, appended) = match text.get(name..)? {
        [b'+' | b'&' | b'~', b'=', ..] => (2, true),
        [b'=', next, ..] if *next != b'=' => {
            (1, name.checked_sub(1).and_then(|at| text.get(at)).is_some_and(|b| *b == b'.'))
        }
        _ => return None,
    };
    (name > start).then(|| (skip(name + sign, &blank), appended))
}

/// Elements within a line.
const INLINE: &str = "br wbr span b i u em strong code font mark a";

/// Tags between two pieces: `abc<wbr>def`, `</span><span class="s">`.
fn tags(text: &[u8], at: usize) -> Option<Glue> {
    let window = text.get(at..text.len().min(at + MAX_GLUE + MAX_PREFIX))?;
    let mut len = 0;
    let mut inline = true;
    while let Some(tag) = window.get(len..).and_then(|rest| rest.strip_prefix(b"<")) {
        let first = *tag.first()?;
        if !(first.is_ascii_alphabetic() || first == b'/') {
            return None;
        }
        let name = tag.strip_prefix(b"/").unwrap_or(tag);
        let close = memchr::memchr(b'>', tag.get(..tag.len().min(MAX_GLUE))?)?;
        len += 1 + close + 1;
        if name.starts_with(b"br") {
            len += window.get(len..)?.iter().take_while(|b| b.is_ascii_whitespace()).count();
        }
        // What follows decides: the names of tags are not read in vain (`Vec<u8>)`).
        if !window.get(len).is_some_and(|b| is_token(*b) || *b == b'<') {
            return None;
        }
        let len_of_name = name.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        inline &= name.get(..len_of_name).is_some_and(|name| one_of(name, INLINE));
    }
    Some(Glue { range: at..at + len, bond: if inline { Bond::Line } else { Bond::Neighbours } })
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
