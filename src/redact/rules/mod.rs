//! Rules as data: what a known credential looks like, read from YAML.
//!
//! A rule file is read by `load`, its regexes are looked at by `shape`, its examples are expanded by `template`, and
//! `check` runs them. The built-in packs (`config/rules/*.yaml`) are embedded in the binary. Knows nothing of how a text is
//! searched: that is the scanner, which takes a [`RuleSet`]. What makes a *name* secret is `super::names`, not a rule.

mod actions;
mod before;
mod check;
mod edge;
mod gitleaks;
mod load;
mod portable;
mod rule;
mod set;
mod shape;
mod spare;
mod template;

pub use check::{CheckReport, Problem, check};
pub use gitleaks::Note;
pub use portable::problems as portability;
pub use rule::{Confidence, Cut, Example, Group, Mode, Origin, Rule, Specificity};
pub use set::{Allow, NAMED_PAIR_KIND, RuleError, RuleErrors, RuleSet};
pub use spare::{SpareList, SpareTarget};
