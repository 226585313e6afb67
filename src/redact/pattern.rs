//! One pattern as the scanner compiles it, and what may go wrong.

use regex::bytes::{Regex, RegexBuilder};

/// Largest compiled regex of one rule, in bytes.
const REGEX_LIMIT: usize = 16 << 20;

/// A rule set that nothing can be scanned with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A rule's pattern cannot be compiled.
    #[error("the rule `{rule}` cannot be compiled: {why}")]
    Pattern {
        /// The rule's id.
        rule: String,
        /// The reason.
        why: String,
    },
    /// A kind has the action `hmac`, and there is no key.
    #[error("`{0}` has the action hmac, which takes an hmac_key")]
    NoKey(String),
}

/// A pattern on bytes; `None`: it doesn't compile.
pub(super) fn build(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(REGEX_LIMIT).dfa_size_limit(REGEX_LIMIT).build().ok()
}
