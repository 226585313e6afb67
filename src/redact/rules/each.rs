//! `each`: one rule for each of many words. The first is read and checked like any rule, the others are copies of it with another
//! word, which costs next to nothing.

use std::sync::Arc;

use super::rule::Rule;

/// Stands for the word in `pattern`, `anchors` and examples.
pub(super) const PLACE: &str = "{each}";

/// The rule of `first`, and one for each of `others`. `pattern` and `anchors` are as the file has them.
pub(super) fn copies(rule: Rule, pattern: &str, anchors: &[String], others: &[String]) -> Vec<Rule> {
    let copies = others.iter().map(|word| Rule {
        id: Arc::from(format!("{}-{word}", rule.id)),
        pattern: pattern.replace(PLACE, word),
        anchors: anchors.iter().map(|anchor| anchor.replace(PLACE, word)).collect(),
        is_copy: true,
        examples: Vec::new(),
        counterexamples: Vec::new(),
        ..rule.clone()
    });
    let copies: Vec<Rule> = copies.collect();
    std::iter::once(rule).chain(copies).collect()
}

/// Whether a word means itself in a pattern.
pub(super) fn is_plain(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}
