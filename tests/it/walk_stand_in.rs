//! A scrubber that is simple enough to be seen right at a glance: the tests of the walk are not about detection.

use std::sync::Arc;

use blackbar::redact::text::KeyPath;
use blackbar::redact::{Clean, Report, Scrub};
use memchr::memmem;

/// Replaces `SECRET` and the digits that follow it; `password` and `api_key` are secret names, and the walk has to see to
/// what is nested in them; a text with `PANIC` in it is a bug in the scanner.
#[derive(Debug)]
pub(crate) struct StandIn {
    needle: memmem::Finder<'static>,
    panic: memmem::Finder<'static>,
    found: Arc<str>,
    secret: Arc<str>,
}

pub(crate) const MARKER: &str = "[REDACTED:stand-in]";

impl StandIn {
    pub(crate) fn new() -> Self {
        Self {
            needle: memmem::Finder::new(b"SECRET"),
            panic: memmem::Finder::new(b"PANIC"),
            found: Arc::from("stand-in"),
            secret: Arc::from("secret"),
        }
    }
}

impl Scrub for StandIn {
    fn scrub(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Clean> {
        assert!(self.panic.find(text).is_none(), "asked for");
        let spared = text.is_empty() || text.starts_with(b"${") || text.starts_with(b"[REDACTED");
        if !spared && keys.is_some_and(|keys| self.is_secret_key(keys)) {
            report.count(&self.secret);
            return Some(b"[REDACTED:secret]".to_vec().into());
        }
        let mut out: Option<Vec<u8>> = None;
        let mut copied = 0;
        for start in self.needle.find_iter(text) {
            let digits = text[start + 6..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 {
                let out = out.get_or_insert_default();
                out.extend_from_slice(&text[copied..start]);
                out.extend_from_slice(MARKER.as_bytes());
                copied = start + 6 + digits;
                report.count(&self.found);
            }
        }
        if let Some(out) = &mut out {
            out.extend_from_slice(&text[copied..]);
        }
        out.map(Clean::from)
    }

    fn is_secret_key(&self, keys: &KeyPath<'_>) -> bool {
        matches!(keys.key, b"password" | b"api_key")
    }
}
