//! How a name and its value are written in the many notations of running text. Judges neither.

use std::ops::Range;

use crate::redact::decode::Place;
use crate::redact::values::Form;
use crate::redact::wordlist::one_of;
use crate::redact::wordy::is_path_of_names;
use crate::redact::{marker, scheme};

/// Longest name, in bytes.
const MAX_NAME: usize = 80;
/// Most blanks between name, sign and value.
const MAX_BLANKS: usize = 24;

/// A name, and what stands around it.
pub(super) struct Name {
    /// The name, without quotes.
    pub(super) range: Range<usize>,
    /// It stands in quotes.
    quoted: bool,
    /// Blanks stand between it and the sign.
    spaced: bool,
    /// It begins its line, but for `export`, `-` and the like.
    begins_line: bool,
    /// It follows `?` or `&`.
    query: bool,
}

/// A value, and how it is bound to its name.
pub(super) struct Value {
    /// The value, without quotes.
    pub(super) range: Range<usize>,
    /// The notation.
    pub(super) form: Form,
    /// It has no quotes, but must have: a quote as it stands around the name.
    pub(super) quote: Option<Range<usize>>,
}

/// Where an unquoted value ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// At a blank or quote.
    Blank,
    /// Also at what separates elements: `,`, `;`, brackets.
    Separator,
    /// Also at `&` and `#`.
    Query,
}

/// The name before the sign at `at`.
pub(super) fn name_before(text: &[u8], at: usize) -> Option<Name> {
    let sign = *text.get(at)?;
    let next = text.get(at + 1).copied();
    if compares(text, at) || (sign == b':' && matches!(next, Some(b':' | b'='))) {
        return None;
    }
    // `("X-Api-Key", "x")`, `['password', 'x']`: both in quotes.
    if sign == b',' && !matches!(text.get(..back_over_blanks(text, at)), Some([.., b'"' | b'\'' | b'`'])) {
        return None;
    }
    let end = if sign == b'=' { before_assignment(text, at) } else { at };
    name_ending(text, end)
}

/// Whether the sign at `at` is part of one that compares or reckons: `==`, `!=`, `+=`.
fn compares(text: &[u8], at: usize) -> bool {
    let previous = at.checked_sub(1).and_then(|at| text.get(at));
    matches!(previous, Some(b'=' | b'!' | b'<' | b'>' | b'+' | b'~' | b'*'))
        || text.get(at + 1) == Some(&b'=')
}

/// Where the sign ends at which the `=` at `at` stands: `:=`, `::=`, `:::=`, `?=`, `.=`.
fn before_assignment(text: &[u8], at: usize) -> usize {
    match text.get(..at) {
        Some([.., b'?' | b'.']) => at - 1,
        Some(before) => at - before.iter().rev().take(3).take_while(|b| **b == b':').count(),
        None => at,
    }
}

/// What a type ends with that a text is of.
const TYPES: &str =
    "str string bytes byte rune char text any none null undefined secretstr secretstring uint8_t";

/// The name before a type before the `=` at `at`: `password: str = `, `token: &'static str = `, `var token string = `,
/// `char token[33] = `.
pub(super) fn name_before_type(text: &[u8], at: usize) -> Option<Name> {
    const LONGEST: usize = 40;
    const BRACKETS: usize = 8;
    if text.get(at) != Some(&b'=') || compares(text, at) {
        return None;
    }
    let end = back_over_blanks(text, before_assignment(text, at));
    let window = text.get(end.saturating_sub(LONGEST)..end)?;
    if window.last() == Some(&b']') {
        let open = window.iter().rev().take(BRACKETS).position(|b| *b == b'[')?;
        let inside = window.get(window.len() - open..window.len() - 1)?;
        return inside.iter().all(u8::is_ascii_digit).then(|| name_ending(text, end - open - 1))?;
    }
    let word = window.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (before, name) = window.split_at_checked(window.len() - word)?;
    if !(one_of(name, TYPES) || (name.is_empty() && matches!(before.last(), Some(b'>' | b'?')))) {
        return None;
    }
    let is_type = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'_' | b' ' | b'&' | b'\'' | b'[' | b']' | b'<' | b'>' | b'|' | b'?' | b'*')
    };
    let kind = before.iter().rev().take_while(|b| is_type(b)).count();
    let start = before.len() - kind;
    if let Some([rest @ .., b':']) = before.get(..start)
        && rest.last() != Some(&b':')
    {
        return name_ending(text, end - window.len() + start - 1);
    }
    // Go: the type stands behind the name.
    let typed = before.last() == Some(&b' ') && one_of(name, "string byte rune");
    typed.then(|| name_ending(text, end - word))?
}

fn name_ending(text: &[u8], end: usize) -> Option<Name> {
    let blanks_end = back_over_blanks(text, end);
    let spaced = blanks_end < end;
    let is_quote = |b: &u8| matches!(b, b'"' | b'\'' | b'`');
    let (end, quote) = match text.get(..blanks_end)? {
        // `config["password"] = ..`
        [.., quote, b']'] if is_quote(quote) => (blanks_end - 2, Some(*quote)),
        [.., quote] if is_quote(quote) => (blanks_end - 1, Some(*quote)),
        _ => (blanks_end, None),
    };
    let window = text.get(end.saturating_sub(MAX_NAME)..end)?;
    let len = window.iter().rev().take_while(|b| is_name(**b)).count();
    // Of what is too long for a name, the words at its end may be one.
    let skip = match len {
        0 | 1 => return None,
        MAX_NAME => {
            window.iter().position(|b| matches!(b, b'.' | b'_' | b'-')).map_or(MAX_NAME / 2, |at| at + 1)
        }
        _ => 0,
    };
    let start = end - len + skip;
    if start == end {
        return None;
    }
    let before = start.checked_sub(1).and_then(|at| text.get(at)).copied();
    if quote.is_some() && before != quote {
        return None;
    }
    // `input[type="password"]:focus` selects.
    let indexed = text.get(end + 1) == Some(&b']') && end + 2 == blanks_end;
    if indexed && start.checked_sub(2).and_then(|at| text.get(at)) != Some(&b'[') {
        return None;
    }
    let range = start..end;
    Some(Name {
        range,
        quoted: quote.is_some(),
        spaced,
        begins_line: quote.is_none() && begins_line(text, start),
        query: matches!(before, Some(b'?' | b'&')),
    })
}

/// The value after the sign at `at`.
///
/// In a view, quotes of several levels stand side by side: those of one string take as many bytes of the source.
pub(super) fn value_after(text: &[u8], at: usize, name: &Name, place: &Place<'_>) -> Option<Value> {
    let sign = *text.get(at)?;
    let mut start = at + 1;
    if sign == b'=' && text.get(start) == Some(&b'>') {
        start += 1;
    }
    if sign == b':' && text.get(start..start + 2) == Some(b"//") {
        return None;
    }
    // `map[X-Api-Key:[x]]`: Go prints the values of a header as a list.
    let list =
        text.get(start..).is_some_and(|rest| rest.starts_with(b"[") && marker::prefix_len(rest).is_none());
    let strings = text.get(start + 1).is_some_and(|b| matches!(b, b'"' | b'\''));
    if sign == b':' && list && (!name.quoted || strings) {
        start += 1;
    }
    let blanks = text.get(start..)?.iter().take(MAX_BLANKS).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let tight = blanks == 0 && !name.spaced;
    start += blanks;
    if let Some((inner, quote)) = opening_quote(text, start) {
        if name.quoted && width(place, inner - 1) != width(place, name.range.end) {
            return None;
        }
        // The view before had the same quotes, and the escapes that belong to them.
        if !place.joined && place.is_verbatim(&(inner - 1..inner)) && place.is_verbatim(&name.range) {
            return None;
        }
        // Gradle quotes Java: `'API_KEY', '"x"'`.
        let (inner, quote) = match text.get(inner) {
            Some(b'"') if quote == b'\'' && text.get(inner + 1) != Some(&b'\'') => (inner + 1, b'"'),
            _ => (inner, quote),
        };
        let range = inner..quoted_end(text, inner, quote, place);
        let form = if sign == b',' { Form::Prose } else { Form::Quoted };
        return Some(Value { range, form, quote: None });
    }
    if sign == b',' {
        return None;
    }
    if let Some((inner, quote)) = wrapped_quote(text, start) {
        let range = inner..quoted_end(text, inner, quote, place);
        return Some(Value { range, form: Form::Prose, quote: None });
    }
    let bytes = text.get(name.range.clone())?;
    if is_cookie(bytes) && sign == b':' {
        return Some(Value { range: start..header_end(text, start), form: Form::Line, quote: None });
    }
    let window = text.get(start..(start + 256).min(text.len()))?;
    let line = window.split(|b| *b == b'\n').next().unwrap_or_default();
    let scheme = scheme::scheme_len(line).or_else(|| own_scheme_len(bytes, window));
    let from = start + scheme.unwrap_or(0);
    let stop = match () {
        () if name.query => Stop::Query,
        () if name.begins_line && !name.quoted => Stop::Blank,
        () if sign == b'=' && tight && fills_string(text, name, from) => Stop::Blank,
        () => Stop::Separator,
    };
    let end = unquoted_end(text, from, stop);
    if is_code(text, from..end) {
        return None;
    }
    let fills = line_ends(text, end);
    let number = text.get(from..end).is_some_and(|value| {
        value.iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'+' | b'e' | b'E'))
    });
    let form = match () {
        () if name.query => Form::Query,
        () if name.begins_line && fills && !(tight && sign == b'=') => Form::Line,
        () if from > start => Form::Line,
        () if tight && sign == b'=' => Form::Env,
        () if name.quoted && number => Form::Quoted,
        // YAML; in code a name stands there.
        () if name.quoted && fills => Form::Line,
        () => Form::Prose,
    };
    // A number of JSON or Python: what stands in its place is a string.
    let quote = (name.quoted && sign == b':').then_some(name.range.end..name.range.end + 1);
    Some(Value { range: start..end, form, quote })
}

/// `decode(x)`, `values["x"]`, `args[0]`, `settings.key)`: names that end at the bracket of a call or an index, or as an argument.
fn is_code(text: &[u8], value: Range<usize>) -> bool {
    const LONGEST: usize = 120;
    let rest = text.get(value.end..).unwrap_or_default();
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let code = match line {
        [b'(', ..] => true,
        // `f(key=settings.key, ...`: an argument.
        [b',' | b')', ..] => text.get(value.clone()).is_some_and(|bytes| bytes.contains(&b'.')),
        // Not the colour of a terminal: `[0m`.
        [b'[', b'"' | b'\'' | b'$', ..] => true,
        [b'[', inside @ ..] => {
            let index = inside.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            index > 0 && inside.get(index) == Some(&b']')
        }
        _ => false,
    };
    code && !value.is_empty() && text.get(value).is_some_and(is_path_of_names)
}

/// Whether name and value are all of a string: `"PASSWORD=a;b"`, and not the first of several pairs.
fn fills_string(text: &[u8], name: &Name, from: usize) -> bool {
    let quote = name.range.start.checked_sub(1).and_then(|at| text.get(at)).copied();
    let end = unquoted_end(text, from, Stop::Blank);
    let value = text.get(from..end).unwrap_or_default();
    !name.quoted
        && matches!(quote, Some(b'"' | b'\''))
        && text.get(end).copied() == quote
        && !value.iter().any(|b| matches!(b, b'=' | b'%'))
}

/// The length of a scheme of nobody's list (`Authorization: Custom x`) and its blank.
fn own_scheme_len(name: &[u8], value: &[u8]) -> Option<usize> {
    const LONGEST: usize = 32;
    if !name.to_ascii_lowercase().ends_with(b"authorization") {
        return None;
    }
    let word = value.iter().take(LONGEST).take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
    let follows = value.get(word + 1).is_some_and(|b| !b.is_ascii_whitespace());
    (word > 0 && value.get(word) == Some(&b' ') && follows).then_some(word + 1)
}

/// The name of an entry (`name: DB_PASSWORD`, `key="DB_PASSWORD"`) whose `value` stands at `at`, right behind it.
pub(super) fn entry_name(text: &[u8], at: usize) -> Option<Range<usize>> {
    let between = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b',');
    let back = |end: usize, skip: &dyn Fn(&u8) -> bool| {
        let window = text.get(end.saturating_sub(MAX_NAME)..end).unwrap_or_default();
        end - window.iter().rev().take_while(|b| skip(b)).count()
    };
    let end = back(at, &between);
    let start = back(end, &|b| is_name(*b));
    let sign = back(start, &|b| matches!(b, b' ' | b'\t' | b'"' | b'\''));
    let label = match text.get(..sign)? {
        [.., b'=', b'>'] => sign - 2,
        [.., b':' | b'='] => sign - 1,
        _ => return None,
    };
    let label = back(label, &|b| matches!(b, b' ' | b'\t' | b'"' | b'\''));
    let word = text.get(back(label, &|b| b.is_ascii_alphabetic())..label)?;
    (end > start && end < at && one_of(word, "name key")).then_some(start..end)
}

/// What stands below a name.
pub(super) struct Below {
    /// The values, a line each.
    pub(super) values: Vec<Value>,
    /// Where reading ended.
    pub(super) end: usize,
}

/// The values on the lines below `name:`, as YAML has them. `None`: something follows on its own line.
pub(super) fn lines_below(text: &[u8], at: usize) -> Option<Below> {
    const MOST: usize = 64;
    let rest = text.get(at + 1..)?;
    let line = rest.iter().take(MAX_BLANKS).position(|b| *b == b'\n')?;
    let block = match rest.get(..line)?.trim_ascii() {
        b"" => false,
        b"|" | b"|-" | b"|+" | b">" | b">-" | b">+" => true,
        _ => return None,
    };
    let mut values = Vec::new();
    let mut start = at + 1 + line + 1;
    let mut end = start;
    while values.len() < MOST {
        let rest = text.get(start..).unwrap_or_default();
        end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let content = super::trim(text, start..end);
        let indented = content.start > start || rest.starts_with(b"- ");
        let Some(value) = line_value(text, content, block).filter(|_| indented) else { break };
        let one = value.form == Form::Prose;
        values.push(value);
        start = end + 1;
        if one || start >= text.len() {
            break;
        }
    }
    Some(Below { values, end })
}

/// The value of a line of a block or list, or a line that is a value. `None`: it is a pair of its own, or none.
fn line_value(text: &[u8], line: Range<usize>, block: bool) -> Option<Value> {
    let bytes = text.get(line.clone())?;
    if block {
        return (!bytes.is_empty()).then_some(Value { range: line, form: Form::Line, quote: None });
    }
    let item = bytes.strip_prefix(b"- ").map(<[u8]>::trim_ascii_start);
    let bytes = item.unwrap_or(bytes);
    let start = line.end - bytes.len();
    if let Some(inner) = bytes.strip_prefix(b"\"").or_else(|| bytes.strip_prefix(b"'")) {
        let quote = bytes.first()?;
        let len = inner.iter().position(|b| b == quote)?;
        let ends = matches!(inner.get(len + 1..)?.trim_ascii(), b"" | b",");
        let range = start + 1..start + 1 + len;
        return ends.then_some(Value { range, form: Form::Quoted, quote: None });
    }
    if bytes.is_empty() || bytes.ends_with(b":") || memchr::memmem::find(bytes, b": ").is_some() {
        return None;
    }
    let form = if item.is_some() { Form::Line } else { Form::Prose };
    Some(Value { range: start..line.end, form, quote: None })
}

/// A quote that a string begins with, a prefix letter of Python or Rust skipped; and where its content begins.
fn opening_quote(text: &[u8], start: usize) -> Option<(usize, u8)> {
    let is_quote = |b: &&u8| matches!(b, b'"' | b'\'' | b'`');
    if let Some(quote) = text.get(start).filter(is_quote) {
        return Some((start + 1, *quote));
    }
    let prefix =
        matches!(text.get(start), Some(b'b' | b'r' | b'f' | b'u' | b'B' | b'R' | b'F' | b'U' | b'@' | b'$'));
    text.get(start + 1).filter(is_quote).filter(|_| prefix).map(|quote| (start + 2, *quote))
}

/// What makes a string into a value without changing it.
const WRAPPERS: &str = "some ok just from new of str string bytes secret secretstr secretstring secretbox literal value \
    const text quote safequote";

/// The same of a string that is made into something: `Some("x")`, `String::from("x")`, `SecretStr('x')`.
fn wrapped_quote(text: &[u8], start: usize) -> Option<(usize, u8)> {
    const LONGEST: usize = 40;
    let window = text.get(start..text.len().min(start + LONGEST))?;
    let call = window.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':')))?;
    let word = window.get(..call)?.rsplit(|b| !b.is_ascii_alphanumeric()).next()?;
    if window.get(call) != Some(&b'(') || !one_of(word, WRAPPERS) {
        return None;
    }
    opening_quote(text, start + call + 1)
}

/// Where a quoted value ends: at its quote or at that of an outer level; if neither comes, at any quote or the end of the line.
fn quoted_end(text: &[u8], start: usize, quote: u8, place: &Place<'_>) -> usize {
    let own = width(place, start - 1);
    // Only a double quote is written otherwise at each level.
    let outer = (quote != b'"' && place.chars > 0).then_some(b'"');
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match *byte {
            // A double quote, escaped however often, ends a string of an outer level of JSON.
            b'\\' if quote != b'"' && is_before_quote(text, at) => return at,
            b'\\' => at += 1,
            b'\n' => break,
            byte if byte == quote && width(place, at) <= own => return at,
            byte if Some(byte) == outer => return at,
            _ => {}
        }
        at += 1;
    }
    let rest = text.get(start..).unwrap_or_default();
    let ends = |at: &usize| match rest.get(*at) {
        Some(b'\n' | b'"' | b'\'' | b'`') => true,
        Some(b'\\') => is_escape(rest, *at),
        _ => false,
    };
    start + (0..rest.len()).find(ends).unwrap_or(rest.len())
}

/// Whether the backslashes from `at` on stand before a double quote.
fn is_before_quote(text: &[u8], at: usize) -> bool {
    const LONGEST: usize = 64;
    let mut rest = text.get(at..).unwrap_or_default().iter().take(LONGEST).skip_while(|b| **b == b'\\');
    rest.next() == Some(&b'"')
}

/// How many bytes of the source stand for a byte.
fn width(place: &Place<'_>, at: usize) -> usize {
    place.source(at..at + 1).len()
}

/// Where an unquoted value ends. A backslash that begins an escape ends it: the value is read again in the view without it.
pub(super) fn unquoted_end(text: &[u8], start: usize, stop: Stop) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        let ends = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' => true,
            b'\\' => is_escape(rest, at),
            // A marker of ours may hold what else would end a value.
            b'[' => match marker::prefix_len(rest.get(at..).unwrap_or_default()) {
                Some(len) => {
                    at += len;
                    continue;
                }
                None => stop != Stop::Blank,
            },
            b',' | b';' | b')' | b'}' | b']' | b'<' | b'>' | b'(' | b'{' | b'|' => stop != Stop::Blank,
            b'&' | b'#' => stop == Stop::Query,
            _ => false,
        };
        if ends {
            break;
        }
        at += 1;
    }
    start + at
}

/// Whether the backslash at `at` begins an escape.
fn is_escape(text: &[u8], at: usize) -> bool {
    text.get(at + 1).is_none_or(|b| matches!(b, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u' | b'/'))
}

/// The end of a header's value: of the line, or of the quoted string that it stands in.
fn header_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`'));
    end.map_or(text.len(), |end| start + end)
}

fn is_cookie(name: &[u8]) -> bool {
    let last = name.rsplit(|b| *b == b'.').next().unwrap_or(name);
    last.eq_ignore_ascii_case(b"cookie") || last.eq_ignore_ascii_case(b"set-cookie")
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$')
}

fn back_over_blanks(text: &[u8], end: usize) -> usize {
    let window = text.get(end.saturating_sub(MAX_BLANKS)..end).unwrap_or_default();
    end - window.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Whether only blanks, list and diff marks, `export` and the like stand before `at` on its line.
fn begins_line(text: &[u8], at: usize) -> bool {
    const LONGEST: usize = 40;
    let window = text.get(at.saturating_sub(LONGEST)..at).unwrap_or_default();
    let line = match memchr::memrchr(b'\n', window) {
        Some(end) => window.get(end + 1..).unwrap_or_default(),
        None if at <= LONGEST => window,
        None => return false,
    };
    let words =
        line.split(|b| b.is_ascii_whitespace() || matches!(b, b'+' | b'-' | b'>' | b'#' | b'*' | b'$'));
    words.filter(|word| !word.is_empty()).all(|word| {
        matches!(word, b"export" | b"set" | b"env" | b"declare" | b"ENV" | b"ARG" | b"setx" | b"x")
            || word.iter().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'|' | 0xe2 | 0x86 | 0x92))
    })
}

/// Whether nothing but blanks and a comment follows on the line, or the string that it stands in ends.
fn line_ends(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let next = rest.iter().take(MAX_BLANKS).find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    matches!(next, None | Some(b'\n' | b'#' | b'"' | b'\'' | b'`' | b'\\'))
}
