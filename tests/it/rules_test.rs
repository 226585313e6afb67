//! `blackbar rules test`: what counts as found, as a false alarm and as a wrong line, and that no text is printed.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

const PASSWORD: &str = concat!("hunt", "er2!Zq9");

fn token() -> String {
    format!("{}{}", concat!("gh", "p_"), "a1B2".repeat(9))
}

fn test_rules(lines: &[String], args: &[&str]) -> (i32, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("labelled.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_blackbar"))
        .args(["rules", "test"])
        .args(args)
        .arg("labelled.jsonl")
        .current_dir(dir.path())
        .env_clear()
        .output()
        .unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn line(text: &str, positive: bool, more: Value) -> String {
    let mut line = json!({ "text": text, "positive": positive });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line.to_string()
}

#[test]
fn counts_what_is_gone_and_what_is_changed_without_reason() {
    let token = token();
    let lines = [
        line(&format!("t={token}"), true, json!({ "secrets": [token], "rule": "github", "case": "env" })),
        // Something else is found; the secret stays.
        line(
            &format!("the word swordfish, {token}"),
            true,
            json!({ "secrets": ["swordfish"], "rule": "other", "case": "prose" }),
        ),
        line("the word swordfish", true, json!({ "secrets": ["swordfish"], "rule": "other" })),
        // Where there is `forbidden`, only that counts.
        line(
            &format!("x {token}"),
            true,
            json!({ "secrets": ["x"], "forbidden": [token], "rule": "github" }),
        ),
        line(&format!("password = '{PASSWORD}'"), false, json!({ "rule": "other" })),
        line("nothing", false, json!({ "rule": "other", "source": "here" })),
        String::new(),
    ];
    let (code, out, err) = test_rules(&lines, &["--misses"]);
    assert_eq!(code, 0, "{err}");
    let words: Vec<String> =
        out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        words,
        [
            "rule found false alarms kinds",
            "github 2/2 0/0 2 github-token",
            "other 0/2 1/2 1 github-token, 1 secret",
            "",
            "case found false alarms kinds",
            "env 1/1 0/0 1 github-token",
            "prose 0/1 0/0 1 github-token",
            "",
            "found 2 of 4 (50.0 %), 1 false alarm in 2",
        ]
    );
    assert_eq!(
        err,
        "labelled.jsonl:2: missed (something else was found)\nlabelled.jsonl:3: missed\nlabelled.jsonl:5: false alarm\n"
    );
}

#[test]
fn too_little_recall_fails() {
    let lines = [line("the word swordfish", true, json!({ "secrets": ["swordfish"] }))];
    assert_eq!(test_rules(&lines, &["--min-recall", "0"]).0, 0);
    let (code, out, err) = test_rules(&lines, &["--min-recall", "96.5"]);
    assert_eq!(code, 1);
    assert!(out.ends_with("found 0 of 1 (0.0 %), 0 false alarms in 0\n"), "{out}");
    assert_eq!(err, "blackbar: 0.0 % found, expected at least 96.5 %\n");
}

#[test]
fn own_rules_count() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own.yaml");
    fs::write(
        &own,
        "rules: [{kind: fish, description: d, confidence: confident, anchors: [swordfish], pattern: swordfish}]",
    )
    .unwrap();
    let lines = [line("the word swordfish", true, json!({ "secrets": ["swordfish"] }))];
    let own = own.to_str().unwrap();
    let config = format!(
        "yaml:{{ receivers: {{ otlp: {{ protocols: {{ http: }} }} }}, processors: {{ scrub: {{ rules: {{ files: ['{own}'] }} }} }}, \
         exporters: {{ otlp: {{ endpoint: 'http://backend.example' }} }}, \
         service: {{ pipelines: {{ logs: {{ receivers: [otlp], exporters: [otlp] }} }} }} }}"
    );
    for (flag, value) in [("--rules", own), ("--config", &config)] {
        let (code, out, err) = test_rules(&lines, &[flag, value, "--min-recall", "100"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
}

#[test]
fn wrong_lines_are_told_without_their_text() {
    let token = token();
    let lines = [
        format!("{{\"text\": \"{token}\""),
        format!("\"{token}\""),
        json!({ "positive": true, "secrets": [token] }).to_string(),
        json!({ "text": 7, "positive": true }).to_string(),
        json!({ "text": token }).to_string(),
        json!({ "text": token, "positive": token }).to_string(),
        json!({ "text": token, "positive": true, "secrets": token }).to_string(),
        json!({ "text": token, "positive": true, "forbidden": [token, ""] }).to_string(),
        json!({ "text": token, "positive": true, "secrets": [token] }).to_string(),
    ];
    let (code, out, err) = test_rules(&lines, &["--misses"]);
    assert_eq!(code, 1);
    for (number, part) in [
        (1, "not a JSON object"),
        (2, "not a JSON object"),
        (3, "`text` is missing"),
        (4, "`text` must be a string"),
        (5, "`positive` must be true or false"),
        (6, "`positive` must be true or false"),
        (7, "`secrets` must be a list of strings"),
        (8, "`forbidden` must be a list of strings"),
    ] {
        assert!(err.contains(&format!("labelled.jsonl:{number}: {part}")), "{number} {part}\n{err}");
    }
    assert!(err.ends_with("blackbar: 8 lines not understood\n"), "{err}");
    assert!(out.contains("found 1 of 1"), "{out}");
    assert!(!err.contains(&token) && !out.contains(&token));
}
