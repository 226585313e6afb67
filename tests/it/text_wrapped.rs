//! Every built-in rule's examples in every wrapping: the secret must be gone, JSON must stay JSON.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use blackbar::redact::Report;
use blackbar::redact::rules::{Mode, Rule, RuleSet};

use crate::text::builtin;

/// A text, and where the secret stands in it in the encoding of the text.
#[derive(Clone)]
struct Case {
    text: Vec<u8>,
    secrets: Vec<Range<usize>>,
}

impl Case {
    fn of(rule: &Rule) -> impl Iterator<Item = Self> {
        rule.examples
            .iter()
            .map(|example| Self { text: example.text.clone().into_bytes(), secrets: example.secrets.clone() })
    }

    /// Encodes byte by byte, after `before`.
    fn each_byte(&self, before: &str, after: &str, encode: impl Fn(u8) -> Vec<u8>) -> Self {
        let mut text = before.as_bytes().to_vec();
        let mut starts = Vec::new();
        for byte in &self.text {
            starts.push(text.len());
            text.extend_from_slice(&encode(*byte));
        }
        starts.push(text.len());
        text.extend_from_slice(after.as_bytes());
        let secrets = self.secrets.iter().map(|s| starts[s.start]..starts[s.end]).collect();
        Self { text, secrets }
    }

    fn json(&self, key: &str) -> Self {
        self.each_byte(&format!("{{\"{key}\": \""), "\"}", |byte| {
            if !byte.is_ascii() {
                return vec![byte];
            }
            let quoted = serde_json::to_string(&char::from(byte)).unwrap();
            quoted.as_bytes()[1..quoted.len() - 1].to_vec()
        })
    }

    /// Only whole groups of the secret count.
    fn base64(&self, engine: &base64::engine::GeneralPurpose) -> Self {
        let secrets = self.secrets.iter().map(|s| s.start.div_ceil(3) * 4..s.end / 3 * 4);
        Self {
            text: engine.encode(&self.text).into_bytes(),
            secrets: secrets.filter(|s| s.len() >= 8).collect(),
        }
    }

    /// Puts `glue` into the middle of every secret.
    fn broken(&self, glue: &str) -> Self {
        let (mut text, mut secrets, mut at) = (Vec::new(), Vec::new(), 0);
        for secret in &self.secrets {
            let middle = secret.start + secret.len() / 2;
            text.extend_from_slice(&self.text[at..secret.start]);
            for half in [secret.start..middle, middle..secret.end] {
                secrets.push(text.len()..text.len() + half.len());
                text.extend_from_slice(&self.text[half.clone()]);
                if half.end == middle {
                    text.extend_from_slice(glue.as_bytes());
                }
            }
            at = secret.end;
        }
        text.extend_from_slice(&self.text[at..]);
        Self { text, secrets }
    }

    /// The text cut off so many bytes into its first secret.
    fn cut(&self, keep: usize) -> Self {
        let start = self.secrets[0].start;
        Self {
            text: self.text[..start + keep].to_vec(),
            secrets: std::iter::once(start..start + keep).collect(),
        }
    }

    fn text_until(&self, end: usize) -> String {
        String::from_utf8_lossy(&self.text[..end]).to_lowercase()
    }

    fn assert_gone(&self, what: &str, kind: &str) {
        let mut report = Report::default();
        let out = builtin().scrub(None, &self.text, &mut report);
        let shown = String::from_utf8_lossy(&self.text).into_owned();
        let out = out.unwrap_or_else(|| panic!("{kind}, {what}: not found in {shown}"));
        assert!(report.unscanned.is_empty(), "{kind}, {what}: unscanned");
        for secret in &self.secrets {
            let gone = memchr::memmem::find(&out, &self.text[secret.clone()]).is_none();
            assert!(gone, "{kind}, {what}: left in {} from {shown}", String::from_utf8_lossy(&out));
        }
        if serde_json::from_slice::<serde_json::Value>(&self.text).is_ok() {
            let still = serde_json::from_slice::<serde_json::Value>(&out);
            assert!(still.is_ok(), "{kind}, {what}: no JSON: {}", String::from_utf8_lossy(&out));
        }
        assert_eq!(
            builtin().scrub(None, &out, &mut Report::default()),
            None,
            "{kind}, {what}: changed twice"
        );
    }
}

fn active() -> Vec<Rule> {
    let rules: Vec<Rule> =
        RuleSet::builtin().rules().iter().filter(|rule| rule.mode == Mode::Active).cloned().collect();
    assert!(rules.len() >= 10);
    rules
}

fn for_each(wrap: impl Fn(&Case) -> Case, what: &str) {
    for rule in active() {
        for case in Case::of(&rule) {
            wrap(&case).assert_gone(what, &rule.kind);
        }
    }
}

#[test]
fn plain() {
    for_each(Case::clone, "plain");
}

#[test]
fn json_strings_at_any_depth() {
    for_each(|case| case.json("out"), "JSON");
    for_each(|case| case.json("a").json("b"), "JSON in JSON");
    for_each(|case| case.json("a").json("b").json("c").json("d").json("e"), "five JSON levels");
    for_each(
        |case| case.each_byte("{\"a\": \"", "\"}", |b| format!("\\u{b:04x}").into_bytes()),
        "\\u escapes",
    );
}

#[test]
fn base64_of_any_kind() {
    for_each(|case| case.base64(&STANDARD), "base64");
    for_each(|case| case.base64(&URL_SAFE_NO_PAD), "base64url");
    for_each(|case| case.base64(&STANDARD).base64(&STANDARD), "base64 of base64");
    for_each(|case| case.base64(&STANDARD).json("data"), "base64 in JSON");
    for_each(|case| case.json("data").base64(&STANDARD), "JSON in base64");
}

#[test]
fn hex_percent_and_entities() {
    for_each(|case| case.each_byte("", "", |byte| format!("{byte:02x}").into_bytes()), "hex");
    for_each(|case| case.each_byte("", "", |byte| format!("{byte:02X}").into_bytes()), "upper-case hex");
    for_each(|case| case.each_byte("q=", "&x=1", |byte| format!("%{byte:02X}").into_bytes()), "percent");
    for_each(|case| case.each_byte("", "", |byte| format!("\\x{byte:02x}").into_bytes()), "\\x");
    for_each(|case| case.each_byte("<td>", "</td>", |byte| format!("&#{byte};").into_bytes()), "entities");
}

#[test]
fn invisible_characters_and_terminal_codes_inside() {
    for_each(|case| case.broken("\u{200b}"), "zero-width space");
    for_each(|case| case.broken("\u{ad}"), "soft hyphen");
    for_each(|case| case.broken("\u{1b}[1;31m"), "colour");
    for_each(|case| case.broken("\u{200b}").json("a"), "zero-width space in JSON");
}

/// Rules that need what stands around the secret are not asked across a line end: prose goes on there, too.
#[test]
fn broken_over_lines() {
    for rule in
        active().iter().filter(|rule| rule.confidence == blackbar::redact::rules::Confidence::Confident)
    {
        for case in Case::of(rule) {
            for glue in ["\n", "\r\n", "\n    ", "=\n", "\\\n", "\" + \"", "\" +\n  \"", "\n  12→"] {
                case.broken(glue).assert_gone(glue, &rule.kind);
                case.broken(glue).json("a").assert_gone(glue, &rule.kind);
            }
        }
    }
}

/// A cut pattern of its own says itself how much must be there: see `text_cut`.
fn with_derived_cut() -> impl Iterator<Item = Rule> {
    active().into_iter().filter(|rule| rule.cut.as_ref().is_some_and(|cut| !cut.own))
}

#[test]
fn cut_off_at_the_end() {
    for rule in with_derived_cut() {
        for case in Case::of(&rule).filter(|case| case.secrets.len() == 1) {
            let secret = case.secrets[0].clone();
            let held =
                |end: usize| rule.anchors.iter().any(|a| case.text_until(end).contains(&a.to_lowercase()));
            let counts = |keep: &usize| rule.accepts_cut(&case.text[secret.start..secret.start + keep]);
            for keep in (1..secret.len()).filter(counts).filter(|keep| held(secret.start + keep)) {
                case.cut(keep).assert_gone("cut", &rule.kind);
            }
        }
    }
}

/// Where a tool cut its output before somebody wrapped it.
#[test]
fn cut_off_inside_of_a_value() {
    for rule in with_derived_cut() {
        let bare = |case: &Case| case.secrets.len() == 1 && case.secrets[0].start == 0;
        for case in Case::of(&rule).filter(bare) {
            let least = rule.anchors.iter().map(String::len).max().unwrap_or(0) + 4;
            let mut lengths = least..case.secrets[0].len();
            let Some(keep) = lengths.find(|keep| rule.accepts_cut(&case.text[..*keep])) else { continue };
            let short = case.cut(keep);
            let held = short.text_until(short.text.len());
            if !rule.anchors.iter().any(|anchor| held.contains(&anchor.to_lowercase())) {
                continue;
            }
            for (before, after) in [
                ("key ", "... and"),
                ("key ", "\u{2026}"),
                ("key ", "\n... [truncated 500 characters]\n"),
                ("$ cat f\n", "\n\n[Output truncated]"),
                ("$ cat f\n", "<response clipped><NOTE>see the file"),
                ("```\n", "\n```\n(output truncated)"),
                ("{\"output\":\"$ cat f\\n", "\",\"exit\":0}"),
                ("{\"output\":\"$ cat f\\n", "\\n... 20 more lines\",\"exit\":0}"),
                ("{\"a\":\"{\\\"out\\\":\\\"the key ", "\",\"exit\":0}"),
                ("{'out': 'the key ", "', 'exit': 0}"),
            ] {
                short.each_byte(before, after, |byte| vec![byte]).assert_gone(after, &rule.kind);
            }
        }
    }
}

#[test]
fn wherever_it_stands_in_a_longer_text() {
    let before = [
        "",
        "see ",
        "\\n",
        "\n",
        "PROD_",
        "\u{1b}[32m",
        "\\u001b[32m",
        "x=",
        "(",
        "→",
        "\\u003d",
        "%3D",
        "\\\"",
        ", ",
    ];
    let after = ["", " ", ")", ",", "\n", "\\n", "\"", "<", "&x=1", "\\\\n", "\u{1b}[0m", "'"];
    let filler =
        "The build went through after 12 tests; see the log of the run in the usual place. ".repeat(6);
    for rule in active() {
        for case in Case::of(&rule) {
            for (n, before) in before.iter().enumerate() {
                let after = after[(n * 7 + rule.kind.len()) % after.len()];
                let shift = filler.len() + before.len();
                let text =
                    [filler.as_bytes(), before.as_bytes(), &case.text, after.as_bytes(), filler.as_bytes()]
                        .concat();
                let secrets = case.secrets.iter().map(|s| s.start + shift..s.end + shift).collect();
                Case { text, secrets }.assert_gone(before, &rule.kind);
            }
        }
    }
}
