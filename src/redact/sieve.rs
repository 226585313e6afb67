//! The stage before the scan: touches each byte of a text once and says what of the scan it is worth.
//!
//! What it says is a *necessary* condition: a stage that it leaves out finds nothing in this text. The triggers come from the
//! rules, from the names, and from the layers' own code (`pairs::trigger`, `decode::*`). What costs, costs with the length of the text and little
//! with the number of rules: anchors of rules that begin with a run of token characters, which most do, are
//! searched in such runs only; the few others by fingerprints (`literals`).

mod blocks;
mod by_value;
mod exact;
mod grams;
mod literals;
mod look;
mod masks;
mod shape;
mod shapes;

use blocks::{Class, PRINT, Tables};
use by_value::ByValue;
use grams::Grams;
use literals::Spread;
use look::{Look, MIN_RUN};
use shapes::Shapes;

use super::candidates::Candidates;
use super::decode::Place;
use super::decode::{chars, joins, numbers, quoted, runs};
use super::names;
use super::pairs::{self, trigger};
use super::pattern::CompileError;
use super::rules::Rule;
use super::validate::Validator;
use super::values;

/// Values that begin farther behind an anchor are not looked for at once, in bytes.
const FARTHEST_VALUE: usize = 128;

/// What a text may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one for each stage of the scan")]
pub(super) struct May {
    /// Secret-named pairs.
    pub(super) pairs: bool,
    /// Tokens in pieces.
    pub(super) chains: bool,
    /// Quoted-printable.
    pub(super) quoted: bool,
    /// Base64 or hex.
    pub(super) runs: bool,
    /// Character escapes.
    pub(super) chars: bool,
    /// Bytes written as numbers.
    pub(super) numbers: bool,
    /// Texts in pieces.
    pub(super) streams: bool,
}

impl May {
    /// Everything: for a scan without the sieve.
    pub(super) const ALL: Self = Self {
        pairs: true,
        chains: true,
        quoted: true,
        runs: true,
        chars: true,
        numbers: true,
        streams: true,
    };
}

/// The compiled triggers.
#[derive(Debug)]
pub(super) struct Sieve {
    tables: Tables,
    /// What may stand anywhere, and has a fingerprint in `tables`.
    literals: Grams<What>,
    /// Anchors that stand in runs of token characters, with the rule.
    in_runs: Grams<usize>,
    /// Rules that are found by their value.
    by_value: Vec<ByValue>,
    /// Of rules that find random values only, how far behind an anchor the value may begin; by rule.
    value_after: Vec<Option<usize>>,
    /// Anchors that may stand anywhere, and are too short or too many for fingerprints.
    anywhere: Grams<usize>,
    shapes: Shapes,
    /// A rule has no anchor: it may match in any text.
    always: bool,
    named_pairs: bool,
}

/// What a literal stands for.
#[derive(Debug, Clone)]
enum What {
    /// The anchor of this rule.
    Anchor(usize),
    /// A piece of a secret's name.
    Name { at_end: bool },
    /// The name of a value whose own name stands elsewhere.
    Value,
    /// Quoted-printable.
    Quoted,
    /// A part of a password's name.
    Password,
    /// What a Kubernetes Secret says of itself.
    Kind,
    /// The second line of a dump of characters.
    Characters,
}

impl Sieve {
    /// Triggers for these rules.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if a pattern cannot be compiled.
    pub(super) fn new(rules: &[Rule], named_pairs: bool) -> Result<Self, CompileError> {
        let shapes = Shapes::new(rules)?;
        let mut tables = Tables::new(is_in);
        let (mut literals, mut in_runs, mut anywhere) = (Grams::new(), Grams::new(), Grams::new());
        let mut spread = Spread::default();
        let mut add = |literal: &[u8], what: What| {
            literal.len() >= PRINT && spread.add(&mut tables, &mut literals, literal, what)
        };
        add(quoted::ESCAPE, What::Quoted);
        add(numbers::SECOND_LINE, What::Characters);
        if named_pairs {
            for (piece, at_end) in names::pieces() {
                add(piece, What::Name { at_end });
            }
            for name in trigger::VALUES {
                add(name, What::Value);
            }
            for stem in pairs::statements::STEMS {
                add(stem, What::Password);
            }
            add(pairs::manifest::KIND, What::Kind);
        }
        let of_text = || rules.iter().enumerate().filter(|(_, rule)| !rule.integers);
        for (index, rule) in of_text() {
            let longest = rule.anchors.iter().map(String::len).max().unwrap_or(0);
            let in_run = shapes.run(index, longest, |byte| is_in(Class::Token, byte)) >= MIN_RUN;
            for anchor in rule.anchors.iter().map(String::as_bytes) {
                if in_run {
                    in_runs.add(anchor, literals::rarest(anchor), index);
                } else if !add(anchor, What::Anchor(index)) {
                    anywhere.add(anchor, literals::rarest(anchor), index);
                }
            }
        }
        let by_value = of_text().filter(|(_, rule)| is_found_by_value(rule));
        Ok(Self {
            tables,
            literals: literals.finished(),
            in_runs: in_runs.finished(),
            anywhere: anywhere.finished(),
            shapes,
            by_value: by_value.map(|(index, rule)| ByValue::new(index, rule)).collect(),
            value_after: rules.iter().map(value_after).collect(),
            always: of_text().any(|(_, rule)| is_looked_at_always(rule)),
            named_pairs,
        })
    }

    /// Whether pieces that are put together may hold something. `string`: they are one string, which may hold pairs.
    fn may_be_chain(&self, text: &[u8], string: bool) -> bool {
        let mut found = Candidates::new();
        let mut look =
            Look::new(self, text, None, May { pairs: !string, runs: false, ..May::ALL }, &mut found);
        look.all();
        let may = look.may;
        drop(look);
        self.always || (string && may.pairs) || may.runs || !found.is_empty()
    }

    /// Whether a rule may match in a text that is looked at for its rules only.
    fn may_match(&self, text: &[u8]) -> bool {
        let mut found = Candidates::new();
        // What else it holds is not asked for.
        let mut look = Look::new(self, text, None, May::ALL, &mut found);
        look.cuts = true;
        look.all();
        drop(look);
        self.always || !found.is_empty()
    }

    /// What the text may hold. Rules that may match are added to `found`; nothing is allocated unless there are some.
    pub(super) fn look(&self, text: &[u8], place: &Place<'_>, found: &mut Candidates) -> May {
        let mut look = Look::new(self, text, Some(place), May::default(), found);
        look.all();
        look.may
    }
}

/// Whether nothing but the rule's value tells where it may match.
fn is_found_by_value(rule: &Rule) -> bool {
    rule.anchors.is_empty() && rule.ends_with_secret && value_after(rule).is_some()
}

/// Whether nothing tells where the rule may match.
pub(super) fn is_looked_at_always(rule: &Rule) -> bool {
    rule.anchors.is_empty() && !is_found_by_value(rule)
}

/// How far behind an anchor, or the start of a match, the value of a rule may begin that finds random values only.
fn value_after(rule: &Rule) -> Option<usize> {
    let random = rule.validate.iter().any(Validator::needs_random_run);
    Some(rule.before_secret).filter(|before| random && *before <= FARTHEST_VALUE)
}

fn is_in(class: Class, byte: u8) -> bool {
    match class {
        // Runs of base64 are looked for in runs of these.
        Class::Token => runs::is_base64(byte) || b".=~%".contains(&byte),
        Class::Random => values::is_of_random(byte),
        Class::Digits => numbers::is_part(byte),
        Class::Break => joins::is_break(byte),
        // Before the pieces of a stream there may be a comma.
        Class::Before => joins::may_precede(byte) || byte == b',',
        Class::Escape => chars::is_trigger(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::rules::RuleSet;

    #[test]
    fn the_builtin_rules_fit_into_the_fingerprints() {
        let rules = RuleSet::builtin();
        let sieve = Sieve::new(rules.rules(), true).unwrap();
        assert!(sieve.anywhere.is_empty());
    }
}
