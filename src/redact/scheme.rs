//! The scheme words of `Authorization` and its like, which stand in front of a secret and are none.

/// Words that may stand in front of a credential in an `Authorization` header and its like.
const SCHEMES: [&[u8]; 9] =
    [b"bearer", b"basic", b"token", b"digest", b"bot", b"apikey", b"negotiate", b"ssws", b"key"];

/// The length of a scheme word and its blanks that `value` begins with, if something follows.
pub(super) fn scheme_len(value: &[u8]) -> Option<usize> {
    let word = value.iter().take(12).position(|b| b.is_ascii_whitespace())?;
    let (scheme, rest) = value.split_at(word);
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let blanks = rest.iter().position(|b| !b.is_ascii_whitespace())?;
    Some(word + blanks)
}

/// Whether a value is a scheme word and nothing more.
pub(super) fn is_scheme(value: &[u8]) -> bool {
    SCHEMES.iter().any(|known| value.eq_ignore_ascii_case(known))
}
