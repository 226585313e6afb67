//! Expands the templates of examples, so that no rule file holds anything that looks like a real token.
//!
//! `{alnum:36}` becomes 36 letters and digits, always the same ones for the same rule, example and place. `«` and `»` stand
//! around what must be gone. Everything else, braces included, stands for itself.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// `{name:N}`: N characters of an alphabet.
const ALPHABETS: [(&str, &[u8]); 12] = [
    ("alnum", ALNUM),
    ("letters", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    ("lower", b"abcdefghijklmnopqrstuvwxyz"),
    ("upper", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("digits", b"0123456789"),
    ("hex", b"0123456789abcdef"),
    ("HEX", b"0123456789ABCDEF"),
    ("lower_digits", b"abcdefghijklmnopqrstuvwxyz0123456789"),
    ("UPPER_DIGITS", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("base32", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    ("base58", b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
    ("bech32", b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
];

/// `{name:N}` with an alphabet of its own ends.
const BASE64: (&str, &[u8]) = ("base64", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const BASE64URL: (&str, &[u8]) =
    ("base64url", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

/// Longest run that a template may ask for.
const MAX_RUN: usize = 10_000;

/// An expanded text and the byte ranges that were marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    pub(super) marked: Vec<Range<usize>>,
}

/// Expands `template`; `seed` decides the characters.
///
/// # Errors
///
/// A misspelt template (`{alnun:36}`), an unclosed `{b64(` or `«`.
pub(super) fn expand(template: &str, seed: &str) -> Result<Expanded, String> {
    let mut source = Source { seed, count: 0 };
    let mut text = String::with_capacity(template.len() * 2);
    let mut marked: Vec<Range<usize>> = Vec::new();
    let mut open = None;
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        let width = match first {
            '«' => {
                open = Some(text.len());
                first.len_utf8()
            }
            '»' => {
                let start = open.take().ok_or("» without «")?;
                marked.push(start..text.len());
                first.len_utf8()
            }
            '{' => match source.placeholder(rest)? {
                Some((filled, width)) => {
                    text.push_str(&filled);
                    width
                }
                None => {
                    text.push('{');
                    1
                }
            },
            other => {
                text.push(other);
                other.len_utf8()
            }
        };
        rest = rest.get(width..).unwrap_or_default();
    }
    if open.is_some() {
        return Err("« without »".to_owned());
    }
    Ok(Expanded { text, marked })
}

/// Characters from SHA-256 of seed, place and block number.
struct Source<'a> {
    seed: &'a str,
    count: usize,
}

impl Source<'_> {
    /// The text for a template that `rest` begins with, and the template's width; `None` for a literal brace.
    fn placeholder(&mut self, rest: &str) -> Result<Option<(String, usize)>, String> {
        if let Some(inner) = rest.strip_prefix("{b64(") {
            let end = inner.find(")}").ok_or("{b64( without )}")?;
            let nested = expand(inner.get(..end).unwrap_or_default(), self.seed)?.text;
            return Ok(Some((STANDARD.encode(nested), "{b64(".len() + end + ")}".len())));
        }
        let Some(body) = rest.find('}').and_then(|end| rest.get(1..end)) else { return Ok(None) };
        let width = body.len() + 2;
        let filled = match body.split_once(':') {
            Some((name, length)) if length.bytes().all(|b| b.is_ascii_digit()) && is_name(name) => {
                let length = length.parse().ok().filter(|n| (1..=MAX_RUN).contains(n));
                Some(self.run(name, length.ok_or_else(|| format!("bad length in {{{body}}}"))?)?)
            }
            None => self.whole(body),
            Some(_) => None,
        };
        Ok(filled.map(|text| (text, width)))
    }

    fn run(&mut self, name: &str, length: usize) -> Result<String, String> {
        let known = ALPHABETS.iter().chain([&BASE64, &BASE64URL]).find(|(known, _)| *known == name);
        let (_, alphabet) = known.ok_or_else(|| {
            let names: Vec<&str> =
                ALPHABETS.iter().chain([&BASE64, &BASE64URL]).map(|(name, _)| *name).collect();
            format!("unknown template {{{name}:{length}}}; there are {}", names.join(", "))
        })?;
        let mut run = self.pick(alphabet, length);
        // A run that begins or ends with a sign, or is one word, would test luck; make it letters and digits there.
        if alphabet.len() >= ALNUM.len() && length >= 4 {
            let ends =
                self.pick(b"abcdefghijklmnopqrstuvwxyz", 2) + &self.pick(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
            let digit = self.pick(b"0123456789", 1);
            let middle = run.get(3..length - 1).unwrap_or_default();
            run = format!("{ends}{middle}{digit}");
        }
        Ok(run)
    }

    fn whole(&mut self, name: &str) -> Option<String> {
        match name {
            "uuid" => {
                let hex = "0123456789abcdef".as_bytes();
                let groups: Vec<String> = [8, 4, 4, 4, 12].map(|n| self.pick(hex, n)).into();
                Some(groups.join("-"))
            }
            "jwt" => Some(format!(
                "{}.{}.{}",
                URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
                URL_SAFE_NO_PAD
                    .encode(format!(r#"{{"sub":"{}","iat":1700000000}}"#, self.pick(b"0123456789", 10))),
                self.pick(BASE64URL.1, 43)
            )),
            _ => None,
        }
    }

    fn pick(&mut self, alphabet: &[u8], length: usize) -> String {
        self.count += 1;
        (0_u64..)
            .flat_map(|block| {
                let mut hash = Sha256::new();
                hash.update(self.seed);
                hash.update((self.count as u64).to_le_bytes());
                hash.update(block.to_le_bytes());
                hash.finalize().to_vec()
            })
            .filter_map(|byte| alphabet.get(usize::from(byte) % alphabet.len()))
            .take(length)
            .map(|byte| char::from(*byte))
            .collect()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text_and_another_seed_another() {
        let one = expand("k={alnum:20} {uuid}", "a").unwrap();
        assert_eq!(one, expand("k={alnum:20} {uuid}", "a").unwrap());
        assert_ne!(one, expand("k={alnum:20} {uuid}", "b").unwrap());
        assert_eq!(one.text.len(), 2 + 20 + 1 + 36);
    }

    #[test]
    fn marks_are_byte_ranges_of_the_expanded_text() {
        let expanded = expand("é «{hex:8}» and «x»", "s").unwrap();
        assert_eq!(expanded.marked, vec![3..11, 16..17]);
    }

    #[test]
    fn other_braces_stand_for_themselves() {
        for text in ["{\"a\": {}}", "${VAR}", "{{ x }}", "{", "f{x:>10}", "{\"n\":12}"] {
            assert_eq!(expand(text, "s").unwrap().text, text);
        }
        assert_eq!(expand("{b64(u:p)}", "s").unwrap().text, "dTpw");
    }

    #[test]
    fn misspelt_templates_are_errors() {
        for text in ["{alnun:36}", "{alnum:0}", "{alnum:99999}", "{b64(x", "«x", "x»"] {
            assert!(expand(text, "s").is_err(), "{text}");
        }
    }
}
