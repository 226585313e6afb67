//! A finding: a range of the source text, and what found it. Decides nothing: see `overlap`.

use std::ops::Range;

use super::compile::Compiled;
use super::rules::Specificity;

/// What found a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finder {
    /// The rule of this index.
    Rule(usize),
    /// A secret-named pair, or a secret key above the value.
    Pair,
}

/// A secret in the source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// Bytes of the source.
    pub(super) range: Range<usize>,
    /// What found it.
    pub(super) finder: Finder,
    /// Where a quote stands in the source that the marker must be put in: a number of JSON becomes a string.
    pub(super) quote: Option<Range<usize>>,
    /// A further piece of a secret that stands in several: gone without a marker of its own.
    pub(super) continues: bool,
}

impl Finder {
    /// The greater wins where findings overlap; then the earlier rule.
    pub(super) fn rank(self, compiled: &Compiled) -> (Specificity, std::cmp::Reverse<usize>) {
        match self {
            Self::Rule(index) => (compiled.specificity(index), std::cmp::Reverse(index)),
            Self::Pair => (Specificity::NamedPair, std::cmp::Reverse(usize::MAX)),
        }
    }
}
