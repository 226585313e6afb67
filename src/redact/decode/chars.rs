//! One level of character escapes: backslash (JSON, C, Python), percent, HTML entities; invisible characters, control
//! characters and terminal codes are dropped, letters in full width or of mathematics become plain ones.
//!
//! All kinds are taken off together: the text was scanned as it stood before, so nothing is lost where two of them meet.

use super::View;

/// What an escape stands for: at most four bytes.
struct Decoded {
    /// Bytes of the source.
    len: usize,
    bytes: [u8; 4],
    count: usize,
}

impl Decoded {
    fn byte(len: usize, byte: u8) -> Self {
        Self { len, bytes: [byte, 0, 0, 0], count: 1 }
    }

    fn nothing(len: usize) -> Self {
        Self { len, bytes: [0; 4], count: 0 }
    }

    fn char(len: usize, char: char) -> Self {
        let mut bytes = [0; 4];
        let count = char.encode_utf8(&mut bytes).len();
        Self { len, bytes, count }
    }
}

/// Takes one level off; `None`: there is none. Allocates only where there is one.
pub(in crate::redact) fn decode(text: &[u8]) -> Option<View> {
    decode_where(text, is_trigger)
}

/// Takes one level of backslash escapes off and nothing else: the content of a JSON string. `None`: there is none.
pub(in crate::redact) fn decode_backslashes(text: &[u8]) -> Option<View> {
    decode_where(text, |byte| byte == b'\\')
}

/// Whether an escape stands at `at`.
pub(in crate::redact) fn is_escape(text: &[u8], at: usize) -> bool {
    text.get(at..).and_then(decode_at).is_some()
}

fn decode_where(text: &[u8], is_trigger: impl Fn(u8) -> bool) -> Option<View> {
    let mut view = View::default();
    let mut copied = 0;
    let mut at = 0;
    let mut changed = false;
    while let Some(rest) = text.get(at..) {
        let Some(offset) = rest.iter().position(|b| is_trigger(*b)) else { break };
        at += offset;
        let rest = text.get(at..).unwrap_or_default();
        let Some(decoded) = decode_at(rest) else {
            at += 1;
            continue;
        };
        view.copy(copied, text.get(copied..at).unwrap_or_default());
        view.unit(at..at + decoded.len, decoded.bytes.get(..decoded.count).unwrap_or_default());
        changed = true;
        at += decoded.len;
        copied = at;
    }
    if !changed {
        return None;
    }
    view.copy(copied, text.get(copied..).unwrap_or_default());
    Some(view)
}

/// Whether a byte may begin an escape.
pub(in crate::redact) fn is_trigger(byte: u8) -> bool {
    matches!(byte,
        0..=8 | 0x0e..=0x1f | 0x7f | b'\\' | b'%' | b'&' | b'^' | 0xc2 | 0xcc | 0xcd | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3)
}

fn decode_at(rest: &[u8]) -> Option<Decoded> {
    match rest.first()? {
        b'\\' => backslash(rest),
        b'%' => percent(rest),
        b'&' => entity(rest),
        // As `cat -v` shows the escape byte.
        b'^' => rest.strip_prefix(b"^[").filter(|code| code.starts_with(b"[")).map(|code| sequence(2, code)),
        0x1b => terminal_code(rest),
        // Control characters; every other byte of UTF-16.
        0..=0x7f => Some(Decoded::nothing(1)),
        _ => character(rest),
    }
}

fn backslash(rest: &[u8]) -> Option<Decoded> {
    let simple = |byte| Some(Decoded::byte(2, byte));
    match rest.get(1)? {
        b'n' => simple(b'\n'),
        b't' => simple(b'\t'),
        b'r' => simple(b'\r'),
        b'b' => simple(8),
        b'f' => simple(12),
        b'e' => simple(0x1b),
        byte @ (b'"' | b'\'' | b'\\' | b'/' | b'`') => simple(*byte),
        b'x' => hex_number(rest.get(2..4)?, 2).map(|n| byte_or_char(4, n)),
        b'u' => unicode(rest),
        b'U' => hex_number(rest.get(2..10)?, 8).and_then(char::from_u32).map(|c| Decoded::char(10, c)),
        b'0'..=b'3' => octal(rest),
        _ => None,
    }
}

/// A number below 256 is a byte (it may be part of a UTF-8 sequence).
fn byte_or_char(len: usize, number: u32) -> Decoded {
    u8::try_from(number).map_or(Decoded::nothing(len), |byte| Decoded::byte(len, byte))
}

/// `\uXXXX`, a surrogate pair of them, `\u{X...}`.
fn unicode(rest: &[u8]) -> Option<Decoded> {
    if rest.get(2) == Some(&b'{') {
        let digits = rest.get(3..)?.iter().take(7).position(|b| *b == b'}')?;
        let number = hex_number(rest.get(3..3 + digits)?, digits)?;
        return char::from_u32(number).map(|c| Decoded::char(digits + 4, c));
    }
    let high = hex_number(rest.get(2..6)?, 4)?;
    if let Some(char) = char::from_u32(high) {
        return Some(if is_invisible_char(char) { Decoded::nothing(6) } else { Decoded::char(6, char) });
    }
    let low = rest.get(6..8).filter(|next| *next == b"\\u").and_then(|_| hex_number(rest.get(8..12)?, 4))?;
    let char = char::decode_utf16([u16::try_from(high).ok()?, u16::try_from(low).ok()?]).next()?.ok()?;
    Some(if is_invisible_char(char) { Decoded::nothing(12) } else { Decoded::char(12, char) })
}

/// `\0` to `\377`: three digits, as shells and C write them; a lone `\0` is not worth a level.
fn octal(rest: &[u8]) -> Option<Decoded> {
    let digits = rest.get(1..4)?;
    let number = digits.iter().try_fold(0_u32, |n, b| Some(n * 8 + char::from(*b).to_digit(8)?))?;
    u8::try_from(number).ok().map(|byte| Decoded::byte(4, byte))
}

fn hex_number(digits: &[u8], len: usize) -> Option<u32> {
    if digits.len() != len || len == 0 {
        return None;
    }
    digits.iter().try_fold(0_u32, |n, b| n.checked_mul(16)?.checked_add(char::from(*b).to_digit(16)?))
}

/// `%XX`, and `%uXXXX` of old scripts.
fn percent(rest: &[u8]) -> Option<Decoded> {
    if rest.get(1) == Some(&b'u') {
        return hex_number(rest.get(2..6)?, 4).and_then(char::from_u32).map(|char| Decoded::char(6, char));
    }
    hex_number(rest.get(1..3)?, 2).map(|number| byte_or_char(3, number))
}

/// Entities of the signs that tokens and pairs are written with.
const NAMED: [(&[u8], u8); 22] = [
    (b"quot", b'"'),
    (b"amp", b'&'),
    (b"lt", b'<'),
    (b"gt", b'>'),
    (b"apos", b'\''),
    (b"nbsp", b' '),
    (b"equals", b'='),
    (b"plus", b'+'),
    (b"sol", b'/'),
    (b"lowbar", b'_'),
    (b"UnderBar", b'_'),
    (b"dash", b'-'),
    (b"hyphen", b'-'),
    (b"colon", b':'),
    (b"period", b'.'),
    (b"commat", b'@'),
    (b"num", b'#'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"excl", b'!'),
    (b"Tab", b'\t'),
    (b"NewLine", b'\n'),
];

/// The entities that escape markup, and numeric ones, of which the semicolon may be missing.
fn entity(rest: &[u8]) -> Option<Decoded> {
    if rest.get(1) == Some(&b'#') {
        let (radix, start) = if matches!(rest.get(2)?, b'x' | b'X') { (16, 3) } else { (10, 2) };
        let digits =
            rest.get(start..)?.iter().take(8).take_while(|b| char::from(**b).is_digit(radix)).count();
        let number = std::str::from_utf8(rest.get(start..start + digits)?).ok()?;
        let char = char::from_u32(u32::from_str_radix(number, radix).ok()?)?;
        let len = start + digits + usize::from(rest.get(start + digits) == Some(&b';'));
        return Some(if is_invisible_char(char) { Decoded::nothing(len) } else { Decoded::char(len, char) });
    }
    let end = rest.iter().take(10).position(|b| *b == b';')?;
    let name = rest.get(1..end)?;
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, byte)| Decoded::byte(end + 1, *byte))
}

/// ECMA-48 control sequences (`ESC [ ... letter`) and operating system commands (`ESC ] ... BEL`).
fn terminal_code(rest: &[u8]) -> Option<Decoded> {
    const LONGEST: usize = 512;
    let body = rest.iter().skip(2).take(LONGEST);
    let len = match rest.get(1)? {
        b'[' => return Some(sequence(1, rest.get(1..)?)),
        b']' => {
            let end = 2 + body.take_while(|b| **b != 7 && **b != 0x1b).count();
            end + if rest.get(end) == Some(&7) { 1 } else { 2 }
        }
        b'(' | b')' => 3,
        _ => 2,
    };
    Some(Decoded::nothing(len.min(rest.len())))
}

/// A control sequence that begins `before` bytes before its `[`.
fn sequence(before: usize, rest: &[u8]) -> Decoded {
    const LONGEST: usize = 64;
    let parameters = rest.iter().skip(1).take(LONGEST).take_while(|b| !matches!(b, 0x40..=0x7e)).count();
    Decoded::nothing((before + 1 + parameters + 1).min(before + rest.len()))
}

/// A character that takes no room, or stands for an ASCII one.
fn character(rest: &[u8]) -> Option<Decoded> {
    let len = match rest.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let char = std::str::from_utf8(rest.get(..len)?).ok()?.chars().next()?;
    if char == '\u{9b}' {
        // `ESC [` in one byte.
        return Some(sequence(1, rest.get(1..)?));
    }
    if is_invisible_char(char) {
        return Some(Decoded::nothing(len));
    }
    plain(char).map(|plain| Decoded::byte(len, plain))
}

/// Characters that take no room: zero-width, directional, soft hyphen, variation selectors, tags (Unicode 16,
/// `Default_Ignorable_Code_Point`), controls, what combines with a letter, the blank of braille.
fn is_invisible_char(char: char) -> bool {
    matches!(char,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The ASCII character that one in full width, or a letter or digit of mathematics, stands for (Unicode 16, NFKC).
fn plain(char: char) -> Option<u8> {
    let number = u32::from(char);
    let ascii = match number {
        0xff01..=0xff5e => number - 0xff01 + 0x21,
        0x1d400..=0x1d6a3 => match (number - 0x1d400) % 52 {
            capital @ 0..26 => capital + u32::from(b'A'),
            small => small - 26 + u32::from(b'a'),
        },
        0x1d7ce..=0x1d7ff => (number - 0x1d7ce) % 10 + u32::from(b'0'),
        _ => return None,
    };
    u8::try_from(ascii).ok()
}
