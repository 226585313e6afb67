//! Validators: what a candidate's own characters say about it. Checksums confirm and never reject; only a shape rejects.
//!
//! Checksums confirm only, because a real token that was cut or edited fails them, as do most tokens of test data.

use std::str::FromStr;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::personal::{self, Personal};
use super::values;

/// What a validator says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A checksum holds: it is one.
    Confirmed,
    /// Nothing speaks against it.
    Plausible,
    /// It cannot be one.
    Rejected,
}

/// A test of a candidate, as named in rule files.
#[derive(Debug, Clone, PartialEq)]
pub enum Validator {
    /// `jwt`: the header decodes to the start of a JSON object, with `alg` or `enc` in it (RFC 7515, RFC 7516),
    /// or the first two parts to such starts. Rejects.
    Jwt,
    /// `basic`: base64 that decodes to `user:password` (RFC 7617); either may be empty, not both. Rejects.
    Basic,
    /// `token-shaped`: not a word of prose, see [`values::is_token_shaped`]. Rejects.
    TokenShaped,
    /// `has-digit`: holds an ASCII digit. Rejects.
    HasDigit,
    /// `mixed-case`: holds upper and lower case letters. Rejects.
    MixedCase,
    /// `not-hex`: holds something else than hexadecimal digits (a 40-digit SHA-1 is no key). Rejects.
    NotHex,
    /// `not-placeholder`: is not inert, see [`values::is_inert`]. Rejects.
    NotPlaceholder,
    /// `not-name`: is not itself the name of a secret, as in `user:password@host` of a manual. Rejects.
    NotName,
    /// `password-shaped`: stands out of code and prose, see [`values::looks_secret`] with [`values::Form::Prose`]. Rejects.
    PasswordShaped,
    /// `random`: made by a machine, be it a hash or a UUID, see [`values::is_random`]. Rejects.
    Random,
    /// `opaque`: nothing but a token, see [`values::is_opaque`]. Rejects.
    Opaque,
    /// `luhn`: its digits satisfy the check of ISO/IEC 7812-1. Rejects.
    Luhn,
    /// `entropy: BITS`: at least so many bits a byte (Shannon, over the candidate's own bytes). Rejects.
    Entropy(f64),
    /// `crc32-base62`: the last 6 characters are the CRC-32 of those between the first `_` and them, in base 62 of
    /// `0-9A-Za-z`, padded with zeros (GitHub, npm, Vercel). Confirms.
    Crc32Base62,
    /// `crc32-base36`: the last 7 characters are the CRC-32 of all before them, in base 36 (GitLab routable). Confirms.
    Crc32Base36,
    /// `crc32-hex`: the last 8 characters are the CRC-32, in hexadecimal, of all before them (Atlassian) or of those after
    /// the first `_` (Cloudflare). Confirms.
    Crc32Hex,
    /// A test of personal data. Rejects.
    Personal(Personal),
}

/// Names without an argument, as written in rule files.
const NAMED: [(&str, Validator); 15] = [
    ("jwt", Validator::Jwt),
    ("basic", Validator::Basic),
    ("token-shaped", Validator::TokenShaped),
    ("has-digit", Validator::HasDigit),
    ("mixed-case", Validator::MixedCase),
    ("not-hex", Validator::NotHex),
    ("not-placeholder", Validator::NotPlaceholder),
    ("not-name", Validator::NotName),
    ("password-shaped", Validator::PasswordShaped),
    ("random", Validator::Random),
    ("opaque", Validator::Opaque),
    ("luhn", Validator::Luhn),
    ("crc32-base62", Validator::Crc32Base62),
    ("crc32-base36", Validator::Crc32Base36),
    ("crc32-hex", Validator::Crc32Hex),
];

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Longest base64 that is decoded to judge it: headers and `user:password` are short.
const MAX_DECODED: usize = 4096;

/// No validator has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown validator `{0}`; there are {known}", known = known())]
pub struct UnknownValidator(String);

fn known() -> String {
    let personal: Vec<&str> = Personal::names().collect();
    NAMED.map(|(name, _)| name).join(", ") + "; of personal data: " + &personal.join(", ")
}

impl FromStr for Validator {
    type Err = UnknownValidator;

    /// A validator without an argument, by its name in rule files.
    fn from_str(name: &str) -> Result<Self, UnknownValidator> {
        let found = NAMED.iter().find(|(known, _)| *known == name).map(|(_, validator)| validator.clone());
        let personal = || Personal::named(name).map(Self::Personal);
        found.or_else(personal).ok_or_else(|| UnknownValidator(name.to_owned()))
    }
}

impl Validator {
    /// Its name in rule files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Personal(personal) => personal.name,
            _ => NAMED.iter().find(|(_, known)| known == self).map_or("entropy", |(name, _)| name),
        }
    }

    /// Whether it can reject; the others confirm only.
    pub fn rejects(&self) -> bool {
        !matches!(self, Self::Crc32Base62 | Self::Crc32Base36 | Self::Crc32Hex)
    }

    /// Whether it accepts nothing but [`values::is_random`] runs.
    pub(super) fn needs_random_run(&self) -> bool {
        matches!(self, Self::Random | Self::Opaque)
    }

    /// Whether it says of the first dozen characters what it says of all of a candidate.
    pub fn judges_parts(&self) -> bool {
        !matches!(self, Self::HasDigit | Self::Entropy(_) | Self::Luhn | Self::Personal(_))
    }

    /// Judges a candidate, in time linear in its length.
    pub fn check(&self, candidate: &[u8]) -> Verdict {
        match self {
            Self::Jwt => reject_unless(is_jwt(candidate)),
            Self::Basic => reject_unless(is_basic(candidate)),
            Self::TokenShaped => reject_unless(values::is_token_shaped(candidate)),
            Self::HasDigit => reject_unless(candidate.iter().any(u8::is_ascii_digit)),
            Self::MixedCase => reject_unless(
                candidate.iter().any(u8::is_ascii_uppercase) && candidate.iter().any(u8::is_ascii_lowercase),
            ),
            Self::NotHex => reject_unless(!candidate.iter().all(u8::is_ascii_hexdigit)),
            Self::NotPlaceholder => reject_unless(!values::is_inert(candidate)),
            Self::NotName => reject_unless(!values::is_name_of_secret(candidate)),
            Self::PasswordShaped => {
                reject_unless(values::looks_secret(b"password", candidate, values::Form::Prose))
            }
            Self::Random => reject_unless(values::is_random(candidate)),
            Self::Opaque => reject_unless(values::is_opaque(candidate)),
            Self::Luhn => reject_unless(personal::satisfies_luhn(&personal::digits(candidate))),
            Self::Personal(personal) => reject_unless(personal.holds(candidate)),
            Self::Entropy(least) => reject_unless(entropy(candidate) >= *least),
            Self::Crc32Base62 => confirm_if(crc32_holds(after_prefix(candidate), 6, DIGITS)),
            Self::Crc32Base36 => confirm_if(crc32_holds(candidate, 7, BASE36)),
            Self::Crc32Hex => confirm_if(
                crc32_holds(candidate, 8, b"0123456789abcdef")
                    || crc32_holds(candidate, 8, b"0123456789ABCDEF")
                    || crc32_holds(after_prefix(candidate), 8, b"0123456789abcdef"),
            ),
        }
    }
}

fn reject_unless(holds: bool) -> Verdict {
    if holds { Verdict::Plausible } else { Verdict::Rejected }
}

fn confirm_if(holds: bool) -> Verdict {
    if holds { Verdict::Confirmed } else { Verdict::Plausible }
}

fn after_prefix(candidate: &[u8]) -> &[u8] {
    candidate.iter().position(|b| *b == b'_').and_then(|at| candidate.get(at + 1..)).unwrap_or(candidate)
}

/// Whether the last `width` bytes are the CRC-32 (IEEE) of the bytes before them, in these digits, padded with zeros.
fn crc32_holds(text: &[u8], width: usize, digits: &[u8]) -> bool {
    let Some((body, tail)) = text.len().checked_sub(width).and_then(|at| text.split_at_checked(at)) else {
        return false;
    };
    let base = digits.len() as u64;
    let claimed = tail.iter().try_fold(0_u64, |sum, byte| {
        let digit = digits.iter().position(|d| d == byte)? as u64;
        Some(sum * base + digit)
    });
    !body.is_empty() && claimed == Some(u64::from(crc32fast::hash(body)))
}

/// The start of some base64, decoded: whole groups of four only, so that a cut text still decodes.
fn decode_start(text: &[u8], engine: &GeneralPurpose) -> Option<Vec<u8>> {
    let text = text.get(..MAX_DECODED).unwrap_or(text);
    let whole = if text.len() % 4 == 1 { text.len() - 1 } else { text.len() };
    engine.decode(text.get(..whole)?).ok()
}

/// A header that was cut or edited no longer parses, so its members are looked for as text. Without either, header and payload must
/// both be objects.
fn is_jwt(candidate: &[u8]) -> bool {
    let mut parts =
        candidate.split(|b| *b == b'.').map(|part| decode_start(part, &URL_SAFE).unwrap_or_default());
    let header = parts.next().unwrap_or_default();
    let has = |member: &[u8]| memchr::memmem::find(&header, member).is_some();
    header.starts_with(b"{")
        && (has(b"\"alg\"")
            || has(b"\"enc\"")
            || (header.starts_with(b"{\"")
                && parts.next().is_some_and(|payload| payload.starts_with(b"{\""))))
}

fn is_basic(candidate: &[u8]) -> bool {
    let decoded = decode_start(candidate, &STANDARD).or_else(|| decode_start(candidate, &URL_SAFE));
    decoded.is_some_and(|text| {
        let printable = std::str::from_utf8(&text).is_ok_and(|text| !text.chars().any(char::is_control));
        printable && text.len() > 2 && text.contains(&b':')
    })
}

/// Shannon entropy in bits a byte: `log2(n) - sum(c * log2(c)) / n` over the counts `c` of each byte value.
pub fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    if text.is_empty() {
        return 0.0;
    }
    let total = text.len() as f64;
    total.log2()
        - counts.iter().filter(|c| **c > 0).map(|c| f64::from(*c) * f64::from(*c).log2()).sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base62(mut number: u32) -> String {
        let mut out = vec![b'0'; 6];
        for at in (0..6).rev() {
            out[at] = DIGITS[(number % 62) as usize];
            number /= 62;
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_right_checksum_confirms_and_a_wrong_one_does_not_reject() {
        let body = "Ab3".repeat(10);
        let right = format!("gh{}_{body}{}", "p", base62(crc32fast::hash(body.as_bytes())));
        assert_eq!(Validator::Crc32Base62.check(right.as_bytes()), Verdict::Confirmed);
        let wrong = format!("gh{}_{body}000000", "p");
        assert_eq!(Validator::Crc32Base62.check(wrong.as_bytes()), Verdict::Plausible);
        assert_eq!(Validator::Crc32Base62.check(b"x"), Verdict::Plausible);
    }

    #[test]
    fn crc32_is_the_one_of_ieee() {
        // The check value of CRC-32/ISO-HDLC for "123456789".
        assert_eq!(Validator::Crc32Hex.check(b"123456789cbf43926"), Verdict::Confirmed);
        assert_eq!(Validator::Crc32Hex.check(b"123456789CBF43926"), Verdict::Confirmed);
        assert_eq!(Validator::Crc32Hex.check(b"123456788cbf43926"), Verdict::Plausible);
    }

    #[test]
    fn shapes_reject() {
        let cases: [(Validator, &str, Verdict); 20] = [
            (Validator::Jwt, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.signaturepart", Verdict::Plausible),
            (Validator::Jwt, "eyJhbGciOiJIUzI1NiJ9", Verdict::Plausible),
            (Validator::Jwt, "eyJzdWIiOiIxMjMifQ.eyJzdWIiOiIxMjMifQ.x", Verdict::Plausible),
            (Validator::Jwt, "eyJzdWIiOiIxMjMifQ.MTIzNDU2Nzg5MDEy.x", Verdict::Rejected),
            (Validator::Jwt, "eyJhbGciOieeeiI.x.y", Verdict::Plausible),
            (Validator::Jwt, "eyJ0eXAiOiJ4In0.x.y", Verdict::Rejected),
            (Validator::Basic, "dXNlcjpwYXNzd29yZA==", Verdict::Plausible),
            (Validator::Basic, "dXNlcjpwYXNzd29yZA", Verdict::Plausible),
            (Validator::Basic, "authentication", Verdict::Rejected),
            (Validator::Basic, "dXNlcg==", Verdict::Rejected),
            (Validator::HasDigit, "abc", Verdict::Rejected),
            (Validator::HasDigit, "ab1", Verdict::Plausible),
            (Validator::MixedCase, "abc1", Verdict::Rejected),
            (Validator::NotHex, "0123456789abcdef", Verdict::Rejected),
            (Validator::Random, "3fa85f64-5717-4562-b3fc-2c963f66afa6", Verdict::Plausible),
            (Validator::Opaque, "3fa85f64-5717-4562-b3fc-2c963f66afa6", Verdict::Rejected),
            (Validator::Luhn, "4111 1111 1111 1111", Verdict::Plausible),
            (Validator::Luhn, "4111 1111 1111 1112", Verdict::Rejected),
            (Validator::Entropy(3.0), "aaaaaaaaaaaaaaaa", Verdict::Rejected),
            (Validator::Entropy(3.0), "0123456789abcdef", Verdict::Plausible),
        ];
        for (validator, text, expected) in cases {
            assert_eq!(validator.check(text.as_bytes()), expected, "{validator:?} {text}");
        }
    }

    #[test]
    fn every_name_reads_back() {
        for (name, validator) in &NAMED {
            assert_eq!(name.parse::<Validator>().as_ref(), Ok(validator));
        }
        assert!("sha1".parse::<Validator>().is_err());
    }
}
