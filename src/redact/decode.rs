//! Decode layers: a *view* is what a text holds once one layer of encoding is taken off, with a map back to the source.
//!
//! `chars` takes one level of character escapes off a whole text, `quoted` the quoted-printable encoding, `joins` what
//! breaks a token (line ends, string concatenation); there offsets map one to one. `runs` decodes base64 and hex, `numbers` dumps and arrays; there
//! an encoded run is one unit of the map, so that a finding in it replaces it whole. `streams` puts the pieces together that a
//! text came in. Knows no rules; what a view holds is
//! judged by `scan`.

pub(super) mod chars;
mod glue;
pub(super) mod joins;
mod map;
pub(super) mod numbers;
pub(super) mod peek;
pub(super) mod quoted;
pub(super) mod runs;
pub(super) mod streams;

pub(super) use map::{Place, View};

/// Whether decoded bytes read as text: nearly all of a sample is printable.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 1024;
    let sample = bytes.get(..SAMPLE.min(bytes.len())).unwrap_or_default();
    let odd = sample.iter().filter(|b| !is_printable(**b)).count();
    !sample.is_empty() && odd * 10 <= sample.len()
}

/// ASCII that stands in texts.
pub(super) fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}
