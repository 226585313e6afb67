//! The rules' own examples through the whole scrubber, all rules together: what `blackbar rules check` adds to the check of each
//! pattern by itself.

use std::sync::Arc;

use memchr::memmem;

use super::rules::{Example, Origin, Problem, Rule, RuleSet};
use super::{CompileError, Report, TextScrubber};

/// What goes wrong with the examples of `own` where its rules stand with those of `others`: an example that stays in part or becomes
/// another kind, a counterexample that becomes this kind.
///
/// # Errors
///
/// [`CompileError`], as [`TextScrubber::new`].
pub fn problems(own: &RuleSet, others: &RuleSet) -> Result<Vec<Problem>, CompileError> {
    let mut all = others.clone();
    all.extend(own.clone());
    let scrubber = TextScrubber::new(all)?;
    let mut problems = Vec::new();
    // Rules on integers see no text.
    for rule in own.rules().iter().filter(|rule| !rule.integers) {
        let tell = |example: &Example, message: String| Problem {
            kind: Arc::clone(&rule.kind),
            origin: Origin { file: Arc::clone(&rule.origin.file), line: example.line },
            message,
        };
        let examples =
            rule.examples.iter().map(|example| (example, example_problem(&scrubber, rule, example)));
        let counterexamples = rule
            .counterexamples
            .iter()
            .map(|example| (example, counterexample_problem(&scrubber, rule, example)));
        problems.extend(
            examples.chain(counterexamples).filter_map(|(example, why)| why.map(|why| tell(example, why))),
        );
    }
    Ok(problems)
}

fn example_problem(scrubber: &TextScrubber, rule: &Rule, example: &Example) -> Option<String> {
    let text = example.text.as_bytes();
    let mut report = Report::default();
    let out = scrubber.scrub(None, text, &mut report);
    if report.audited.contains_key(&rule.kind) {
        return None;
    }
    let Some(out) = out else { return Some("all rules together do not find the example".to_owned()) };
    if !report.redactions.contains_key(&rule.kind) {
        let others: Vec<&str> = report.redactions.keys().map(|kind| &**kind).collect();
        return Some(format!("with all rules together the example becomes `{}`", others.join("`, `")));
    }
    let stays = example
        .secrets
        .iter()
        .filter_map(|secret| text.get(secret.clone()))
        .any(|secret| !secret.is_empty() && memmem::find(&out, secret).is_some());
    stays.then(|| "all rules together leave the marked secret".to_owned())
}

fn counterexample_problem(scrubber: &TextScrubber, rule: &Rule, example: &Example) -> Option<String> {
    let mut report = Report::default();
    scrubber.scrub(None, example.text.as_bytes(), &mut report)?;
    let redacted = report.redactions.contains_key(&rule.kind);
    redacted.then(|| "all rules together redact the counterexample as this kind".to_owned())
}
