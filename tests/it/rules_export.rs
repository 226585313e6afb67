//! `blackbar rules export`: every rule goes out or is named. What runs the output in Python and Go is not run by default:
//! `cargo test --test it rules_export -- --ignored`, which is a step of CI.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use blackbar::redact::rules::{RuleSet, portability};
use serde_json::{Value, json};

use crate::cli::{blackbar, code, err, out};

fn export(format: &str, more: &[&str]) -> String {
    let output = blackbar(&[&["rules", "export", "--format", format], more].concat(), &[], b"");
    assert_eq!(code(&output), 0, "{}", err(&output));
    out(&output)
}

/// The patterns of a document for the Collector, as the Collector reads them.
fn blocked_values(document: &str) -> Vec<String> {
    let (_, values) = document.split_once("    blocked_values:\n").unwrap();
    let value = |line: &str| {
        let quoted = line.strip_prefix("      - '").unwrap().rsplit_once("' # ").unwrap().0;
        quoted.replace("''", "'").replace("$$", "$")
    };
    values.lines().map(value).collect()
}

#[test]
fn python_gets_every_pattern() {
    let module = export("python", &[]);
    let rules = module.split_once("\nRULES = [\n").unwrap().1.split_once("\n]\n").unwrap().0;
    let builtin = RuleSet::builtin();
    assert_eq!(rules.lines().count(), builtin.rules().len());
    for (line, rule) in rules.lines().zip(builtin.rules()) {
        assert!(line.starts_with(&format!("    Rule(\"{}\", r", rule.kind)), "{line}");
        assert!(line.contains(&*rule.whole_pattern()), "{line}");
    }
    assert!(module.is_ascii() && module.starts_with("\"\"\"The patterns of Blackbar"));
}

#[test]
fn the_collector_gets_patterns_or_is_told_which_are_missing() {
    let document = export("collector", &[]);
    let builtin = RuleSet::builtin();
    let values = blocked_values(&document);
    let missing = document.lines().filter(|line| line.starts_with("# left out: ")).count();
    assert_eq!(values.len() + missing, builtin.rules().len());
    assert!(values.len() > missing * 4, "{missing} of {} left out", builtin.rules().len());
    for value in &values {
        assert!(builtin.rules().iter().any(|rule| rule.whole_pattern() == *value), "{value}");
    }
    assert!(document.contains("\n    allow_all_keys: true\n") && document.contains("blocked_key_patterns"));
}

#[test]
fn what_a_rule_file_says_is_exported_too_and_what_can_not_be_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.yaml");
    let rule = |kind: &str, pattern: &str, more: &str| {
        format!(
            "  - {{kind: {kind}, description: d, confidence: confident, anchors: [{kind}_], pattern: '{kind}_{pattern}'{more}}}\n"
        )
    };
    let rules = [
        rule("aa", "[0-9]{8}[''\"$]", ", replacement: '<gone> é'"),
        rule("bb", "[0-9]{8}\\b", ""),
        rule("cc", "x", ", mode: audit"),
    ];
    fs::write(&file, format!("rules:\n{}", rules.concat())).unwrap();
    let more = [
        "--config",
        "yaml:processors: {scrub: {rules: {builtin: false}}}\nexporters: {stdout: }\nreceivers: {otlp: {protocols: {grpc: }}}\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [stdout]}}}",
        "--rules",
        file.to_str().unwrap(),
    ];
    let python = export("python", &more);
    assert!(
        python.contains(
            r#"Rule("aa", r'''aa_[0-9]{8}['"$]''', ("aa_",), 0, False, False, (), False, 4, "<gone> \U000000e9"),"#
        ),
        "{python}"
    );
    let document = export("collector", &more);
    assert_eq!(blocked_values(&document), ["aa_[0-9]{8}['\"$]"]);
    assert!(!document.contains("blocked_key_patterns"), "no named pairs, no names");
    for text in [python, document] {
        assert!(
            text.contains("bb: a word boundary is not portable") && text.contains("cc: it only counts"),
            "{text}"
        );
    }
}

/// The examples of every rule, as the driver of the Python module reads them.
fn examples(set: &RuleSet) -> Value {
    let rules = set.rules().iter().filter(|rule| portability(&rule.pattern).is_empty());
    rules
        .map(|rule| {
            let texts: Vec<Value> = rule
                .examples
                .iter()
                .map(|example| {
                    let secrets: Vec<&str> =
                        example.secrets.iter().map(|range| &example.text[range.clone()]).collect();
                    json!({"text": example.text, "secrets": secrets})
                })
                .collect();
            let harmless: Vec<&str> =
                rule.counterexamples.iter().map(|example| example.text.as_str()).collect();
            json!({"id": *rule.id, "examples": texts, "counterexamples": harmless})
        })
        .collect()
}

const DRIVER: &str = r#"
import json, sys
import blackbar_rules as rules

wrong = []
expected = json.load(sys.stdin)
assert len(expected) == len(rules.RULES)
for known, rule in zip(expected, rules.RULES):
    for example in known["examples"]:
        scrubbed = rules.scrub(example["text"])
        if scrubbed == example["text"] or any(secret in scrubbed for secret in example["secrets"]):
            wrong.append((known["id"], "missed", example["text"], scrubbed))
        if rules.scrub(scrubbed) != scrubbed:
            wrong.append((known["id"], "not idempotent", scrubbed))
    if not rule.approximate:
        for text in known["counterexamples"]:
            if list(rule.find(text)):
                wrong.append((known["id"], "found in", text))
assert rules.scrub("nothing here") == "nothing here"
for line in wrong:
    print(*line, sep="\n  ")
sys.exit(bool(wrong))
"#;

fn run(command: &mut Command, input: &str) -> String {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

#[test]
#[ignore = "needs python3"]
fn python_finds_what_the_rules_examples_hold() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("blackbar_rules.py"), export("python", &[])).unwrap();
    let mut python = Command::new("python3");
    python.args(["-B", "-W", "error", "-c", DRIVER]).current_dir(dir.path());
    run(&mut python, &examples(&RuleSet::builtin()).to_string());
}

const COMPILES: &str = r#"
package main

import ("bufio"; "fmt"; "os"; "regexp")

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		regexp.MustCompile(lines.Text())
		count++
	}
	fmt.Print(count)
}
"#;

#[test]
#[ignore = "needs go"]
fn every_pattern_for_the_collector_compiles_there() {
    let dir = tempfile::tempdir().unwrap();
    let source: &Path = &dir.path().join("main.go");
    fs::write(source, COMPILES).unwrap();
    let document = export("collector", &[]);
    let keys =
        document.split_once("blocked_key_patterns:\n").unwrap().1.split_once("    blocked_values").unwrap().0;
    let keys = keys
        .lines()
        .map(|line| line.trim_start_matches("      - '").trim_end_matches('\'').replace("$$", "$"));
    let patterns: Vec<String> = blocked_values(&document).into_iter().chain(keys).collect();
    let said = run(Command::new("go").arg("run").arg(source), &(patterns.join("\n") + "\n"));
    assert_eq!(said, patterns.len().to_string());
}
