//! What can be said of a pattern without running it: where its anchor stands, and its prefixes.
//!
//! Built on the parse tree of `regex-syntax`, the parser that `regex` itself uses. Portability to other regex engines is
//! `portable`.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};

/// Begins the pattern of a rule that ignores case.
pub(super) const IGNORE_CASE: &str = "(?i)";

/// Parses a pattern the way the scanner compiles it: on bytes, without Unicode classes.
///
/// # Errors
///
/// What `regex-syntax` says, on one line.
pub(super) fn parse(pattern: &str) -> Result<Hir, String> {
    ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).map_err(|error| {
        let kind = match &error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            other => other.to_string(),
        };
        kind.replace('\n', " ")
    })
}

/// Most bytes of a match before the first byte of an anchor; `None` if some match may lack every anchor, or if there is no
/// such bound. Where it answers, an anchor stands in *every* match.
pub(super) fn before_anchor(pattern: &str, anchors: &[String]) -> Option<usize> {
    // Case-folded classes hide the literals, and hold exactly the case variants of what stands there without the flag.
    let (bare, fold) = match pattern.strip_prefix(IGNORE_CASE) {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let needles: Vec<Vec<u8>> = anchors.iter().map(|anchor| folded(anchor.as_bytes(), fold)).collect();
    depth(&parse(bare).ok()?, &needles, fold)
}

/// Most bytes of a match before its group; `None`: there is no bound.
pub(super) fn before_group(hir: &Hir, group: u32) -> Option<usize> {
    match hir.kind() {
        HirKind::Capture(capture) if capture.index == group => Some(0),
        HirKind::Capture(capture) => before_group(&capture.sub, group),
        HirKind::Alternation(branches) => {
            let holding = branches.iter().filter(|branch| holds_group(branch, group));
            holding.map(|branch| before_group(branch, group)).try_fold(0, |most, d| d.map(|d| most.max(d)))
        }
        HirKind::Concat(parts) => {
            let mut before = 0_usize;
            for part in parts {
                if holds_group(part, group) {
                    return Some(before + before_group(part, group)?);
                }
                before += part.properties().maximum_len()?;
            }
            None
        }
        _ => None,
    }
}

/// Whether every match ends with this group.
pub(super) fn ends_with_group(hir: &Hir, group: u32) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => capture.index == group || ends_with_group(&capture.sub, group),
        HirKind::Alternation(branches) => branches.iter().all(|branch| ends_with_group(branch, group)),
        HirKind::Concat(parts) => parts.last().is_some_and(|part| ends_with_group(part, group)),
        _ => false,
    }
}

fn holds_group(hir: &Hir, group: u32) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => capture.index == group || holds_group(&capture.sub, group),
        HirKind::Alternation(parts) | HirKind::Concat(parts) => {
            parts.iter().any(|part| holds_group(part, group))
        }
        HirKind::Repetition(repetition) => holds_group(&repetition.sub, group),
        _ => false,
    }
}

/// As [`before_anchor`], of a pattern whose letters are all in lower case.
pub(super) fn depth_of(folded: &Hir, anchors: &[String]) -> Option<usize> {
    let needles: Vec<Vec<u8>> = anchors.iter().map(|anchor| anchor.as_bytes().to_vec()).collect();
    depth(folded, &needles, true)
}

fn depth(hir: &Hir, needles: &[Vec<u8>], fold: bool) -> Option<usize> {
    if let Some(found) = depth_in_prefixes(hir, needles, fold) {
        return Some(found);
    }
    match hir.kind() {
        HirKind::Capture(capture) => depth(&capture.sub, needles, fold),
        HirKind::Alternation(branches) => branches
            .iter()
            .map(|branch| depth(branch, needles, fold))
            .try_fold(0, |most, d| d.map(|d| most.max(d))),
        HirKind::Concat(parts) => depth_in_concat(parts, needles, fold),
        HirKind::Repetition(repetition) if repetition.min > 0 => depth(&repetition.sub, needles, fold),
        _ => None,
    }
}

fn depth_in_concat(parts: &[Hir], needles: &[Vec<u8>], fold: bool) -> Option<usize> {
    let mut before = 0_usize;
    for (at, part) in parts.iter().enumerate() {
        let rest = Hir::concat(parts.iter().skip(at).cloned().collect());
        if let Some(found) = depth_in_prefixes(&rest, needles, fold).or_else(|| depth(part, needles, fold)) {
            return Some(before + found);
        }
        before += part.properties().maximum_len()?;
    }
    None
}

/// The case of one piece: the strings that its matches begin with are few, and each holds an anchor.
fn depth_in_prefixes(hir: &Hir, needles: &[Vec<u8>], fold: bool) -> Option<usize> {
    let prefixes = Extractor::new().extract(hir);
    let literals = prefixes.literals().filter(|literals| !literals.is_empty())?;
    let mut most = 0;
    for literal in literals {
        let text = folded(literal.as_bytes(), fold);
        most = most.max(needles.iter().filter_map(|needle| memchr::memmem::find(&text, needle)).min()?);
    }
    Some(most)
}

fn folded(bytes: &[u8], fold: bool) -> Vec<u8> {
    if fold { bytes.to_ascii_lowercase() } else { bytes.to_vec() }
}

/// A pattern for every prefix of what `hir` matches, up to the end of the text. Group `secret` becomes group 1, the
/// others are dropped.
///
/// It is exact but for what follows the secret's group within the match: that may also begin early.
pub(super) fn prefixes(hir: &Hir, secret: Option<u32>) -> String {
    format!("(?:{})$", prefix_of(hir, secret))
}

fn prefix_of(hir: &Hir, secret: Option<u32>) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Class(_) => optional(hir.clone()),
        HirKind::Literal(literal) => literal
            .0
            .iter()
            .rev()
            .fold(Hir::empty(), |rest, byte| optional(Hir::concat(vec![Hir::literal(vec![*byte]), rest]))),
        HirKind::Capture(capture) => keep_capture(capture, secret, prefix_of(&capture.sub, secret)),
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.iter().map(|branch| prefix_of(branch, secret)).collect())
        }
        HirKind::Repetition(repetition) => {
            let whole = Hir::repetition(Repetition {
                min: 0,
                ..repetition.with(without_groups(&repetition.sub, secret))
            });
            if repetition.sub.properties().maximum_len() == Some(1) {
                return whole;
            }
            Hir::concat(vec![whole, prefix_of(&repetition.sub, None)])
        }
        HirKind::Concat(parts) => parts.iter().rev().fold(Hir::empty(), |rest, part| {
            if holds(part, secret) {
                // The group must stand once only: its prefix, then what may follow.
                return Hir::concat(vec![prefix_of(part, secret), rest]);
            }
            let whole = Hir::concat(vec![without_groups(part, secret), rest]);
            Hir::alternation(vec![whole, prefix_of(part, secret)])
        }),
    }
}

fn without_groups(hir: &Hir, secret: Option<u32>) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => keep_capture(capture, secret, without_groups(&capture.sub, secret)),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(without_groups(&repetition.sub, secret)))
        }
        HirKind::Concat(parts) => {
            Hir::concat(parts.iter().map(|part| without_groups(part, secret)).collect())
        }
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.iter().map(|branch| without_groups(branch, secret)).collect())
        }
        HirKind::Look(_) | HirKind::Empty | HirKind::Class(_) | HirKind::Literal(_) => hir.clone(),
    }
}

fn keep_capture(capture: &Capture, secret: Option<u32>, sub: Hir) -> Hir {
    if secret == Some(capture.index) {
        return Hir::capture(Capture { index: 1, name: None, sub: Box::new(sub) });
    }
    sub
}

fn holds(hir: &Hir, secret: Option<u32>) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => secret == Some(capture.index) || holds(&capture.sub, secret),
        _ => hir.kind().subs().iter().any(|sub| holds(sub, secret)),
    }
}

fn optional(hir: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(hir) })
}

/// Number of the group `name`, or of the group `index` if there is one.
pub(super) fn group_number(hir: &Hir, wanted: &super::Group) -> Option<u32> {
    match hir.kind() {
        HirKind::Capture(capture) => {
            let here = match wanted {
                super::Group::Index(index) => usize::try_from(capture.index) == Ok(*index),
                super::Group::First => true,
                super::Group::Name(name) => capture.name.as_deref() == Some(name.as_str()),
            };
            if here { Some(capture.index) } else { group_number(&capture.sub, wanted) }
        }
        kind => kind.subs().iter().find_map(|sub| group_number(sub, wanted)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(list: &[&str]) -> Vec<String> {
        list.iter().map(|anchor| (*anchor).to_owned()).collect()
    }

    #[test]
    fn finds_how_far_before_its_anchor_a_match_begins() {
        let cases: [(&str, &[&str], Option<usize>); 9] = [
            ("abc_[0-9]{4,}", &["abc_"], Some(0)),
            ("(?:abc|xyz)_[0-9]{4,}", &["abc_", "xyz_"], Some(0)),
            ("(?:abc|xyz)_[0-9]{4,}", &["abc_"], None),
            ("[a-z]{14}\\.mid\\.[a-z]{60,}", &[".mid."], Some(14)),
            ("[a-z]{14,}\\.mid\\.[a-z]{60,}", &[".mid."], None),
            ("(?i)bearer +([a-z]{8,})", &["Bearer"], Some(0)),
            ("hc[a-z]ik_[a-z]{58}", &["ik_"], Some(3)),
            ("(?:x\\.)?ab-(?P<s>[a-z]+)", &["ab-"], Some(2)),
            ("(?:foo-)?[a-z]{3}", &["foo-"], None),
        ];
        for (pattern, list, expected) in cases {
            assert_eq!(before_anchor(pattern, &anchors(list)), expected, "{pattern}");
        }
    }

    #[test]
    fn the_prefix_pattern_matches_every_prefix_and_nothing_longer() {
        let pattern = "ab(?:c|de)_([0-9]{3})\\.(?P<s>[a-f]{4,6})(?:zz)?";
        let hir = parse(pattern).unwrap();
        let number = group_number(&hir, &super::super::Group::Name("s".to_owned()));
        let cut =
            regex::bytes::RegexBuilder::new(&format!("^{}", prefixes(&hir, number))).unicode(false).build();
        let cut = cut.unwrap();
        for text in ["abc_123.abcdefzz", "abde_000.ffff"] {
            for end in 0..=text.len() {
                assert!(cut.is_match(&text.as_bytes()[..end]), "{}", &text[..end]);
            }
        }
        for no in ["abc1", "abx", "abc_12.a", "abde_000.ffffg"] {
            assert!(!cut.is_match(no.as_bytes()), "{no}");
        }
        let found = cut.captures(b"abc_123.ab").unwrap();
        assert_eq!(found.get(1).unwrap().as_bytes(), b"ab");
    }
}
