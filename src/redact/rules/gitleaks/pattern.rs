//! Patterns of Go's `regexp` in the syntax of Rust's `regex`, and what can be said of one without running it.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Capture, Class, Hir, HirKind};

use crate::redact::rules::shape;

/// Shortest derived literal, in bytes.
const LEAST_LITERAL: usize = 3;
/// Most derived literals of one rule.
const MOST_LITERALS: usize = 32;

/// The same pattern for Rust. What Go reads as a plain character is escaped: `\<`, a `{` that repeats nothing, `[` in a
/// class, and `&&`, `--`, `~~` there.
pub(super) fn translate(go: &str) -> String {
    let mut out = String::with_capacity(go.len() + 8);
    let mut rest = go;
    let mut class = None;
    while let Some(c) = rest.chars().next() {
        let mut width = c.len_utf8();
        let after = rest.get(width..).unwrap_or_default();
        match (c, class) {
            ('\\', _) => width += escape(after, &mut out),
            ('[', None) => {
                let open = if after.starts_with('^') { "[^" } else { "[" };
                out.push_str(open);
                width = open.len();
                class = Some(());
                // A `]` that comes first is one of the characters.
                if rest.get(width..).is_some_and(|rest| rest.starts_with(']')) {
                    out.push_str("\\]");
                    width += 1;
                }
            }
            ('[', Some(())) => match after.find(":]").filter(|_| after.starts_with(':')) {
                Some(end) => {
                    width += end + 2;
                    out.push_str(rest.get(..width).unwrap_or_default());
                }
                None => out.push_str("\\["),
            },
            (']', Some(())) => {
                out.push(c);
                class = None;
            }
            ('&' | '-' | '~', Some(())) if after.starts_with(c) => out.extend(['\\', c]),
            ('{', None) if !is_repetition(after) => out.push_str("\\{"),
            _ => out.push(c),
        }
        rest = rest.get(width..).unwrap_or_default();
    }
    out
}

/// Writes what a backslash and what follows it mean; gives the bytes that follow.
fn escape(after: &str, out: &mut String) -> usize {
    let Some(c) = after.chars().next() else {
        out.push('\\');
        return 0;
    };
    match c {
        // Word boundaries in Rust.
        '<' | '>' => out.push(c),
        'Q' => {
            let quoted = after.get(1..).unwrap_or_default();
            let end = quoted.find("\\E");
            out.push_str(&regex_syntax::escape(
                quoted.get(..end.unwrap_or(quoted.len())).unwrap_or_default(),
            ));
            return 1 + end.map_or(quoted.len(), |end| end + 2);
        }
        '0'..='7' => {
            let octal: String = after.chars().take(3).take_while(|c| ('0'..='7').contains(c)).collect();
            out.push_str(&format!("\\x{{{:x}}}", u32::from_str_radix(&octal, 8).unwrap_or_default()));
            return octal.len();
        }
        _ => out.extend(['\\', c]),
    }
    c.len_utf8()
}

/// `3}`, `3,}`, `3,5}`.
fn is_repetition(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// The pattern's tree with every letter in lower case that stands for both cases or one.
pub(super) fn folded(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Literal(literal) => Hir::literal(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Bytes(class)) => match class.ranges() {
            [upper, lower]
                if upper.start() == upper.end()
                    && lower.start() == lower.end()
                    && upper.start().to_ascii_lowercase() == lower.start() =>
            {
                Hir::literal([lower.start()])
            }
            _ => hir.clone(),
        },
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(folded(&repetition.sub))),
        HirKind::Capture(capture) => {
            Hir::capture(Capture { sub: Box::new(folded(&capture.sub)), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(folded).collect()),
        HirKind::Alternation(branches) => Hir::alternation(branches.iter().map(folded).collect()),
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Unicode(_)) => hir.clone(),
    }
}

/// Literals of which one stands in every match, and the most bytes of a match before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literals {
    pub(super) texts: Vec<String>,
    pub(super) before: usize,
}

/// The longest literals that a folded pattern can't match without, at a bounded distance from its start.
pub(super) fn literals(hir: &Hir) -> Option<Literals> {
    let found = match hir.kind() {
        HirKind::Capture(capture) => literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => literals(&repetition.sub),
        HirKind::Alternation(branches) => in_every(branches),
        HirKind::Concat(parts) => in_any(parts),
        _ => None,
    };
    better(found, beginnings(hir))
}

fn in_every(branches: &[Hir]) -> Option<Literals> {
    let mut all = Literals { texts: Vec::new(), before: 0 };
    for branch in branches {
        let found = literals(branch)?;
        all.texts.extend(found.texts);
        all.before = all.before.max(found.before);
    }
    (all.texts.len() <= MOST_LITERALS).then_some(all)
}

fn in_any(parts: &[Hir]) -> Option<Literals> {
    let mut best = None;
    let mut before = 0_usize;
    for (at, part) in parts.iter().enumerate() {
        let rest = Hir::concat(parts.iter().skip(at).cloned().collect());
        let here = better(literals(part), beginnings(&rest));
        best = better(best, here.map(|found| Literals { before: found.before + before, ..found }));
        match part.properties().maximum_len() {
            Some(most) => before += most,
            None => break,
        }
    }
    best
}

/// The literals that every match begins with.
fn beginnings(hir: &Hir) -> Option<Literals> {
    let prefixes = Extractor::new().extract(hir);
    let found = prefixes.literals().filter(|found| !found.is_empty() && found.len() <= MOST_LITERALS)?;
    let text = |literal: &[u8]| String::from_utf8(literal.to_ascii_lowercase()).ok();
    let texts = found.iter().map(|literal| text(literal.as_bytes())).collect::<Option<Vec<String>>>()?;
    texts.iter().all(|text| text.len() >= LEAST_LITERAL).then_some(Literals { texts, before: 0 })
}

/// The longer literals, unless the shorter ones will do and are fewer.
fn better(one: Option<Literals>, other: Option<Literals>) -> Option<Literals> {
    const GOOD: usize = 4;
    let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
    let least = |found: &Literals| found.texts.iter().map(String::len).min().unwrap_or(0);
    let longer = least(other) > least(one);
    let chosen =
        if longer && (least(one) < GOOD || other.texts.len() <= one.texts.len()) { other } else { one };
    Some(chosen.clone())
}

/// The part of a pattern that is the secret: group `number`, or all of it.
pub(super) fn secret(hir: &Hir, number: Option<u32>) -> Option<&Hir> {
    let Some(number) = number else { return Some(hir) };
    match hir.kind() {
        HirKind::Capture(capture) if capture.index == number => Some(&capture.sub),
        kind => kind.subs().iter().find_map(|sub| secret(sub, Some(number))),
    }
}

/// Compiles a pattern as the scanner does, and gives its tree.
pub(super) fn compile(pattern: &str) -> Result<Hir, String> {
    super::super::load::bytes_regex(pattern)?;
    shape::parse(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_takes_for_itself_is_escaped() {
        for (go, rust) in [
            ("a\\<b\\>", "a<b>"),
            ("[[a]", "[\\[a]"),
            ("[[:alpha:]_]", "[[:alpha:]_]"),
            ("[]a]", "[\\]a]"),
            ("[^]a]", "[^\\]a]"),
            ("[a&&b~~]", "[a\\&&b\\~~]"),
            ("[+--]", "[+\\--]"),
            ("\\${(?:x)}", "\\$\\{(?:x)}"),
            ("a{2}b{2,}c{2,3}d{e}", "a{2}b{2,}c{2,3}d\\{e}"),
            ("\\Qa.b\\Ec", "a\\.bc"),
            ("\\101\\x60", "\\x{41}\\x60"),
            ("(?P<n>a)\\z", "(?P<n>a)\\z"),
        ] {
            assert_eq!(translate(go), rust, "{go}");
            assert!(compile(&translate(go)).is_ok(), "{go}");
        }
    }

    #[test]
    fn literals_are_found_in_every_branch_or_not_at_all() {
        type Expected = Option<(&'static [&'static str], usize)>;
        let cases: [(&str, Expected); 8] = [
            ("abc_[0-9]{4}", Some((&["abc_"], 0))),
            ("(?i)ABC_[0-9]{4}", Some((&["abc_"], 0))),
            ("[a-z]{0,20}(?:adobe|acme)[0-9]", Some((&["acme", "adobe"], 20))),
            ("x(?:(?i)secret)y", Some((&["xsecrety"], 0))),
            ("[0-9a-f]{32}", None),
            ("[a-z]+mid_[0-9]", None),
            ("abc|[0-9]{9}", None),
            ("\\b(k1_[a-z]{4})", Some((&["k1_"], 0))),
        ];
        for (pattern, expected) in cases {
            let found = literals(&folded(&compile(pattern).unwrap()));
            let found = found.map(|found| {
                let mut texts = found.texts;
                texts.sort();
                (texts, found.before)
            });
            let expected =
                expected.map(|(texts, before)| (texts.iter().map(|t| (*t).to_owned()).collect(), before));
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
