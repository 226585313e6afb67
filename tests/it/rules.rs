//! The rule files: the built-in packs pass their own tests, mistakes are told with their line, seed A's set is as published.

use blackbar::redact::rules::{RuleSet, check};

#[test]
fn the_built_in_packs_pass_their_own_tests() {
    let report = check(&RuleSet::builtin());
    let problems: Vec<String> = report
        .problems
        .iter()
        .map(|p| format!("{}:{} {}: {}", p.origin.file, p.origin.line, p.kind, p.message))
        .collect();
    assert!(report.is_ok(), "{}", problems.join("\n"));
    assert!(report.rules > 100 && report.examples > 200);
}
