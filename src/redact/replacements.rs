//! Whether the replacements that rules bring along stay what they are when a text is scrubbed again.

use super::rules::{Problem, RuleSet};
use super::{Report, TextScrubber};

/// Every rule whose replacement is itself redacted, alone or where an example has its secret.
pub fn problems(set: &RuleSet) -> Vec<Problem> {
    let own = |rule: &&super::rules::Rule| rule.replacement.is_some();
    if !set.rules().iter().any(|rule| own(&rule)) {
        return Vec::new();
    }
    // What keeps a set from being compiled is told elsewhere.
    let Ok(scrubber) = TextScrubber::new(set.clone()) else { return Vec::new() };
    let scrub = |text: &[u8]| {
        let scrubbed = scrubber.scrub(None, text, &mut Report::default());
        scrubbed.filter(|scrubbed| scrubbed != text)
    };
    let mut problems = Vec::new();
    for rule in set.rules().iter().filter(own) {
        let alone = rule.replacement.as_deref().and_then(|own| scrub(own.as_bytes()));
        let in_place = rule
            .examples
            .iter()
            .any(|example| scrub(example.text.as_bytes()).is_some_and(|scrubbed| scrub(&scrubbed).is_some()));
        if alone.is_some() || in_place {
            problems.push(Problem {
                kind: rule.kind.clone(),
                origin: rule.origin.clone(),
                message:
                    "the `replacement` is redacted itself, so that scrubbing twice is not scrubbing once"
                        .to_owned(),
            });
        }
    }
    problems
}
