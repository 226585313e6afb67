//! Digests in base64 that say so: `sha256=Kx..` of a wheel's RECORD, `sha512-..` of a lock file, `h1:..` of go.sum. In millions of
//! them every short prefix occurs somewhere.

use memchr::memmem;

/// What stands before a digest.
const LABELS: [&[u8]; 9] =
    [b"sha1-", b"sha256-", b"sha384-", b"sha512-", b"sha256=", b"sha384=", b"sha512=", b"SHA256:", b"h1:"];
/// Lengths in base64 without padding: 20, 32, 48 and 64 bytes.
const LENGTHS: [usize; 4] = [27, 43, 64, 86];
const LONGEST: usize = 86;

/// Whether `at` lies in a digest.
pub(super) fn holds(text: &[u8], at: usize) -> bool {
    is_in(text, at, |before, len| LENGTHS.contains(&(before + len)))
}

/// Whether `at` lies behind the beginning of a digest that the end of `text` cuts off.
pub(super) fn holds_cut(text: &[u8], at: usize) -> bool {
    is_in(text, at, |before, len| before > 0 && at + len == text.len())
}

fn is_in(text: &[u8], at: usize, counts: impl Fn(usize, usize) -> bool) -> bool {
    let window = text.get(at.saturating_sub(LONGEST + 8)..at).unwrap_or_default();
    let rest = text.get(at..).unwrap_or_default();
    let after = rest.iter().take(LONGEST).take_while(|b| is_base64(**b)).count();
    LABELS.iter().any(|label| {
        memmem::rfind(window, label)
            .and_then(|start| window.get(start + label.len()..))
            .is_some_and(|before| before.iter().all(|b| is_base64(*b)) && counts(before.len(), after))
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
