//! The reserved rule of the self-canary, built into every scrubber: no configuration can switch it off, and what it
//! finds is not counted. Sending the canary and judging the result is `admin::canary`.

use super::rules::RuleSet;

/// The kind of its marker.
pub const KIND: &str = "blackbar-canary";

/// An attribute key that every policy takes for content, so that the canary is reached in any scope.
pub const KEY: &str = "blackbar.canary";

/// How every canary begins; [`BODY_LEN`] letters and digits follow.
pub const ANCHOR: &str = "blackbar-canary-";

/// Letters and digits after [`ANCHOR`].
pub const BODY_LEN: usize = 24;

/// The rule, as a set to add to the others.
///
/// # Panics
///
/// If it is not valid, which the tests rule out: without it nothing would be known to work.
pub(super) fn rules() -> RuleSet {
    let yaml = format!(
        "rules:\n- kind: {KIND}\n  description: the self-canary\n  confidence: confident\n  action: marker\n  anchors: ['{ANCHOR}']\n  \
         pattern: '{ANCHOR}[0-9A-Za-z]{{{BODY_LEN}}}'\n  examples: ['{ANCHOR}{{alnum:{BODY_LEN}}}']\n"
    );
    match RuleSet::from_yaml(KIND, &yaml) {
        Ok(rules) => rules,
        Err(errors) => panic!("the canary's rule: {errors}"),
    }
}
