//! What becomes of a secret that was found, and how the marker in its place is written.
//!
//! Which action a kind has is the rule set's to say; whole values and attributes are `text`'s and the walk's to remove. Here
//! is only what to write, and the key that tags are made with.

use std::sync::Arc;

use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use super::marker::{self, marker};

/// The kind of a whole value that was hidden.
pub const MASKED_KIND: &str = "masked";

/// The least bytes of a key.
pub const LEAST_KEY: usize = 32;

/// The least bytes of a secret of which the end is shown: what stays hidden must be too much to guess.
const LEAST_SHOWN: usize = 16;

/// What becomes of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Action {
    /// `[REDACTED:<kind>]`, or the rule's own replacement.
    #[default]
    Marker,
    /// `[REDACTED:<kind>:<digits>]`, the same digits for the same secret: HMAC-SHA-256 with the operator's key.
    Hmac,
    /// `[REDACTED:<kind>:...<last 4>]` where the secret is long enough.
    KeepLast4,
    /// The whole value becomes `[REDACTED:masked]`.
    Mask,
    /// The attribute is removed. A text that is no attribute's value is masked.
    Drop,
}

/// Actions by their names in configuration and rule files.
pub const ACTIONS: [(&str, Action); 5] = [
    ("marker", Action::Marker),
    ("hmac", Action::Hmac),
    ("keep_last_4", Action::KeepLast4),
    ("mask", Action::Mask),
    ("drop", Action::Drop),
];

/// The operator's key of [`Action::Hmac`]. Never printed.
#[derive(Debug, Clone)]
pub struct HmacKey(Arc<SecretString>);

impl HmacKey {
    /// A key of at least [`LEAST_KEY`] bytes; `None`: it is shorter, so that it could be guessed, and with it the secrets.
    pub fn new(key: SecretString) -> Option<Self> {
        (key.expose_secret().len() >= LEAST_KEY).then(|| Self(Arc::new(key)))
    }

    /// The tag of a secret. Does not depend on its kind: what is found by two rules is the same secret.
    fn tag(&self, secret: &[u8]) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose_secret().as_bytes()).ok()?;
        mac.update(secret);
        let digest = mac.finalize().into_bytes();
        Some(digest.iter().take(marker::TAG / 2).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// What stands in place of a secret. Where there is no key, or the secret is too short to show its end: the plain marker.
pub(super) fn mark(action: Action, kind: &str, secret: &[u8], key: Option<&HmacKey>) -> Vec<u8> {
    let more = match action {
        Action::Marker => None,
        Action::Hmac => key.and_then(|key| key.tag(secret)).map(|tag| marker::tagged(kind, &tag)),
        Action::KeepLast4 => end_of(secret).and_then(|end| marker::showing(kind, end)),
        Action::Mask | Action::Drop => return marker(MASKED_KIND),
    };
    more.unwrap_or_else(|| marker(kind))
}

/// The last characters of a secret, without the padding of base64.
fn end_of(secret: &[u8]) -> Option<&[u8]> {
    let end = secret.iter().rposition(|b| *b != b'=').map_or(0, |at| at + 1);
    (secret.len() >= LEAST_SHOWN).then(|| secret.get(end.checked_sub(marker::SHOWN_LEN)?..end)).flatten()
}
