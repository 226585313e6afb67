//! One rule: the compiled-from-YAML form that the scanner reads. Holds data, decides nothing but word starts.

use std::borrow::Cow;
use std::sync::Arc;

use super::before::Before;
use super::shape::IGNORE_CASE;
use super::spare::SpareList;
use crate::redact::action::Action;
use crate::redact::validate::{Validator, Verdict};
use crate::redact::wordy::is_wordy;

/// How sure a match of the pattern alone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// The form alone says that it is a credential.
    Confident,
    /// It takes a name, a header or a neighbour, all of which the pattern holds.
    Contextual,
}

/// What a finding does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is replaced and counted.
    Active,
    /// It is counted only: for trying an operator's rule.
    Audit,
}

/// Which finding wins where two overlap: the greater one. Ties: the earlier rule of the [`super::RuleSet`] wins.
///
/// Derived from the kind unless the rule file says `order: listed` (then every rule of it is a `KnownFormat`, so that
/// only their order counts): `jwt` is [`Self::Jwt`], `bearer-token` and `basic-auth` are [`Self::Scheme`], a contextual rule
/// is [`Self::Contextual`], any other is [`Self::KnownFormat`]. A named pair is no rule; the scanner gives it
/// [`Self::NamedPair`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Specificity {
    /// The value of a name that is that of a secret.
    NamedPair,
    /// A rule that needs what stands around the secret (a password in a URL).
    Contextual,
    /// What follows `Bearer` or `Basic`.
    Scheme,
    /// Any JWT.
    Jwt,
    /// A vendor's own format.
    KnownFormat,
}

/// Which group of the pattern is the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    /// By number, from 1.
    Index(usize),
    /// By name, `(?P<name>...)`.
    Name(String),
    /// The first that took part in the match, of several.
    First,
}

/// How a secret is known that the end of the value cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Matches every prefix of what the rule's pattern matches, or what the file says. Group 1 is the secret
    /// where the rule has a group. It counts only where the match ends at the end of the value and is at least `floor` bytes long.
    pub pattern: String,
    /// Least length in bytes of the secret (the group), its prefix included.
    pub floor: usize,
    /// The same of a secret that is no words; where it is less, the validators hold from `floor` on.
    pub random: usize,
    /// The file has the pattern: a match may hold blanks.
    pub own: bool,
    /// Most bytes of a match of this pattern before its anchor; [`usize::MAX`]: there is no bound.
    pub before_anchor: usize,
    /// It is looked for at the end of the value only, not before each mark of truncation: of groups where the file does not say
    /// `cut`, whose anchors are common words.
    pub at_end: bool,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Unique name; the kind unless the file says otherwise.
    pub id: Arc<str>,
    /// Kebab case; the marker is `[REDACTED:<kind>]`. Several rules may share a kind.
    pub kind: Arc<str>,
    /// What it finds, for people.
    pub description: String,
    /// Where the format is described.
    pub source: Option<String>,
    /// How sure a match is.
    pub confidence: Confidence,
    /// Literals, without regard to case: the rule is looked at only where one of them occurs. Empty: in every text, for
    /// packs and imported rules whose patterns have none.
    pub anchors: Vec<String>,
    /// The pattern begins with `(?i)`: anchors are compared without ASCII case.
    pub ignore_case: bool,
    /// The regex, for `regex::bytes` with `unicode(false)`. Starts with no word boundary: see `word_start`.
    pub pattern: String,
    /// The secret's group; `None`: the whole match.
    pub group: Option<Group>,
    /// Most bytes of a match that can stand before the first byte of its anchor; [`usize::MAX`]: the anchor need not stand in
    /// the match at all.
    pub before_anchor: usize,
    /// Most bytes of a match before the secret; [`usize::MAX`]: there is no bound.
    pub before_secret: usize,
    /// Every match ends with its secret.
    pub ends_with_secret: bool,
    /// The match must not continue a word: see [`Rule::starts_well`].
    pub word_start: bool,
    /// The match must not be continued: see [`Rule::ends_well`].
    pub word_end: bool,
    /// The rule looks at integer attributes, at nothing else.
    pub integers: bool,
    /// What the secret must, or may, satisfy.
    pub validate: Vec<Validator>,
    /// Active or audit.
    pub mode: Mode,
    /// What becomes of the secret, where the file or the operator says so: see [`super::RuleSet::action_of`].
    pub action: Option<Action>,
    /// Stands in place of the secret instead of the marker.
    pub replacement: Option<String>,
    /// Who wins on overlap.
    pub specificity: Specificity,
    /// Secrets cut off by the end of the value.
    pub cut: Option<Cut>,
    /// What has to stand before a match.
    pub preceded_by: Option<Before>,
    /// What is harmless for this rule alone.
    pub spare: Vec<SpareList>,
    /// Templates, expanded: texts in which the rule finds its secret.
    pub examples: Vec<Example>,
    /// Templates, expanded: texts in which it finds nothing.
    pub counterexamples: Vec<Example>,
    /// File of the rule and its line, for messages.
    pub origin: Origin,
}

/// A text of a rule's own tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The expanded text.
    pub text: String,
    /// Byte ranges of `text` that must be gone: the parts between `«` and `»` in the file, or else what the group matches.
    pub secrets: Vec<std::ops::Range<usize>>,
    /// Its line in the file.
    pub line: usize,
}

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name of the source as given by the caller, for example a path.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
}

impl Rule {
    /// All validators together: one rejection rejects, else one confirmation confirms.
    pub fn verdict(&self, secret: &[u8]) -> Verdict {
        let mut verdict = Verdict::Plausible;
        for validator in &self.validate {
            match validator.check(secret) {
                Verdict::Rejected => return Verdict::Rejected,
                Verdict::Confirmed => verdict = Verdict::Confirmed,
                Verdict::Plausible => {}
            }
        }
        verdict
    }

    /// Whether a piece that the end of the value cut off counts: it is long enough, or no words.
    pub fn accepts_cut(&self, secret: &[u8]) -> bool {
        let Some(cut) = &self.cut else { return false };
        let begins_well =
            || self.validate.iter().all(|v| !v.judges_parts() || v.check(secret) != Verdict::Rejected);
        if secret.len() >= cut.floor && (self.verdict(secret) != Verdict::Rejected || cut.floor == cut.random)
        {
            return self.group.is_none() || begins_well();
        }
        let prefix = self.anchors.iter().filter_map(|anchor| secret.strip_prefix(anchor.as_bytes()));
        let body = prefix.min_by_key(|body| body.len()).unwrap_or(secret);
        secret.len() >= cut.random && !has_words_only(body) && begins_well()
    }

    /// Whether its own lists say that a secret is harmless; `found`: the whole match.
    pub fn spares(&self, text: &[u8], found: &std::ops::Range<usize>, secret: &[u8]) -> bool {
        self.spare.iter().any(|list| list.spares(text, found, secret))
    }

    /// Whether a match may begin after `before` (the text up to the match).
    ///
    /// Rules with `word_start` refuse to begin in the middle of a word (`sk-` in `task-`); the letter of an escape
    /// (`\n`, `\u003d`, `%3D`, an ANSI colour's `m`) is not a word's.
    ///
    /// With `preceded_by` that is said of the word before the match, which has to be there.
    pub fn starts_well(&self, before: &[u8]) -> bool {
        match &self.preceded_by {
            Some(words) => words.stands_before(before, self.word_start),
            None => !self.word_start || super::edge::is_word_start(before),
        }
    }

    /// The pattern with all that has to stand before a match.
    pub fn whole_pattern(&self) -> Cow<'_, str> {
        let Some(words) = &self.preceded_by else { return Cow::Borrowed(&self.pattern) };
        let bare = self.pattern.strip_prefix(IGNORE_CASE).unwrap_or(&self.pattern);
        Cow::Owned(format!("{IGNORE_CASE}{}(?:{bare})", words.pattern()))
    }

    /// Whether a match may end before `after` (the text from its end on).
    ///
    /// Rules with `word_end` refuse to end before a letter, a digit or `_`, and before `-` or `.` and one of those.
    pub fn ends_well(&self, after: &[u8]) -> bool {
        let is_word = |at: usize| after.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let joined = matches!(after.first(), Some(b'-' | b'.')) && is_word(1);
        !self.word_end || !(is_word(0) || joined)
    }
}

/// Whether the text is words, however short it is cut: what was random stays it.
fn has_words_only(text: &[u8]) -> bool {
    const LEAST: usize = 12;
    const MOST: usize = 64;
    const STEP: usize = 4;
    (LEAST..text.len().min(MOST))
        .step_by(STEP)
        .chain([text.len()])
        .all(|end| text.get(..end).is_none_or(is_wordy))
}
