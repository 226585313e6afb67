//! The rules as a configuration of the OpenTelemetry Collector's redaction processor, whose engine is RE2.
//!
//! It knows patterns only, and masks all that one matches. A rule that needs a test of looks or a checksum to tell its
//! secrets from prose is left out.

use std::fmt::Write as _;

use super::{left_out, portable};
use crate::redact::rules::{Rule, RuleSet};
use crate::redact::validate::Validator;

const HEAD: &str = "\
#
# What Blackbar finds and this does not: span names, names of events, status messages, links, names of resources and scopes,
# none of which the processor reads; secrets in any encoding; secrets cut off by the end of a value; most secret-named pairs.
# A match is masked whole, with the name or scheme in front of the secret. Where Blackbar asks for the start of a word, or
# tests the secret further, this does not, so it masks more.
";

/// Names of secrets, in short: Blackbar's own model of names is no pattern.
const NAMES: [&str; 4] = [
    "(?i)(?:^|[._-])(?:password|passwd|passphrase|secret|credentials?|authorization|cookie|set-cookie)$",
    "(?i)(?:^|[._-])(?:api|access|secret|private|signing|encryption|master|client)[._-]?(?:key|secret)$",
    "(?i)(?:^|[._-])(?:auth|access|refresh|session|bearer|id|api)[._-]?token$",
    "[a-z](?:ApiKey|Password|Secret|AccessToken|RefreshToken|AuthToken|PrivateKey)$",
];

pub(super) fn document(rules: &RuleSet) -> String {
    let (rough, sure): (Vec<&Rule>, Vec<&Rule>) = portable(rules).partition(|rule| needs_more(rule));
    let version = env!("CARGO_PKG_VERSION");
    let mut out =
        format!("# The patterns of Blackbar {version} for the redaction processor of the Collector.\n{HEAD}");
    for rule in rough.into_iter() {
        let _ = writeln!(out, "# left out: {}: its pattern alone also matches what is no secret", rule.id);
    }
    for (rule, why) in left_out(rules) {
        let _ = writeln!(out, "# left out: {}: {why}", rule.id);
    }
    out.push_str("processors:\n  redaction/blackbar:\n    allow_all_keys: true\n    summary: silent\n");
    if rules.named_pairs() {
        out.push_str("    blocked_key_patterns:\n");
        for name in NAMES {
            let _ = writeln!(out, "      - {}", quoted(name));
        }
    }
    out.push_str("    blocked_values:\n");
    for rule in sure {
        let _ = writeln!(out, "      - {} # {}", quoted(&rule.whole_pattern()), rule.kind);
    }
    out
}

/// Whether the pattern alone finds prose, or numbers of any kind.
fn needs_more(rule: &Rule) -> bool {
    rule.validate.iter().any(|validator| {
        matches!(
            validator,
            Validator::TokenShaped
                | Validator::PasswordShaped
                | Validator::Random
                | Validator::Opaque
                | Validator::Luhn
                | Validator::Entropy(_)
                | Validator::Personal(_)
        )
    })
}

/// A single-quoted text of YAML, in which the Collector expands `$`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('$', "$$"))
}
