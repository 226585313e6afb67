//! The rule files: the built-in packs pass their own tests, mistakes are told with their line, seed A's set is as published.

use blackbar::redact::rules::{RuleSet, Specificity, check};
use blackbar::redact::trial;

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

#[test]
fn the_built_in_packs_pass_their_own_tests_all_together() {
    let problems = trial::problems(&RuleSet::builtin(), &RuleSet::empty()).unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn what_only_shows_with_all_rules_together_is_told() {
    let yaml = r"
rules:
  - kind: acme-word
    description: What follows acme, which other rules know better
    confidence: contextual
    anchors: ['acme ']
    pattern: 'acme ([0-9A-Za-z_]{20,})'
    group: 1
    examples:
      - 'acme «{alnum:30}»'
      - 'acme «ghp_{alnum:36}»'
    counterexamples:
      - 'acme_'
  - kind: acme-other
    description: Another rule takes its counterexample
    confidence: contextual
    anchors: ['acmes ']
    pattern: 'acmes ([0-9]{20,})'
    group: 1
    examples:
      - 'acmes «{digits:20}»'
    counterexamples:
      - 'acmes {alnum:30}'
";
    let own = RuleSet::from_yaml("own.yaml", yaml).unwrap();
    assert!(check(&own).is_ok());
    let problems = trial::problems(&own, &RuleSet::builtin()).unwrap();
    let told: Vec<_> = problems.iter().map(|p| (&*p.kind, p.origin.line, p.message.as_str())).collect();
    assert_eq!(told, [("acme-word", 11, "with all rules together the example becomes `github-token`")]);
}

#[test]
fn the_optional_packs_pass_their_own_tests() {
    let report = check(&RuleSet::optional("pii").unwrap());
    assert!(report.is_ok(), "{:#?}", report.problems);
    assert!(report.rules > 25 && report.examples > 80);
    assert!(RuleSet::optional("pii-shoe-size").is_none());
}

fn seed_a() -> RuleSet {
    let yaml = include_str!("../../config/seed-034/rules.yaml");
    RuleSet::from_yaml("seed-034/rules.yaml", yaml).unwrap()
}

#[test]
fn seed_a_has_its_five_kinds_in_order_and_nothing_else() {
    let set = seed_a();
    let kinds: Vec<&str> = set.rules().iter().map(|rule| &*rule.kind).collect();
    assert_eq!(kinds, ["anthropic-key", "aws-access-key", "github-token", "jwt", "bearer-token"]);
    assert!(!set.named_pairs());
    // Equal specificity: only the order decides.
    assert!(set.rules().iter().all(|rule| rule.specificity == Specificity::KnownFormat));
    assert_eq!(set.rules()[4].replacement.as_deref(), Some("[REDACTED]"));
    let report = check(&set);
    assert!(report.is_ok(), "{:?}", report.problems);
}

#[test]
fn every_mistake_of_a_file_is_told_at_once_with_its_line() {
    let yaml = r"
orders: listed
rules:
  - kind: Not_Kebab
    description: d
    confidence: sure
    anchors: [abc]
    pattern: 'abc[0-9]{4}'
  - kind: no-anchor
    description: d
    confidence: confident
    anchors: [xyz]
    pattern: 'abc[0-9]{4}'
  - kind: bad-regex
    description: d
    confidence: confident
    anchors: [abc]
    pattern: 'abc(?=x)'
    colour: red
  - kind: bad-template
    description: d
    confidence: confident
    anchors: [abc]
    pattern: 'abc[0-9]{4}'
    validate: [sha1]
    examples: ['abc{digit:4}']
  - kind: no-group
    description: d
    confidence: confident
    anchors: [abc]
    pattern: 'abc[0-9]{4}'
    group: 1
  - description: d
allow:
  sha256: [abc]
";
    let errors = RuleSet::from_yaml("my.yaml", yaml).unwrap_err();
    let told: Vec<(usize, String)> = errors.0.iter().map(|e| (e.origin.line, e.to_string())).collect();
    for (line, part) in [
        (2, "unknown key `orders`"),
        (4, "kebab case"),
        (6, "`confidence` must be confident or contextual"),
        (13, "an anchor stands in every match"),
        (19, "unknown key `colour`"),
        (25, "unknown validator `sha1`"),
        (26, "unknown template {digit:4}"),
        (31, "no such group"),
        (33, "`kind` is missing"),
        (33, "`pattern` is missing"),
        (33, "`anchors` must list"),
        (35, "SHA-256"),
    ] {
        let found = told.iter().any(|(at, message)| {
            *at == line && message.contains(part) && message.starts_with(&format!("my.yaml:{line}: "))
        });
        assert!(found, "line {line}: {part} not in\n{errors}");
    }
    let twice = RuleSet::from_yaml("my.yaml", "rules: []\nrules: []\n").unwrap_err();
    assert!(twice.to_string().starts_with("my.yaml:2: duplicate key `rules`"), "{twice}");
    let number = RuleSet::from_yaml("my.yaml", "allow: { patterns: [123, '123'] }").unwrap_err();
    assert_eq!(number.0.len(), 1, "{number}");
    let broken = RuleSet::from_yaml("my.yaml", "rules:\n  - kind: [").unwrap_err();
    assert_eq!(broken.0.len(), 1);
}

#[test]
fn a_pattern_that_regex_refuses_is_told() {
    let rule = |pattern: &str| {
        format!(
            "rules: [{{kind: k, description: d, confidence: confident, anchors: [abc], pattern: '{pattern}'}}]"
        )
    };
    for bad in ["abc(?=x)", "(abc)\\1", "abc[", "abc(?<!x)", "(?:abc)?"] {
        assert!(RuleSet::from_yaml("r", &rule(bad)).is_err(), "{bad}");
    }
    assert_eq!(RuleSet::from_yaml("r", &rule("abc[0-9]+")).unwrap().rules().len(), 1);
}

#[test]
fn check_tells_what_the_rules_own_tests_show() {
    let yaml = r"
rules:
  - kind: one
    description: d
    confidence: confident
    anchors: [abc]
    pattern: 'abc[0-9]{4}\b'
    examples: ['xyz']
    counterexamples: ['abc{digits:4}']
  - kind: two
    description: d
    confidence: contextual
    anchors: [k=]
    pattern: 'k=([a-z]{4})'
    group: 1
    examples: ['k=«{lower:8}»']
  - kind: three
    description: d
    confidence: contextual
    anchors: [k=]
    pattern: 'k=([a-z]{4})'
    group: 1
    examples: ['k={lower:4}']
  - kind: four
    description: d
    confidence: confident
    anchors: [four]
    pattern: 'four'
";
    let report = check(&RuleSet::from_yaml("r", yaml).unwrap());
    let told: Vec<(&str, &str)> = report.problems.iter().map(|p| (&*p.kind, p.message.as_str())).collect();
    for (kind, part) in [
        ("one", "not portable"),
        ("one", "does not match its example"),
        ("one", "matches its counterexample"),
        ("two", "part of the marked secret stays"),
        ("three", "`two` also matches the example and wins"),
        ("four", "no example"),
    ] {
        assert!(told.iter().any(|(k, m)| *k == kind && m.contains(part)), "{kind}: {part} not in {told:?}");
    }
    assert_eq!((report.rules, report.examples), (4, 4));
}

#[test]
fn kinds_are_switched_off_by_name_and_unknown_ones_told() {
    let mut set = RuleSet::builtin();
    let before = set.rules().len();
    assert_eq!(set.disable(&["github-token", "secret", "no-such-kind"]), ["no-such-kind"]);
    assert!(set.rules().len() < before && !set.named_pairs());
    assert!(set.rules().iter().all(|rule| &*rule.kind != "github-token"));
    assert!(RuleSet::empty().rules().is_empty());
}

#[test]
fn the_allow_list_spares_by_digest_and_by_whole_pattern() {
    let mut set = RuleSet::empty();
    set.extend(RuleSet::from_yaml("a", "allow: { patterns: ['test-[0-9]+'] }").unwrap());
    assert!(set.allows(b"test-12") && !set.allows(b"a test-12") && !set.allows(b"test-12b"));
    assert!(!set.allows(b"other"));
    // SHA-256 of "secret123".
    let digest = "fcf730b6d95236ecd3c9fc2d92d7b6b2bb061514961aec041d6c7a7192f592e4";
    let set = RuleSet::from_yaml("a", &format!("allow: {{ sha256: [{digest}] }}")).unwrap();
    assert!(set.allows(b"secret123") && !set.allows(b"secret124"));
}

#[test]
fn a_word_start_is_known_also_behind_an_escape() {
    let set = RuleSet::builtin();
    let rule = set.rules().iter().find(|rule| rule.word_start).unwrap();
    for start in
        ["", "=", " ", "_", "\\n", "a\\\\t", "\\u003d", "%3D", "\\x20", "\x1b[0m", "\\u001b[31;1m", "é"]
    {
        assert!(rule.starts_well(start.as_bytes()), "{start:?}");
    }
    for middle in ["ta", "n", "9", "x20", "u003d", "m", "0m"] {
        assert!(!rule.starts_well(middle.as_bytes()), "{middle:?}");
    }
}
