//! The text scanner by its front door: what the seeds ask for, and what pairs, keys and overlaps come to.

use blackbar::redact::Report;
use blackbar::redact::rules::RuleSet;
use blackbar::redact::text::{KeyPath, TextScrubber, UseOfSieve};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The built-in rules, compiled once. Every text is scanned with and without the sieve.
pub(crate) fn builtin() -> &'static TextScrubber {
    static BUILTIN: std::sync::OnceLock<TextScrubber> = std::sync::OnceLock::new();
    BUILTIN.get_or_init(|| TextScrubber::builtin().unwrap().with_sieve(UseOfSieve::Compared))
}

/// The text without its secrets.
pub(crate) fn scrubbed(scrubber: &TextScrubber, text: &str) -> String {
    let mut report = Report::default();
    match scrubber.scrub(None, text.as_bytes(), &mut report) {
        Some(out) => {
            assert!(!report.is_unchanged(), "changed but not counted");
            String::from_utf8(out).unwrap()
        }
        None => text.to_owned(),
    }
}

fn under(key: &str, text: &str) -> String {
    let keys = KeyPath { key: key.as_bytes(), parent: None };
    let out = builtin().scrub(Some(&keys), text.as_bytes(), &mut Report::default());
    out.map_or(text.to_owned(), |out| String::from_utf8(out).unwrap())
}

/// A value of the right length that no scanner takes for a secret by itself.
fn anthropic() -> String {
    concat!("sk-", "ant-", "api03-EXAMPLEEXAMPLEEXAMPLE").to_owned()
}

fn github() -> String {
    format!("gh{}_{}", "p", "0".repeat(36))
}

fn jwt() -> String {
    let part = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
    format!(
        "{}.{}.{}",
        part(r#"{"alg":"HS256","typ":"JWT"}"#),
        part(r#"{"sub":"1234567890"}"#),
        "s1gn-".repeat(8)
    )
}

#[test]
fn seed_b_holds_line_by_line() {
    let aws = concat!("AKIA", "IOSFODNN7EXAMPLE");
    let cases = [
        (format!("ANTHROPIC_API_KEY={}", anthropic()), "ANTHROPIC_API_KEY=[REDACTED:anthropic-key]"),
        (format!("aws_access_key_id = {aws}"), "aws_access_key_id = [REDACTED:aws-access-key]"),
        (
            "curl -H 'Authorization: Bearer not-a-real-token-123' https://api.example.invalid".to_owned(),
            "curl -H 'Authorization: Bearer [REDACTED:bearer-token]' https://api.example.invalid",
        ),
        (
            format!(r#"{{"log": "{{\"GITHUB_TOKEN\": \"{}\"}}"}}"#, github()),
            r#"{"log": "{\"GITHUB_TOKEN\": \"[REDACTED:github-token]\"}"}"#,
        ),
        (
            format!("cache entry: {}", STANDARD.encode(format!("ANTHROPIC_API_KEY={}", anthropic()))),
            "cache entry: [REDACTED:anthropic-key]",
        ),
        ("GET /search?token=page2&sort=asc 200".to_owned(), "GET /search?token=page2&sort=asc 200"),
    ];
    for (text, expected) in cases {
        assert_eq!(scrubbed(builtin(), &text), expected);
    }
}

#[test]
fn seed_a_holds_with_its_own_rules() {
    let yaml =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/seed-034/rules.yaml")).unwrap();
    let own = TextScrubber::new(RuleSet::from_yaml("seed-034.yaml", &yaml).unwrap()).unwrap();
    let short_jwt = concat!("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjMifQ", ".signaturepart");
    let cases = [
        (format!("auth=sk-{}-api03-{}", "ant", "a".repeat(95)), "auth=[REDACTED:anthropic-key]"),
        (format!("key=AK{}{}", "IA", "B".repeat(16)), "key=[REDACTED:aws-access-key]"),
        (format!("token: gh{}_{}", "p", "c".repeat(36)), "token: [REDACTED:github-token]"),
        (format!("jwt: {short_jwt}"), "jwt: [REDACTED:jwt]"),
        ("Authorization: Bearer abc.def-1".to_owned(), "Authorization: Bearer [REDACTED]"),
        ("Retrieved 42 rows from table customers".to_owned(), "Retrieved 42 rows from table customers"),
        ("password = correct-horse-9".to_owned(), "password = correct-horse-9"),
    ];
    for (text, expected) in cases {
        assert_eq!(scrubbed(&own, &text), expected);
    }
}

#[test]
fn a_secret_key_masks_its_whole_value_and_leaves_what_is_harmless() {
    let cases = [
        ("password", "hunter2", "[REDACTED:secret]".to_owned()),
        ("db.password", "two words", "[REDACTED:secret]".to_owned()),
        ("password", "${DB_PASSWORD}", "${DB_PASSWORD}".to_owned()),
        ("password", "[REDACTED:secret]", "[REDACTED:secret]".to_owned()),
        ("password", "", String::new()),
        (
            "http.request.header.authorization",
            "Basic dXNlcjpodW50ZXIyIQ==",
            "Basic [REDACTED:basic-auth]".to_owned(),
        ),
        ("x-api-key", "0123", "[REDACTED:secret]".to_owned()),
        ("tool.name", "Bash", "Bash".to_owned()),
    ];
    for (key, text, expected) in cases {
        assert_eq!(under(key, text), expected, "{key}");
    }
    assert_eq!(under("authorization", &format!("Bearer {}", jwt())), "Bearer [REDACTED:jwt]");
    assert_eq!(under("password", &format!("x{}y!", github())), "[REDACTED:github-token]");
}

#[test]
fn json_in_strings_gives_keys_and_stays_json() {
    let cases = [
        (r#"{"password": "x"}"#, r#"{"password": "[REDACTED:secret]"}"#),
        (r#"{"password": 12345}"#, r#"{"password": "[REDACTED:secret]"}"#),
        (r#"{"a": "{\"password\": 12345}"}"#, r#"{"a": "{\"password\": \"[REDACTED:secret]\"}"}"#),
        (
            r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"pw 1\\\"}\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"[REDACTED:secret]\\\"}\"}"}"#,
        ),
        (r#"{"password": null, "secret": true, "n": 5}"#, r#"{"password": null, "secret": true, "n": 5}"#),
        (
            r#"{"credentials": {"type": "basic", "user": "bob", "alpha": "qzv81", "n": [1, "de"]}}"#,
            r#"{"credentials": {"type": "basic", "user": "bob", "alpha": "[REDACTED:secret]", "n": ["[REDACTED:secret]", "[REDACTED:secret]"]}}"#,
        ),
        (
            r#"[{"name": "DB_PASSWORD", "value": "x1"}, {"name": "PATH", "value": "/bin"}]"#,
            r#"[{"name": "DB_PASSWORD", "value": "[REDACTED:secret]"}, {"name": "PATH", "value": "/bin"}]"#,
        ),
        (
            r#"{"max_tokens": 4096, "token_type": "bearer"}"#,
            r#"{"max_tokens": 4096, "token_type": "bearer"}"#,
        ),
        (r#"{"password": "a\"b\\", "x": 1}"#, r#"{"password": "[REDACTED:secret]", "x": 1}"#),
        (r#"{"password": "cut of"#, r#"{"password": "[REDACTED:secret]"#),
    ];
    for (text, expected) in cases {
        assert_eq!(scrubbed(builtin(), text), expected);
    }
}

#[test]
fn named_pairs_are_found_in_every_notation() {
    let value = concat!("tr0ub4dor", "&3Zq9x");
    let cases = [
        ("export DB_PASSWORD={}\nPORT=8080", "export DB_PASSWORD={}\nPORT=8080"),
        ("DB_PASSWORD={}", "DB_PASSWORD={}"),
        ("db:\n  password: {}\n  port: 5432", "db:\n  password: {}\n  port: 5432"),
        ("password = \"{}\"", "password = \"{}\""),
        ("{'user': 'bob', 'password': '{}'}", "{'user': 'bob', 'password': '{}'}"),
        ("connect({ password: '{}', ssl: true })", "connect({ password: '{}', ssl: true })"),
        ("connect(password=\"{}\")", "connect(password=\"{}\")"),
        ("X-Api-Key: {}", "X-Api-Key: {}"),
        ("curl -H 'X-Api-Key: {}' https://x.invalid", "curl -H 'X-Api-Key: {}' https://x.invalid"),
        ("tool --password {} --verbose", "tool --password {} --verbose"),
        ("tool --password={} --verbose", "tool --password={} --verbose"),
        ("[\"tool\", \"--password\", \"{}\"]", "[\"tool\", \"--password\", \"{}\"]"),
        ("<password>{}</password>", "<password>{}</password>"),
        ("password: str = \"{}\"", "password: str = \"{}\""),
        ("config['password'] = '{}'", "config['password'] = '{}'"),
        ("out: {\"password\": \"{}\", \"x\": ", "out: {\"password\": \"{}\", \"x\": "),
    ];
    for (text, expected) in cases {
        let (text, expected) = (text.replace("{}", value), expected.replace("{}", "[REDACTED:secret]"));
        assert_eq!(scrubbed(builtin(), &text), expected);
    }
    let query = format!("GET /x?access_token={}&page=2", "0a1B2c3D4e5F6g7H8i9J");
    assert_eq!(scrubbed(builtin(), &query), "GET /x?access_token=[REDACTED:secret]&page=2");
}

#[test]
fn prose_and_placeholders_stay() {
    for text in [
        "Bearer authentication is required",
        "the token: is missing",
        "max_tokens=4096, temperature=0.7",
        "password=${DB_PASSWORD}",
        "api_key = os.environ[\"API_KEY\"]",
        "token: process.env.TOKEN",
        "password: <your-password>",
        "password=[REDACTED:secret]",
        "password = None",
        "User authenticated: session key rotated",
        "<task-notification>done</task-notification>",
        "key: value",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
        "id 123e4567-e89b-12d3-a456-426614174000",
    ] {
        assert_eq!(scrubbed(builtin(), text), text);
    }
}

/// What stands in a marker is left alone, so what is no kind's name makes no marker.
#[test]
fn a_secret_written_as_a_marker_is_none() {
    let keys = KeyPath { key: b"password", parent: None };
    for value in
        ["[REDACTED:hunter2zx]", "[REDACTED:Hunter]", "[REDACTED:a1b2c3d4e5]", "[REDACTED:x:y9z8w7v6]"]
    {
        let mut report = Report::default();
        let out = builtin().scrub(Some(&keys), value.as_bytes(), &mut report);
        assert_eq!(out.as_deref(), Some(&b"[REDACTED:secret]"[..]), "{value}");
        let line = format!("DB_PASSWORD=\"{value}\"");
        let out = builtin().scrub(None, line.as_bytes(), &mut report);
        assert_eq!(out.as_deref(), Some(&b"DB_PASSWORD=\"[REDACTED:secret]\""[..]), "{value}");
    }
}

#[test]
fn nothing_of_a_masked_value_stays_beside_a_marker() {
    let text = format!("password=abc{}def", github());
    assert_eq!(scrubbed(builtin(), &text), "password=[REDACTED:github-token]");
    let text = format!("Authorization: Bearer {}", jwt());
    assert_eq!(scrubbed(builtin(), &text), "Authorization: Bearer [REDACTED:jwt]");
}

#[test]
fn private_keys_go_whole_in_any_spelling() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let lines = format!("{body}\n{body}\n{body}");
    let begin = format!("-----BEGIN {} KEY-----", "PRIVATE");
    let end = format!("-----END {} KEY-----", "PRIVATE");
    let whole = format!("{begin}\n{lines}\n{end}");
    let cut = format!("{begin}\n{lines}");
    for (text, expected) in [
        (format!("a {whole} b"), "a [REDACTED:private-key] b".to_owned()),
        (format!("a {} b", whole.replace('\n', "\\n")), "a [REDACTED:private-key] b".to_owned()),
        (format!("a {} b", whole.replace('\n', "\\\\n")), "a [REDACTED:private-key] b".to_owned()),
        (format!("a {} b", whole.replace('\n', " ")), "a [REDACTED:private-key] b".to_owned()),
        (format!("a {cut}"), "a [REDACTED:private-key]".to_owned()),
        (
            serde_json::json!({ "key": whole }).to_string(),
            serde_json::json!({ "key": "[REDACTED:private-key]" }).to_string(),
        ),
    ] {
        assert_eq!(scrubbed(builtin(), &text), expected);
    }
}

#[test]
fn an_audited_rule_is_counted_and_changes_nothing() {
    let yaml = r"
rules:
  - {id: trial, kind: trial-token, description: a trial, confidence: confident, mode: audit, anchors: [trl_],
     pattern: 'trl_[a-z0-9]{12,}', source: own, examples: ['trl_{hex:12}']}
";
    let own = TextScrubber::new(RuleSet::from_yaml("trial.yaml", yaml).unwrap()).unwrap();
    let mut report = Report::default();
    assert_eq!(own.scrub(None, b"see trl_0123456789abcd", &mut report), None);
    assert_eq!(report.audited.values().sum::<u64>(), 1);
    assert_eq!(report.total(), 0);
}

#[test]
fn a_match_over_the_edges_of_json_strings_leaves_valid_json() {
    let yaml = r#"
rules:
  - {id: wide, kind: wide, description: runs over quotes, confidence: confident, anchors: [wide_],
     pattern: 'wide_[a-z", :]{8,}', source: own, examples: ['wide_{hex:1}abcdefghij']}
"#;
    let yaml = yaml.replace("wide_{hex:1}abcdefghij", "wide_abcdefghij");
    let own = TextScrubber::new(RuleSet::from_yaml("wide.yaml", &yaml).unwrap()).unwrap();
    let out = scrubbed(&own, r#"{"a": "wide_abcdefgh", "b": "abc"}"#);
    assert_eq!(out, r#"{"a": "[REDACTED:wide]", "[REDACTED:wide]": "[REDACTED:wide]"}"#);
}

#[test]
fn valid_utf_8_stays_valid_where_a_pattern_ends_inside_a_character() {
    let yaml = "
rules:
  - {id: bytes, kind: bytes, description: reads bytes, confidence: confident, anchors: [byt_],
     pattern: '[^ ]{1}byt_[^ ]{5}', source: own, examples: ['xbyt_abcde']}
";
    let own = TextScrubber::new(RuleSet::from_yaml("bytes.yaml", yaml).unwrap()).unwrap();
    assert_eq!(scrubbed(&own, "x \u{e4}byt_abcd\u{20ac} y"), "x [REDACTED:bytes] y");
}
