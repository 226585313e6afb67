//! Laws of the scanner over random texts: idempotence, validity of JSON, nothing found means nothing changed, no panic.

use blackbar::redact::Report;
use blackbar::redact::rules::RuleSet;
use blackbar::redact::text::TextScrubber;
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::text::{builtin, scrubbed};

/// Pieces that meet in agent text: secrets, encodings, quotes, signs.
fn fragments() -> Vec<String> {
    let alnum = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T";
    let mut all = vec![
        format!("gh{}_{}", "p", &alnum[..36]),
        format!("sk-{}-api03-{alnum}", "ant"),
        format!("AK{}IOSFODNN7EXAMPLE", "IA"),
        format!("Bearer {alnum}"),
        format!("password={}", &alnum[..12]),
        "\"password\": \"x\"".to_owned(),
        "Authorization: ".to_owned(),
        "[REDACTED:secret]".to_owned(),
        "[REDACTED:".to_owned(),
        "\u{200b}".to_owned(),
        "\\u0041".to_owned(),
        alnum.to_owned(),
    ];
    all.extend(
        [
            "\\n", "\\", "\\\"", "\"", "'", "{", "}", "[", "]", ":", ",", "=", "%41", "&quot;", "\n", " ",
            "...", "--token ",
        ]
        .map(str::to_owned),
    );
    all
}

fn mixed() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(fragments()), 0..24).prop_map(|parts| parts.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        mixed().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let keys = proptest::sample::select(vec![
            "password",
            "a",
            "token",
            "credentials",
            "name",
            "value",
            "x-api-key",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            proptest::collection::vec((keys, inner.clone()), 0..5).prop_map(|pairs| {
                serde_json::Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
            inner.prop_map(|nested| nested.to_string().into()),
        ]
    })
}

/// Rules of an operator whose matches begin and end anywhere: in strings, numbers, names and escapes.
fn greedy(rule: usize) -> &'static TextScrubber {
    static GREEDY: std::sync::OnceLock<Vec<TextScrubber>> = std::sync::OnceLock::new();
    let scrubber = |pattern: &&str| {
        let yaml = format!(
            "rules: [{{kind: greedy, description: d, confidence: contextual, anchors: [a], pattern: '{pattern}'}}]"
        );
        TextScrubber::new(RuleSet::from_yaml("greedy", &yaml).unwrap()).unwrap()
    };
    let all = || ["a[^~]{1,30}", "a[^~]{3,200}[0-9]", r".{4}a(?:.|\n){9}"].iter().map(scrubber).collect();
    &GREEDY.get_or_init(all)[rule]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scrubbing_twice_changes_nothing_more(text in mixed()) {
        let once = scrubbed(builtin(), &text);
        prop_assert_eq!(scrubbed(builtin(), &once), once);
    }

    #[test]
    fn valid_json_stays_valid_at_every_level(value in json()) {
        let text = serde_json::Value::String(value.to_string()).to_string();
        let once = scrubbed(builtin(), &text);
        let outer = serde_json::from_str::<serde_json::Value>(&once);
        prop_assert!(outer.is_ok(), "{}\n{}", text, once);
        let outer = outer.unwrap();
        prop_assert!(serde_json::from_str::<serde_json::Value>(outer.as_str().unwrap()).is_ok(), "{}", once);
        prop_assert_eq!(scrubbed(builtin(), &once), once);
    }

    #[test]
    fn valid_json_stays_valid_whatever_a_match_runs_over(value in json(), rule in 0..3_usize) {
        let text = serde_json::Value::String(value.to_string()).to_string();
        let once = scrubbed(greedy(rule), &text);
        let outer = serde_json::from_str::<String>(&once);
        prop_assert!(outer.is_ok(), "{}\n{}", text, once);
        let inner = outer.unwrap();
        // What hides a string as a whole leaves no JSON in it.
        let is_json = serde_json::from_str::<serde_json::Value>(&inner).is_ok();
        prop_assert!(is_json || inner == "[REDACTED:greedy]", "{}\n{}", text, once);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut report = Report::default();
        let out = builtin().scrub(None, &bytes, &mut report);
        prop_assert_eq!(out.is_none(), report.is_unchanged());
        prop_assert!(report.unscanned.is_empty());
    }
}

#[test]
fn random_harmless_text_comes_back_unchanged() {
    let mut random = StdRng::seed_from_u64(20_241_130);
    let words = [
        "alpha",
        "request",
        "token",
        "the",
        "server",
        "authentication",
        "Key",
        "timeout",
        "user",
        "cache",
        "rows",
    ];
    for n in 0..200 {
        let len = random.random_range(1..120);
        let text = match n % 4 {
            0 => (0..len).map(|_| char::from(random.random_range(b' '..=b'~'))).collect(),
            1 => (0..len).map(|_| *words.choose(&mut random).unwrap()).collect::<Vec<_>>().join(" "),
            2 => (0..len / 4).map(|_| *words.choose(&mut random).unwrap()).collect::<Vec<_>>().join("/"),
            _ => (0..len / 4)
                .map(|_| random.random_range(0..1_000_000_u32).to_string())
                .collect::<Vec<_>>()
                .join(" "),
        };
        assert_eq!(scrubbed(builtin(), &text), text);
    }
}

#[test]
fn identifiers_and_hashes_come_back_unchanged() {
    use base64::Engine as _;
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..2_000 {
        let bytes: [u8; 64] = std::array::from_fn(|_| random.random());
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let standard = base64::engine::general_purpose::STANDARD.encode(bytes);
        for text in [
            format!("commit {}", &hex[..40]),
            format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32]),
            format!("{{\"trace_id\": \"{}\", \"span_id\": \"{}\"}}", &hex[..32], &hex[32..48]),
            format!("\"integrity\": \"sha512-{standard}\""),
            format!("data:image/png;base64,iVBORw0KGgo{standard}"),
        ] {
            assert_eq!(scrubbed(builtin(), &text), text);
        }
    }
}

#[test]
fn large_ordinary_values_are_scanned_whole() {
    let mut random = StdRng::seed_from_u64(3);
    let image: Vec<u8> = (0..3_000_000).map(|_| random.random()).collect();
    let image = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, image);
    let mut nested =
        serde_json::json!({ "output": "line one\n\ttwo \"quoted\" C:\\path\n".repeat(400) }).to_string();
    for _ in 0..4 {
        nested = serde_json::json!({ "arguments": nested }).to_string();
    }
    for text in [format!("{{\"image\": \"{image}\"}}"), nested] {
        assert_eq!(builtin().scrub(None, text.as_bytes(), &mut Report::default()), None);
    }
}

#[test]
fn no_half_of_an_escape_is_left() {
    let token = format!("gh{}_{}", "p", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
    for before in
        [r"--token \n", r"--token \\n", r"token \u0041", r"token \t", r"secret-\\\\n", r"\n", r"\u00"]
    {
        // At the source's own level, and in JSON in JSON. Half a code point is no JSON before the scrubbing either.
        let string = format!("\"{before}{token}\"");
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        for text in [string.clone(), serde_json::json!([string]).to_string()] {
            let out = scrubbed(builtin(), &text);
            assert!(!out.contains(&token), "{out}");
            assert_eq!(is_json(&out), is_json(&text), "{out}");
            let outer: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
            if let Some(inner) = outer.get(0).and_then(|inner| inner.as_str()) {
                assert_eq!(is_json(inner), is_json(&string), "{out}");
            }
        }
    }
    // A prefix that an escape and the text behind it make by chance.
    let text = format!(r#""\npm_{}""#, "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
    assert!(serde_json::from_str::<String>(&scrubbed(builtin(), &text)).is_ok());
}

#[test]
fn of_a_match_over_several_tokens_only_the_structure_is_left() {
    let yaml = r"
rules:
  - kind: acme
    description: From one word to another, whatever stands between
    confidence: contextual
    anchors: [acme-begin]
    pattern: 'acme-begin[^~]{0,400}acme-end'
";
    let own = TextScrubber::new(RuleSet::from_yaml("own.yaml", yaml).unwrap()).unwrap();
    let cases = [
        (
            r#"{"a": "x acme-begin", "pin": 4711, "b": "acme-end y", "c": 5}"#,
            r#"{"a": "x [R]", "[R]": "[R]", "[R]": "[R] y", "c": 5}"#,
        ),
        (
            r#"["acme-begin", 1, -2.5e3, true, [null, 3], "", "acme-end"]"#,
            r#"["[R]", "[R]", ["[R]"], "", "[R]"]"#,
        ),
        (r#"["acme-begin\\", "\"acme-end\\\""]"#, r#"["[R]", "[R]\\\""]"#),
        (r#"["acme-begin[[4711]]acme-end"]"#, r#"["[R]"]"#),
        (r#"["acme-begin", "[4711, 12]", "acme-end"]"#, r#"["[R]", "[R]", "[R]"]"#),
    ];
    for (text, expected) in cases {
        let (mut text, mut expected) = (text.to_owned(), expected.replace("[R]", "[REDACTED:acme]"));
        for _level in 0..4 {
            assert_eq!(scrubbed(&own, &text), expected);
            text = serde_json::json!([text]).to_string();
            expected = serde_json::json!([expected]).to_string();
        }
    }
    // Numbers alone, in a string without any escape; matches that end inside of an escape.
    let yaml = r"
rules:
  - {kind: pin, description: d, confidence: contextual, anchors: ['4711'], pattern: '(?:4711)+'}
  - {kind: half, description: d, confidence: contextual, anchors: [acme-x], pattern: 'acme-x.'}
";
    let own = TextScrubber::new(RuleSet::from_yaml("own.yaml", yaml).unwrap()).unwrap();
    for (text, expected) in [
        (r#"{"a": "[5, 47114711, 6]"}"#, r#"{"a": "[5, \"[REDACTED:pin]\", 6]"}"#),
        ("[\"acme-x\\\\\u{200b} b\"]", "[\"[REDACTED:half]\u{200b} b\"]"),
        (r#"["acme-x\"b"]"#, r#"["[REDACTED:half]b"]"#),
    ] {
        assert_eq!(scrubbed(&own, text), expected);
        let (text, expected) = (serde_json::json!([text]), serde_json::json!([expected]));
        assert_eq!(scrubbed(&own, &text.to_string()), expected.to_string());
    }
}
