//! The sieve hides nothing: a scan with it and a scan of everything find the same. And it allocates nothing where there is nothing.
//!
//! The tests' scrubber compares both for every text (see `UseOfSieve`); here are texts that try it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blackbar::redact::rules::RuleSet;
use blackbar::redact::text::{KeyPath, TextScrubber, UseOfSieve};
use blackbar::redact::{Report, Unscanned};
use proptest::prelude::*;

use crate::text::{builtin, scrubbed};

/// Counts what a thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code, reason = "an allocator can't be written without")]
// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn assert_same(scrubber: &TextScrubber, text: &[u8]) {
    let mut report = Report::default();
    scrubber.scrub(None, text, &mut report);
    assert!(!report.unscanned.contains_key(&Unscanned::Panic), "{}", String::from_utf8_lossy(text));
}

/// Whatever triggers a stage, whole and in pieces.
fn pieces() -> Vec<String> {
    let mut pieces: Vec<String> = [
        "password",
        "token",
        "api key",
        "_key",
        "pat",
        "value",
        "name",
        "--",
        "</",
        ">",
        ":",
        "=",
        ",",
        "\"",
        "'",
        "`",
        "\\",
        "\\\"",
        "\\\\\"",
        "\\n",
        "\\\\n",
        "\\u003d",
        "\\u0022",
        "\\u00e9",
        "\\x3d",
        "%3D",
        "%0a",
        "&quot;",
        "&lt;",
        "=3D",
        "=\n",
        "\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "{",
        "}",
        "[",
        "]",
        "+",
        "\u{200b}",
        "\u{1b}[0m",
        "...",
        "a",
        "word",
        "x1",
        "S3cr3t-Value",
        "é",
        "null",
        "Bearer ",
        "https://",
        "@",
        "://",
        "is_",
        "max_",
        "secret",
        "credentials",
        "0",
        "-",
        "#",
        "|",
        "→",
        "12",
    ]
    .map(str::to_owned)
    .into();
    for rule in RuleSet::builtin().rules() {
        for example in &rule.examples {
            let text = &example.text;
            pieces.push(text.clone());
            let cut = (text.len() / 2..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            pieces.extend([text[..cut].to_owned(), text[cut..].to_owned()]);
            pieces.extend([STANDARD.encode(text), text.bytes().map(|b| format!("{b:02x}")).collect()]);
        }
        pieces.extend(rule.anchors.iter().cloned());
    }
    pieces
}

fn text() -> impl Strategy<Value = String> {
    let signs = proptest::sample::select(pieces()[..62].to_vec());
    let all = proptest::sample::select(pieces());
    proptest::collection::vec(prop_oneof![3 => signs, 1 => all], 1..20).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_does_not_depend_on_it(text in text(), times in 0..3_usize, before in "[a-z {\\[\"\n]{0,3}") {
        let mut text = text;
        for _ in 0..times {
            text = format!("{{\"content\":{}}}", serde_json::Value::from(text));
        }
        assert_same(builtin(), format!("{before}{text}").as_bytes());
    }

    #[test]
    fn nor_where_bytes_are_no_text(text in proptest::collection::vec(any::<u8>(), 0..200), piece in text()) {
        assert_same(builtin(), &[text, piece.into_bytes()].concat());
    }
}

/// The repository's own sources: as they are, as a string of JSON, and as one in a string of JSON.
#[test]
fn nor_in_real_text() {
    for file in [
        "src/redact/names.rs",
        "src/receive/grpc.rs",
        "docs/rules.md",
        "config/default.yaml",
        "Cargo.lock",
        "tests/it/text_notations.rs",
    ] {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for part in lines.chunks(40) {
            let mut part = part.join("\n");
            for _ in 0..3 {
                assert_same(builtin(), part.as_bytes());
                part = format!("{{\"content\":{}}}", serde_json::Value::from(part));
            }
        }
    }
}

/// A `cut_pattern` holds before a mark of truncation and at the end of a string, not at the end of the value only.
#[test]
fn nor_where_a_secret_is_cut_off_inside_of_the_text() {
    let key = ["sk", "-ant", "-api0tmCh"].concat();
    let hash = ["$2y", "$10", "$stuv+hunter2"].concat();
    for (secret, kind) in [(key, "sk-key"), (hash, "password-hash")] {
        for (before, after) in
            [("", "..."), ("", "\u{2026}"), ("a ", "\" b"), ("a ", "' b"), ("", ""), ("", "\"")]
        {
            let text = format!("{before}{secret}{after}");
            // A hash may hold dots.
            let marked = format!("{before}[REDACTED:{kind}]");
            assert!(scrubbed(builtin(), &text).starts_with(&marked), "{text}");
        }
    }
}

#[test]
fn nor_in_json_without_colons() {
    for text in [
        r#"{"password"12}"#,
        r#"{"password" [34]}"#,
        r#"{"token"-3.14159}"#,
        r#"{"private_key""l"}"#,
        r#"{"credentials"{"a":"b1"}}"#,
        r#""{\"passphrase\"34}""#,
    ] {
        assert_same(builtin(), text.as_bytes());
    }
    assert_eq!(scrubbed(builtin(), r#"{"private_key""l"}"#), r#"{"private_key""[REDACTED:secret]"}"#);
}

/// Rules with other shapes of anchors: short, in the middle, in any case, with signs that end a token.
#[test]
fn nor_with_rules_of_an_operator() {
    let yaml = r#"
rules:
  - {kind: ab, description: x, confidence: confident, anchors: ['q!'], pattern: 'q![a-z]{9,}', examples: ['q!{lower:9}'], counterexamples: ['x']}
  - {kind: cd, description: x, confidence: confident, anchors: ['"key-of'], pattern: '"key-of[a-z"]{3,}', examples: ['"key-of{lower:9}'], counterexamples: ['x']}
  - {kind: ef, description: x, confidence: contextual, anchors: ['mid'], pattern: '(?i)[a-z]{4}mid[0-9]{8}', examples: ['abcdmid{digits:8}'], counterexamples: ['x']}
"#;
    let mut rules = RuleSet::builtin();
    rules.extend(RuleSet::from_yaml("own.yaml", yaml).unwrap());
    let scrubber = TextScrubber::new(rules).unwrap().with_sieve(UseOfSieve::Compared);
    for secret in ["q!abcdefghijkl", "\"key-ofabc", "abcdMID12345678"] {
        for before in ["", "x", " ", "\n", "\\n", "\\\\n", "{\"a\":\"", "0123456789abcdef", "%20"] {
            for after in ["", "z", "\"", "\\", "\n", "..."] {
                let text = format!("{before}{secret}{after}");
                assert_same(&scrubber, text.as_bytes());
                assert_same(&scrubber, serde_json::Value::from(text).to_string().as_bytes());
            }
        }
    }
}

#[test]
fn nothing_is_allocated_for_text_without_candidates() {
    let scrubber = TextScrubber::builtin().unwrap().with_sieve(UseOfSieve::On);
    let texts = [
        "ok".to_owned(),
        "GET /api/v1/orders/{id}".to_owned(),
        "550e8400-e29b-41d4-a716-446655440000".to_owned(),
        format!("sum {} is {}", "0123456789abcdef".repeat(4), "cafe".repeat(10)),
        "In this step the agent reads the file again and finds that the test goes through.\n".repeat(30),
        // Values of one name that may be the pieces of one text (`content`) are put together, and that allocates.
        "{\"role\":\"user\",\"summary\":\"List the files below src/ and tell me which are tests.\"},"
            .repeat(30),
        "2024-05-12T10:11:12.131Z INFO server: request 17 took 3 ms status=200 path=/a/b/c\n".repeat(30),
        "    let total = self.rows.iter().map(|row| row.count * 2).sum::<u64>();\n".repeat(30),
        "max_tokens: 100, the key of the map, author = someone".to_owned(),
    ];
    let keys = KeyPath { key: b"gen_ai.input.messages", parent: None };
    let mut report = Report::default();
    for text in &texts {
        let mut scrub = || {
            assert!(scrubber.scrub(Some(&keys), text.as_bytes(), &mut report).is_none(), "{text}");
            assert!(!scrubber.is_secret_key(&keys));
        };
        // Tables are made when they are first used.
        scrub();
        let before = ALLOCATIONS.with(Cell::get);
        scrub();
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{text}");
    }
}
