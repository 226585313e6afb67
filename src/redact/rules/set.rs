//! An ordered set of rules with its allow list.

use std::fmt;

use sha2::{Digest, Sha256};

use super::actions::Actions;
use super::gitleaks::{self, Note};
use super::load;
use super::rule::{Origin, Rule};

/// The kind of the value of a secret-named pair: no rule, but switched on and off like one.
pub const NAMED_PAIR_KIND: &str = "secret";

/// The embedded packs, in order of precedence: what is particular to a vendor before what is general.
const PACKS: [(&str, &str); 9] = [
    ("config/rules/ai.yaml", include_str!("../../../config/rules/ai.yaml")),
    ("config/rules/cloud.yaml", include_str!("../../../config/rules/cloud.yaml")),
    ("config/rules/code.yaml", include_str!("../../../config/rules/code.yaml")),
    ("config/rules/saas.yaml", include_str!("../../../config/rules/saas.yaml")),
    ("config/rules/apis.yaml", include_str!("../../../config/rules/apis.yaml")),
    ("config/rules/keys.yaml", include_str!("../../../config/rules/keys.yaml")),
    ("config/rules/general.yaml", include_str!("../../../config/rules/general.yaml")),
    ("config/rules/tools.yaml", include_str!("../../../config/rules/tools.yaml")),
    ("config/rules/labels.yaml", include_str!("../../../config/rules/labels.yaml")),
];

/// Packs that are off unless the configuration names them.
const OPTIONAL: [(&str, &str); 6] = [
    ("pii-email", include_str!("../../../config/rules/packs/pii-email.yaml")),
    ("pii-phone", include_str!("../../../config/rules/packs/pii-phone.yaml")),
    ("pii-iban", include_str!("../../../config/rules/packs/pii-iban.yaml")),
    ("pii-card", include_str!("../../../config/rules/packs/pii-card.yaml")),
    ("pii-national-id", include_str!("../../../config/rules/packs/pii-national-id.yaml")),
    ("pii-ip", include_str!("../../../config/rules/packs/pii-ip.yaml")),
];

/// All of them.
const ALL_PII: &str = "pii";

/// Rules in order of precedence, whether secret-named pairs count, and what is known to be harmless.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    pub(super) rules: Vec<Rule>,
    named_pairs: bool,
    allow: Allow,
    pub(super) actions: Actions,
}

/// Known harmless values.
#[derive(Debug, Clone, Default)]
pub struct Allow {
    pub(super) sha256: Vec<[u8; 32]>,
    pub(super) patterns: Vec<regex::bytes::Regex>,
}

/// One problem in a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// File and line.
    pub origin: Origin,
    /// What is wrong and what was expected.
    pub message: String,
}

/// All problems of a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleErrors(pub Vec<RuleError>);

impl RuleSet {
    /// No rule, no named pairs.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The built-in packs, with named pairs.
    ///
    /// # Panics
    ///
    /// If an embedded file is not valid, which the tests rule out: without its rules the redactor must not start.
    pub fn builtin() -> Self {
        let mut set = Self { named_pairs: true, ..Self::default() };
        for (name, yaml) in PACKS {
            match Self::from_yaml(name, yaml) {
                Ok(pack) => set.extend(pack),
                Err(errors) => panic!("built-in rules: {errors}"),
            }
        }
        set
    }

    /// The names of the optional packs.
    pub fn optional_packs() -> impl Iterator<Item = &'static str> {
        OPTIONAL.iter().map(|(name, _)| *name).chain([ALL_PII])
    }

    /// An optional pack; `pii` is all of them. `None`: there is no such pack.
    ///
    /// # Panics
    ///
    /// As [`Self::builtin`].
    pub fn optional(name: &str) -> Option<Self> {
        let mut found = None;
        for (pack, yaml) in OPTIONAL.iter().filter(|(pack, _)| *pack == name || name == ALL_PII) {
            let file = format!("config/rules/packs/{pack}.yaml");
            match load::load(&file, yaml, true) {
                Ok((rules, _)) => found.get_or_insert_with(Self::default).extend(Self::of(rules)),
                Err(errors) => panic!("built-in rules: {}", RuleErrors(errors)),
            }
        }
        found
    }

    /// Reads a rule file. `source_name` stands in messages.
    ///
    /// # Errors
    ///
    /// All problems of the file, each with its line.
    pub fn from_yaml(source_name: &str, yaml: &str) -> Result<Self, RuleErrors> {
        let (rules, allow) = load::load(source_name, yaml, false).map_err(RuleErrors)?;
        Ok(Self { rules, allow, ..Self::default() })
    }

    /// Reads a configuration of gitleaks. The notes say what of it does not count.
    ///
    /// # Errors
    ///
    /// If it is not TOML.
    pub fn from_gitleaks(source_name: &str, toml: &str) -> Result<(Self, Vec<Note>), RuleErrors> {
        gitleaks::load(source_name, toml)
    }

    /// These rules and nothing else.
    pub(super) fn of(rules: Vec<Rule>) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Adds the rules, the allow list and the named pairs of `other`; its rules come after these. What was said of actions stays.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
        self.named_pairs |= other.named_pairs;
        self.allow.sha256.extend(other.allow.sha256);
        self.allow.patterns.extend(other.allow.patterns);
    }

    /// Takes out every rule of these kinds or ids (`secret`: named pairs). Returns the kinds that named nothing.
    pub fn disable<'k>(&mut self, kinds: &[&'k str]) -> Vec<&'k str> {
        let mut unknown = Vec::new();
        for kind in kinds {
            let before = self.rules.len();
            self.rules.retain(|rule| *rule.kind != **kind && *rule.id != **kind);
            let named = *kind == NAMED_PAIR_KIND && std::mem::take(&mut self.named_pairs);
            if before == self.rules.len() && !named {
                unknown.push(*kind);
            }
        }
        unknown
    }

    /// The rules, in order of precedence among equals.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether the value of a secret-named pair counts as a secret.
    pub fn named_pairs(&self) -> bool {
        self.named_pairs
    }

    /// Whether the operator has said that this value is harmless.
    pub fn allows(&self, secret: &[u8]) -> bool {
        let listed =
            !self.allow.sha256.is_empty() && self.allow.sha256.contains(&Sha256::digest(secret).into());
        listed || self.allow.patterns.iter().any(|pattern| pattern.is_match(secret))
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.origin.file, self.origin.line, self.message)
    }
}

impl fmt::Display for RuleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RuleError {}
impl std::error::Error for RuleErrors {}
