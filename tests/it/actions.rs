//! What becomes of a secret: actions of kinds and of lists of attributes, through the command line and a running proxy.

use std::fs;

use blackbar::config::Env;
use blackbar::otlp::Signal;
use blackbar::redact::{Report, TextScrubber};
use serde_json::{Value, json};

use crate::cli::{blackbar, code, err, github_token, out};
use crate::config::load_text;
use crate::receive_support::{JSON, exchange, post};
use crate::support::backend::Backend;
use crate::support::process::Process;

const KEY: &str = "k3y-k3y-k3y-k3y-k3y-k3y-k3y-k3y-";

/// A configuration with these settings of `scrub`.
pub(crate) fn config(scrub: &str) -> String {
    format!(
        "
receivers: {{ otlp: {{ protocols: {{ grpc: }} }} }}
processors: {{ scrub: {scrub} }}
exporters: {{ stdout: }}
service: {{ pipelines: {{ traces: {{ receivers: [otlp], exporters: [stdout] }} }} }}"
    )
}

/// `blackbar scrub` with these settings.
pub(crate) fn scrub(settings: &str, input: &str) -> String {
    let config = format!("yaml:{}", config(settings));
    let output = blackbar(&["scrub", "--quiet", "--config", &config], &[("KEY", KEY)], input.as_bytes());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let once = out(&output);
    let twice = blackbar(&["scrub", "--config", &config], &[("KEY", KEY)], once.as_bytes());
    assert_eq!(out(&twice), once, "scrubbed twice");
    assert_eq!(err(&twice), "0 redactions\n");
    once
}

/// One line of OTLP JSON: a span with these attributes.
fn span(attributes: &Value) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "s", "attributes": attributes}]}]}]})
        .to_string()
}

fn attribute(key: &str, value: &Value) -> Value {
    let value = if value.is_string() { json!({ "stringValue": value }) } else { value.clone() };
    json!({"key": key, "value": value})
}

/// The attributes that come out.
fn scrub_span(settings: &str, attributes: &Value) -> Value {
    let line = scrub(settings, &span(attributes));
    let parsed: Value = serde_json::from_str(&line).unwrap();
    let span = &parsed["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], "s");
    span["attributes"].clone()
}

#[test]
fn equal_secrets_get_equal_tags_whatever_found_them() {
    let settings = "{ hmac_key: '${env:KEY}', rules: { action: hmac } }";
    let (one, other) = (github_token(), github_token().replace('2', "3"));
    let password = concat!("Xk9", "v2Lq8", "Zr4");
    let text = format!(
        "token {one} and {other}\nagain {one}\n{{\"password\": \"{password}\"}}\npassword={password}\n"
    );
    let scrubbed = scrub(settings, &text);
    let tags: Vec<&str> =
        scrubbed.split("[REDACTED:").skip(1).map(|rest| rest.split(']').next().unwrap()).collect();
    let kinds: Vec<&str> = tags.iter().map(|tag| tag.split(':').next().unwrap()).collect();
    assert_eq!(kinds, ["github-token", "github-token", "github-token", "secret", "secret"], "{scrubbed}");
    assert_eq!(tags[0], tags[2]);
    assert_ne!(tags[0], tags[1]);
    assert_eq!(tags[3], tags[4]);
    for tag in &tags {
        let digits = tag.split(':').nth(1).unwrap();
        assert!(
            digits.len() == 24 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
            "{tag}"
        );
    }
    // Another key, other tags.
    let config = format!("yaml:{}", config(settings));
    let output =
        blackbar(&["scrub", "--config", &config], &[("KEY", &KEY.replace('k', "x"))], text.as_bytes());
    assert!(out(&output).contains("[REDACTED:github-token:") && !out(&output).contains(tags[0]));
}

/// HMAC-SHA-256 by another hand: `printf %s VALUE | openssl dgst -sha256 -hmac KEY`.
#[test]
fn a_tag_is_hmac_sha_256() {
    let settings = "{ hmac_key: 'k3y-k3y-k3y-k3y-k3y-k3y-k3y-k3y-', rules: { actions: { secret: hmac } } }";
    let scrubbed = scrub(settings, &format!("password={}\n", concat!("Xk9", "v2Lq8", "Zr4")));
    assert!(scrubbed.starts_with("password=[REDACTED:secret:44eb52c76318ab28"), "{scrubbed}");
}

#[test]
fn what_looks_like_a_tag_and_has_no_check_is_no_marker() {
    let digits = "9f86d081884c7d659a2feaa0";
    for settings in ["{}", "{ hmac_key: '${env:KEY}', rules: { action: hmac } }"] {
        for text in [
            format!("password=[REDACTED:secret:{digits}]"),
            format!("{{\"password\": \"[REDACTED:x:{digits}]\"}}"),
            format!("password=\"[REDACTED:x:...{digits}]\""),
        ] {
            assert!(!scrub(settings, &text).contains(digits), "{text}");
        }
        let token = github_token();
        let scrubbed = scrub(settings, &format!("[REDACTED:x:{token}] [REDACTED:x:...{token}]"));
        assert!(!scrubbed.contains(&token), "{scrubbed}");
    }
}

#[test]
fn the_last_4_stay_of_long_secrets_only() {
    let settings = "{ rules: { action: keep_last_4, actions: { basic-auth: keep_last_4 } } }";
    let token = github_token();
    let password = concat!("Xk9", "v2Lq8", "Zr4");
    let long = format!("{password}{password}");
    for (text, expected) in [
        (format!("x {token} y"), "x [REDACTED:github-token:...a1B2] y".to_owned()),
        // Nobody asked for the end of a password.
        (format!("password={long}"), "password=[REDACTED:secret]".to_owned()),
    ] {
        assert_eq!(scrub(settings, &text), expected);
    }
    let asked = "{ rules: { actions: { secret: keep_last_4 } } }";
    assert_eq!(scrub(asked, &format!("password={long}")), "password=[REDACTED:secret:...8Zr4]");
    assert_eq!(scrub(asked, &format!("password={password}")), "password=[REDACTED:secret]");
    assert_eq!(scrub(asked, &format!("password={long}==")), "password=[REDACTED:secret:...8Zr4]");
    assert_eq!(scrub(asked, &format!("password='{long}!'")), "password='[REDACTED:secret]'");
}

#[test]
fn mask_takes_the_value_and_of_a_stream_the_line() {
    let settings = "{ rules: { actions: { github-token: mask } } }";
    let token = github_token();
    let text = format!("first\r\na {token} b {token}\r\n{token}\npassword=Xk9v2Lq8Zr4\nlast");
    let expected = "first\r\n[REDACTED:masked]\r\n[REDACTED:masked]\npassword=[REDACTED:secret]\nlast";
    assert_eq!(scrub(settings, &text), expected);

    let attributes = json!([attribute("a", &json!(format!("x\n{token}\ny"))), attribute("b", &json!("x"))]);
    let expected = json!([attribute("a", &json!("[REDACTED:masked]")), attribute("b", &json!("x"))]);
    assert_eq!(scrub_span(settings, &attributes), expected);
}

#[test]
fn drop_removes_the_innermost_attribute_and_masks_what_is_none() {
    let settings = "{ rules: { actions: { github-token: drop, secret: drop } } }";
    let token = github_token();
    let text = |text: &str| json!({ "stringValue": text });
    let list = |values: Value| json!({"kvlistValue": {"values": values}});
    let attributes = json!([
        attribute("kept", &json!("x")),
        attribute("gone", &json!(format!("x {token}"))),
        attribute("array", &json!({"arrayValue": {"values": [text("x"), text(&token)]}})),
        attribute(
            "list",
            &list(json!([attribute("inner", &json!(token)), attribute("n", &json!({"intValue": "1"}))]))
        ),
        attribute("password", &json!({"intValue": "123456"})),
        attribute(&token, &json!("x")),
    ]);
    let expected = json!([
        attribute("kept", &json!("x")),
        attribute("list", &list(json!([attribute("n", &json!({"intValue": "1"}))]))),
    ]);
    assert_eq!(scrub_span(settings, &attributes), expected);

    let log = |body: &str| {
        json!({"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body": text(body)}]}]}]}).to_string()
    };
    assert_eq!(scrub(settings, &log(&format!("x {token}"))), log("[REDACTED:masked]"));
    assert_eq!(scrub(settings, &format!("a\nx {token}\nb\n")), "a\n[REDACTED:masked]\nb\n");
}

#[test]
fn numbers_of_secret_names_follow_the_action_of_their_kind() {
    let attributes = json!([attribute("password", &json!({"intValue": "12345678"}))]);
    let value = |action: &str| {
        let settings =
            format!("{{ hmac_key: '${{env:KEY}}', rules: {{ actions: {{ secret: {action} }} }} }}");
        scrub_span(&settings, &attributes)[0]["value"]["stringValue"].as_str().map(str::to_owned)
    };
    assert_eq!(value("marker").as_deref(), Some("[REDACTED:secret]"));
    assert_eq!(value("mask").as_deref(), Some("[REDACTED:masked]"));
    assert_eq!(value("drop"), None);
    let tagged = value("hmac").unwrap();
    let settings = "{ hmac_key: '${env:KEY}', rules: { actions: { secret: hmac } } }";
    assert_eq!(scrub(settings, "{\"password\": 12345678}"), format!("{{\"password\": \"{tagged}\"}}"));
}

#[test]
fn lists_of_attributes_have_actions_of_their_own() {
    let settings = "{ hmac_key: '${env:KEY}', content_attributes: [gen_ai.], content_action: truncate, content_max_bytes: 4,
  attribute_actions: [{ keys: [user.id, user.], action: hmac }, { keys: [user.secret], action: drop },
    { keys: [card], action: keep_last_4 }, { keys: [body, gen_ai.system], action: mask },
    { keys: [note], action: truncate, max_bytes: 2 }] }";
    let text = |text: &str| json!({ "stringValue": text });
    let nested = json!({"kvlistValue": {"values": [attribute("card", &json!("0123456789abcdefXYZW")), attribute("x", &json!("abcdef"))]}});
    let attributes = json!([
        attribute("user.id", &json!("jane")),
        attribute("user.name", &json!({"intValue": "7"})),
        attribute("user.name", &text("7")),
        attribute("user.secret", &json!("s")),
        attribute("card", &json!("0123456789abcdef")),
        attribute("card", &json!("short")),
        attribute("body", &json!({"boolValue": true})),
        attribute("note", &json!("abcdef")),
        attribute("gen_ai.prompt", &nested),
        attribute("gen_ai.system", &nested),
        attribute("other", &json!("abcdef")),
    ]);
    let got = scrub_span(settings, &attributes);
    let got = got.as_array().unwrap();
    let at = |i: usize| got[i]["value"]["stringValue"].as_str().unwrap_or_default();
    assert_eq!(got.len(), 10, "{got:?}");
    assert!(at(0).starts_with("[REDACTED:masked:") && at(1).starts_with("[REDACTED:masked:"), "{got:?}");
    assert_eq!(at(1), at(2), "the number and its digits");
    assert_ne!(at(0), at(1));
    assert_eq!(at(3), "[REDACTED:masked:...cdef]");
    assert_eq!((at(4), at(5), at(6)), ("[REDACTED:masked]", "[REDACTED:masked]", "ab"));
    let inner = &got[7]["value"]["kvlistValue"]["values"];
    assert_eq!(inner[0]["value"]["stringValue"], "[REDACTED:masked:...XYZW]");
    assert_eq!(inner[1]["value"]["stringValue"], "abcd");
    assert_eq!((at(8), at(9)), ("[REDACTED:masked]", "abcdef"));
}

#[test]
fn rule_files_may_say_what_becomes_of_their_kinds() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.yaml");
    let rule = |kind: &str, more: &str| {
        format!(
            "  - {{kind: {kind}, description: d, confidence: confident, anchors: [{kind}_], pattern: '{kind}_[0-9a-z]{{16,}}', {more}}}\n"
        )
    };
    fs::write(
        &file,
        format!(
            "rules:\n{}{}",
            rule("aa", "action: keep_last_4"),
            rule("bb", "id: b, replacement: '<gone>'")
        ),
    )
    .unwrap();
    let text = "aa_0123456789abcdef bb_0123456789abcdef";
    let with = |more: &str| format!("{{ rules: {{ files: ['{}']{more} }} }}", file.display());
    assert_eq!(scrub(&with(""), text), "[REDACTED:aa:...cdef] <gone>");
    assert_eq!(scrub(&with(", action: keep_last_4"), text), "[REDACTED:aa:...cdef] [REDACTED:bb:...cdef]");
    let both = ", actions: { aa: marker, bb: mask, b: marker }";
    assert_eq!(scrub(&with(both), text), "[REDACTED:aa] <gone>", "an id counts more than a kind");

    for (more, part) in [
        ("replacement: 'a\"b'", "no `\"`"),
        ("replacement: 'a\\b'", "no `\"`"),
        ("replacement: \"a\\tb\"", "no control character"),
        ("replacement: x, action: mask", "only stands in place of a plain marker"),
        ("action: hide", "`action` must be marker or hmac or keep_last_4 or mask or drop"),
        ("replacement: 'see aa_0123456789abcdef here'", "is redacted itself"),
        ("replacement: '<AKIA0123456789ABCDEF>'", "is redacted itself"),
    ] {
        fs::write(&file, format!("rules:\n{}", rule("aa", more))).unwrap();
        let problems = load_text(&config(&with("")), &Env::default()).unwrap_err().to_string();
        assert!(problems.contains(part) && problems.contains("own.yaml:2:"), "{more}: {problems}");
        // Alone, without the built-in rules.
        if !more.contains("AKIA") {
            let output = blackbar(&["rules", "check", file.to_str().unwrap()], &[], b"");
            assert!(code(&output) == 1 && err(&output).contains(part), "{more}: {}", err(&output));
        }
    }
    // A replacement that its own rule would match is left alone.
    fs::write(&file, format!("rules:\n{}", rule("aa", "replacement: aa_0000000000000000"))).unwrap();
    assert_eq!(scrub(&with(""), text), "aa_0000000000000000 bb_0123456789abcdef");
    // Tags take a key, also where the file comes by a flag.
    fs::write(&file, format!("rules:\n{}", rule("aa", "action: hmac"))).unwrap();
    let output = blackbar(&["scrub", "--rules", file.to_str().unwrap()], &[], text.as_bytes());
    assert_eq!((code(&output), output.stdout.len()), (1, 0));
    assert!(err(&output).contains("`aa` has the action hmac, which takes an hmac_key"), "{}", err(&output));
}

#[test]
fn wrong_actions_and_keys_are_told_and_a_key_is_never_shown() {
    let env: Env = [("KEY", "hunter2-too-short")].into_iter().collect();
    for (settings, part) in [
        (
            "{ rules: { actions: { github-tokn: mask } } }",
            "rules.actions.github-tokn: unknown kind of rule; did you mean `github-token`?",
        ),
        (
            "{ rules: { actions: { jwt: hide } } }",
            "rules.actions.jwt: expected marker, hmac, keep_last_4, mask or drop",
        ),
        ("{ rules: { action: hide } }", "rules.action: expected marker"),
        ("{ rules: { actions: { jwt: hmac } } }", "scrub.hmac_key: is missing: `jwt` has the action hmac"),
        (
            "{ rules: { actions: { secret: hmac } } }",
            "scrub.hmac_key: is missing: `secret` has the action hmac",
        ),
        (
            "{ attribute_actions: [{ keys: [a], action: hmac }] }",
            "scrub.hmac_key: is missing: an attribute has",
        ),
        ("{ content_action: hmac }", "scrub.hmac_key: is missing"),
        ("{ hmac_key: '${env:KEY}' }", "scrub.hmac_key: is shorter than 32 bytes"),
        ("{ attribute_actions: [{ keys: [a] }] }", "attribute_actions[0].action: is missing"),
        ("{ attribute_actions: [{ action: mask }] }", "attribute_actions[0].keys: is missing"),
        (
            "{ attribute_actions: [{ keys: [a], action: mask, max_bytes: 3 }] }",
            "only counts with `action: truncate`",
        ),
        ("{ attribute_actions: { keys: [a] } }", "attribute_actions: expected a list"),
    ] {
        let problems = load_text(&config(settings), &env).unwrap_err();
        assert_eq!(problems.0.len(), 1, "{settings}\n{problems}");
        assert!(problems.to_string().contains(part), "{settings}\n{problems}");
        assert!(!problems.to_string().contains("hunter2"), "{problems}");
    }
    let written = config(&format!("{{ hmac_key: {KEY}, rules: {{ action: hmac }} }}"));
    let loaded = load_text(&written, &env).unwrap();
    assert!(!format!("{:?}{}", loaded.config, loaded.to_yaml()).contains(KEY), "{}", loaded.to_yaml());
    assert!(!format!("{:?}", TextScrubber::new(loaded.config.scrub.rules.clone()).unwrap()).contains(KEY));
}

/// Whatever the actions, scrubbing again changes nothing, and nothing is left of a secret but the end that was asked for.
#[test]
fn every_action_is_idempotent_on_every_example_of_the_built_in_rules() {
    let env: Env = [("KEY", KEY)].into_iter().collect();
    for action in ["marker", "hmac", "keep_last_4", "mask", "drop"] {
        let settings = format!(
            "{{ hmac_key: '${{env:KEY}}', rules: {{ action: {action}, actions: {{ secret: {action} }} }} }}"
        );
        let rules = load_text(&config(&settings), &env).unwrap().config.scrub.rules.clone();
        let examples: Vec<_> = rules.rules().iter().flat_map(|rule| rule.examples.clone()).collect();
        let scrubber = TextScrubber::new(rules).unwrap();
        for example in examples {
            for text in
                [example.text.clone(), json!({"password": example.text, "x": [example.text]}).to_string()]
            {
                let once = scrubber.scrub(None, text.as_bytes(), &mut Report::default()).expect("found");
                let twice = scrubber.scrub(None, &once, &mut Report::default());
                let shown = String::from_utf8_lossy(&once);
                assert_eq!(twice.as_deref().map(String::from_utf8_lossy), None, "{action}: {shown}");
                let was_json = serde_json::from_str::<Value>(&text).is_ok();
                if was_json && !matches!(action, "mask" | "drop") {
                    serde_json::from_slice::<Value>(&once).expect("JSON stays JSON");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_running_proxy_tags_and_drops() {
    let backend = Backend::start().await;
    let exporter = format!("otlp_http: {{endpoint: '{}'}}", backend.http_url());
    let settings = format!(
        "{}processors: {{scrub: {{hmac_key: '{KEY}', rules: {{actions: {{github-token: hmac, jwt: drop}}}}}}}}\n",
        crate::support::config(&exporter)
    );
    let process = Process::run(&settings).await;
    let token = github_token();
    let jwt = format!("{}.{}.{}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "s1gn-".repeat(8));
    let body = span(&json!([
        attribute("a", &json!(token)),
        attribute("b", &json!(jwt)),
        attribute("c", &json!("x"))
    ]));
    let answer = exchange(process.address("otlp/http"), &post("/v1/traces", JSON, body.as_bytes())).await;
    assert_eq!(answer.status, 200);
    let sent =
        blackbar::otlp::json::from_protobuf(Signal::Traces.request(), &backend.last().protobuf()).unwrap();
    let sent: Value = serde_json::from_slice(&sent).unwrap();
    let attributes = sent["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"].as_array().unwrap();
    assert_eq!(attributes.len(), 2, "{attributes:?}");
    let tagged = attributes[0]["value"]["stringValue"].as_str().unwrap();
    assert!(tagged.starts_with("[REDACTED:github-token:") && tagged.len() == 23 + 24 + 1, "{tagged}");
    assert!(!process.log().contains(KEY));
}
