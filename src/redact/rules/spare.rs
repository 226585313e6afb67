//! What a rule's own lists say is harmless: the allowlists of gitleaks. They count for the rules that they came with, and
//! for no others.

use std::ops::Range;

use regex::bytes::Regex;

/// One list.
#[derive(Debug, Clone)]
pub struct SpareList {
    /// Whether all of it must hold, or any.
    pub all: bool,
    /// Patterns, found anywhere in the target.
    pub regexes: Vec<Regex>,
    /// What they look at.
    pub target: SpareTarget,
    /// Words in lower case, found anywhere in the secret.
    pub stopwords: Vec<String>,
}

/// What the patterns of a list look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpareTarget {
    /// The secret.
    #[default]
    Secret,
    /// All that the rule matched.
    Match,
    /// The lines that the match stands on.
    Line,
}

impl SpareList {
    /// Whether a secret is harmless.
    pub(super) fn spares(&self, text: &[u8], found: &Range<usize>, secret: &[u8]) -> bool {
        let target = match self.target {
            SpareTarget::Secret => secret,
            SpareTarget::Match => text.get(found.clone()).unwrap_or_default(),
            SpareTarget::Line => lines(text, found),
        };
        let by_pattern = || self.regexes.iter().any(|regex| regex.is_match(target));
        let by_word = || {
            let lower = secret.to_ascii_lowercase();
            self.stopwords.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
        };
        if self.all {
            let has_any = !self.regexes.is_empty() || !self.stopwords.is_empty();
            has_any && (self.regexes.is_empty() || by_pattern()) && (self.stopwords.is_empty() || by_word())
        } else {
            by_pattern() || by_word()
        }
    }
}

fn lines<'t>(text: &'t [u8], found: &Range<usize>) -> &'t [u8] {
    let start = memchr::memrchr(b'\n', text.get(..found.start).unwrap_or_default()).map_or(0, |at| at + 1);
    let rest = text.get(found.end..).unwrap_or_default();
    let end = found.end + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    text.get(start..end).unwrap_or_default()
}
