//! Work grows linearly with the length of a text, whatever the text. Counted in bytes looked at, not in time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blackbar::redact::Report;
use blackbar::redact::text::KeyPath;

use crate::text::{builtin, scrubbed};

fn assert_linear(what: &str, text: impl Fn(usize) -> String) {
    let small = text(16 << 10);
    let large = text(128 << 10);
    let (few, many) = (builtin().work(small.as_bytes()), builtin().work(large.as_bytes()));
    let growth = large.len().div_ceil(small.len());
    assert!(
        many <= few.saturating_mul(growth * 2),
        "{what}: {few} for {}, {many} for {}",
        small.len(),
        large.len()
    );
    // Whatever becomes of it, it ends, and without a panic.
    let mut report = Report::default();
    builtin().scrub(None, large.as_bytes(), &mut report);
    assert!(!report.unscanned.contains_key(&blackbar::redact::Unscanned::Panic), "{what}");
}

fn repeated(piece: &str) -> impl Fn(usize) -> String + '_ {
    move |len| piece.repeat(len / piece.len())
}

#[test]
fn repeated_anchors_and_signs() {
    for piece in [
        "eyJ",
        "{",
        "[",
        "{\"a\":",
        "\\",
        "\\\\n",
        "\"",
        "=",
        ":",
        "--",
        "</",
        "...",
        "%25",
        "&amp;",
        "\u{200b}",
        "\n",
        "+",
        "A",
        "a\n",
        "password=",
        "password=\"",
        "\"password\":",
        "token: '",
        "sk-ant-",
        "ask-",
        "ghp_",
        "AKIA",
        "Bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "postgres://u:p",
        "eyJhbGciOi.",
        "[REDACTED:",
        "<password>",
        "a=\n",
        "\" + \"",
        "--password ",
        "0a",
        "aGVsbG8gd29ybGQ",
        "Authorization: Basic ",
        "\\u003d",
        "T3BlbkFJ",
        "AQ.",
        "a.b.c.",
        "@",
        "1//0",
        // A value that is none is read again from the next sign in it.
        "connection_string=a://b:c@",
        "secret=a/",
        "password:[",
        "password:|\n",
        "password:|\n  ",
        "\"password\",\"a\",",
        "--password=a/",
        "<password>a/</password>",
        // What may stand between pieces, and what is put together.
        "\"a\" ",
        "'a', ",
        "\"a\" +\n",
        "a\r",
        "a<b>",
        "a<br>\n",
        "a | \n| ",
        "data: a\n\n",
        "k = \"a\"\nk += ",
        "{\"delta\":\"a\"}\n",
        "{\\\"delta\\\":\\\"a\\\"}\\n",
        "content='a'\n",
        "'text': \"",
        "67 68 ",
        "0x67, ",
        "103,",
        "00000000: 6768 705f  ghp_\n",
        "0000020   g\n",
        "0000020 ",
        "H4sIAAAA",
        "MFRGGZDF",
        "&#x67",
        "=67",
        "^[[",
        "\u{9b}",
        "\u{1b}]8;;",
        "\u{ff47}",
    ] {
        assert_linear(piece, repeated(piece));
    }
}

#[test]
fn towers() {
    assert_linear("base64 tower", |len| {
        let mut text = "x".repeat(256);
        while text.len() < len {
            text = STANDARD.encode(text);
        }
        text.truncate(len);
        text
    });
    assert_linear("JSON tower", |len| {
        let mut text = "{\"a\": \"b\\n\"}".to_owned();
        while text.len() < len {
            text = serde_json::json!({ "a": text }).to_string();
        }
        text.truncate(len);
        text
    });
    assert_linear("hex tower", |len| {
        let mut text = "x".repeat(64);
        while text.len() < len {
            text = text.bytes().map(|b| format!("{b:02x}")).collect();
        }
        text
    });
}

#[test]
fn what_is_wrapped_too_deep_is_not_passed_on() {
    let mut text = format!("gh{}_{}", "p", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
    for _ in 0..6 {
        text = STANDARD.encode(text);
    }
    let mut report = Report::default();
    let out = builtin().scrub(None, text.as_bytes(), &mut report);
    assert_eq!(out.as_deref(), Some(&b"[REDACTED:unscanned]"[..]));
    assert_eq!(report.unscanned.values().sum::<u64>(), 1);
}

/// Found by fuzzing: an edit that is widened to whole characters stops at the beginning of the text.
#[test]
fn a_secret_value_may_begin_inside_a_character() {
    let keys = KeyPath { key: b"password", parent: None };
    for value in [&b"\x9b[31mAK457a\\u"[..], b"\x80\x80\x80\x80AK457a9Zq", b"\xbfAK457a9Zq\xe2"] {
        let mut report = Report::default();
        let scrubbed = builtin().scrub(Some(&keys), value, &mut report).unwrap();
        assert!(report.unscanned.is_empty(), "{report:?}");
        assert!(!scrubbed.windows(6).any(|part| part == b"AK457a"), "{}", scrubbed.escape_ascii());
    }
}

/// A chain of thousands of strings, each of which nearly holds a match.
#[test]
fn long_lists_of_strings_are_scanned_to_their_end() {
    let list =
        |of: &dyn Fn(usize) -> String, between: &str| (0..9000).map(of).collect::<Vec<_>>().join(between);
    for text in [
        list(&|n| format!("  'api_key_token_name_of_field:value_of_{n}'"), "\n"),
        list(&|n| format!("'key_{n}:secret=token'"), ", "),
    ] {
        assert!(scrubbed(builtin(), &text) == text, "{} bytes", text.len());
    }
}
