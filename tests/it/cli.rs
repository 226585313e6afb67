//! The real binary: exit codes, what goes to which stream, and that nothing secret does.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

const BASE: &str = "
receivers: { otlp: { protocols: { grpc: , http: } } }
exporters: { otlp_http: { endpoint: 'https://backend.example', headers: { authorization: 'Bearer ${env:TOKEN}' } } }
service: { pipelines: { logs: { receivers: [otlp], exporters: [otlp_http] } } }";

pub(crate) fn blackbar(args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blackbar"))
        .args(args)
        .env_clear()
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that reads nothing may be gone before we have written.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn github_token() -> String {
    format!("{}{}", concat!("gh", "p_"), "a1B2".repeat(9))
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [
        "",
        "run",
        "check",
        "print-config",
        "scrub",
        "rules",
        "rules list",
        "rules check",
        "rules test",
        "rules export",
        "healthcheck",
        "demo",
    ] {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let output = blackbar(&args, &[], b"");
        assert_eq!(code(&output), 0, "{command}");
        let (_, after) =
            out(&output).split_once("Examples:").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        assert!(after.lines().all(|line| line.len() <= 80), "{command} is broken over lines: {after}");
    }
    assert_eq!(code(&blackbar(&["--no-such-flag"], &[], b"")), 2);
}

#[test]
fn run_without_a_backend_says_what_to_set() {
    for args in [&["run"][..], &[]] {
        let output = blackbar(args, &[], b"");
        assert_eq!(code(&output), 78);
        assert!(err(&output).contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{}", err(&output));
    }
}

#[test]
fn config_without_a_subcommand_means_run() {
    let output = blackbar(&["--config", "/no/such.yaml", "--feature-gates=x"], &[], b"");
    assert_eq!(code(&output), 78);
    assert!(err(&output).contains("/no/such.yaml: cannot be read"), "{}", err(&output));
}

#[test]
fn check_tells_every_problem_in_the_order_of_the_lines() {
    let output = blackbar(&["check", "--config", "tests/golden/config/types.yaml"], &[], b"");
    assert_eq!(code(&output), 78);
    let lines: Vec<usize> = err(&output)
        .lines()
        .filter_map(|line| {
            line.strip_prefix("tests/golden/config/types.yaml:")?.split(':').next()?.parse().ok()
        })
        .collect();
    assert!(lines.len() > 20 && lines.is_sorted(), "{}", err(&output));

    let right = format!("yaml:{BASE}");
    let output = blackbar(&["check", "--config", &right], &[("TOKEN", "t")], b"");
    assert_eq!(
        (code(&output), out(&output).as_str()),
        (0, "the configuration is right\n"),
        "{}",
        err(&output)
    );
}

#[test]
fn print_config_masks_secrets() {
    let right = format!("yaml:{BASE}");
    let env = [("TOKEN", "hunter2"), ("HTTPS_PROXY", "http://u:hunter2@proxy.example")];
    let output = blackbar(&["print-config", "--config", &right], &env, b"");
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(out(&output).contains("authorization: \"[masked]\""), "{}", out(&output));
    assert!(!(out(&output) + &err(&output)).contains("hunter2"));
}

#[test]
fn scrub_replaces_in_text_and_counts_on_standard_error() {
    let token = github_token();
    let text = format!("first\r\ntoken {token}\n\nlast without end");
    let output = blackbar(&["scrub"], &[], text.as_bytes());
    assert_eq!(code(&output), 0);
    assert_eq!(out(&output), text.replace(&token, "[REDACTED:github-token]"));
    assert_eq!(err(&output), "1 redaction: 1 github-token\n");
    let output = blackbar(&["scrub", "--quiet"], &[], b"\x00\xff nothing here");
    assert_eq!((output.stdout.as_slice(), err(&output).as_str()), (&b"\x00\xff nothing here"[..], ""));
}

#[test]
fn scrub_streams_long_text_and_sees_secrets_over_the_edges_of_its_windows() {
    let token = github_token();
    let begin = concat!("-----BEGIN RSA PRIV", "ATE KEY-----");
    let end = concat!("-----END RSA PRIV", "ATE KEY-----");
    let key: String = (0..40).map(|i| format!("MIIEpAIBAAKCAQEA{i:048}\n")).collect();
    let filler: String = (0..30).map(|i| format!("2026-11-30 INFO request {i} took 12 ms\n")).collect();
    let mut input = String::new();
    while input.len() < 600 << 10 {
        input.push_str(&format!("{filler}{begin}\n{key}{end}\nuser {token}\n"));
    }
    let output = blackbar(&["scrub", "--format", "text"], &[], input.as_bytes());
    assert_eq!(code(&output), 0);
    let scrubbed = out(&output);
    assert!(!scrubbed.contains("MIIEpAIBAAKCAQEA") && !scrubbed.contains(&token));
    assert_eq!(scrubbed.matches("took 12 ms").count(), input.matches("took 12 ms").count());
    assert_eq!(scrubbed.matches("[REDACTED:github-token]").count(), input.matches(&token).count());
}

#[test]
fn scrub_knows_otlp_json_lines() {
    let token = github_token();
    let line = |body: &str| {
        format!(
            r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"body":{{"stringValue":"{body}"}}}}]}}]}}]}}"#
        )
    };
    let odd = r#"{"resourceSpans": [], "unknown": 1}"#;
    let input = format!("{}\n{}\n\n{odd}\nno JSON {token}\n", line("fine"), line(&token));
    let output = blackbar(&["scrub"], &[], input.as_bytes());
    let expected = input.replace(&token, "[REDACTED:github-token]");
    assert_eq!(out(&output), expected, "lines without a finding stay as they are");

    let unknown = format!(r#"{{"resourceSpans":[],"unknown":"{token}"}}"#);
    let output = blackbar(&["scrub", "--format", "json"], &[], unknown.as_bytes());
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(!out(&output).contains(&token), "what the schema does not know does not leak");

    let output = blackbar(&["scrub", "--format", "json"], &[], input.as_bytes());
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("line 5: not an OTLP export request"), "{}", err(&output));

    let pretty = line(&token).replace('{', "{\n  ");
    let output = blackbar(&["scrub", "--format", "json"], &[], pretty.as_bytes());
    assert_eq!(out(&output), line("[REDACTED:github-token]"));
}

#[test]
fn scrub_knows_otlp_protobuf() {
    let token = github_token();
    let json = format!(r#"{{"resourceLogs":[{{"schemaUrl":"x {token}"}}]}}"#);
    let schema = blackbar::otlp::Signal::Logs.request();
    let body = blackbar::otlp::json::to_protobuf(schema, json.as_bytes()).unwrap();
    let output = blackbar(&["scrub", "--format", "protobuf", "--signal", "logs"], &[], &body);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let scrubbed = blackbar::otlp::json::from_protobuf(schema, &output.stdout).unwrap();
    assert_eq!(String::from_utf8(scrubbed).unwrap(), json.replace(&token, "[REDACTED:github-token]"));
    let short = blackbar(&["scrub", "--signal", "logs"], &[], &body);
    assert_eq!((code(&short), short.stdout), (0, output.stdout), "--signal says that it is protobuf");

    let output = blackbar(&["scrub", "--format", "protobuf", "--signal", "logs"], &[], b"\xff\xff");
    assert_eq!((code(&output), output.stdout.len()), (1, 0), "malformed: refused, nothing written");
    assert_eq!(code(&blackbar(&["scrub", "--format", "protobuf"], &[], &body)), 2, "which signal?");
}

#[test]
fn scrub_writes_files_back_and_leaves_them_alone_on_failure() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("app.log");
    let name = file.to_str().unwrap();
    fs::write(&file, format!("x {}\n", github_token())).unwrap();
    assert_eq!(code(&blackbar(&["scrub", "--in-place", name], &[], b"")), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x [REDACTED:github-token]\n");
    let output = blackbar(&["scrub", "--in-place", "--format", "json", name], &[], b"");
    assert_eq!(code(&output), 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x [REDACTED:github-token]\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no half-written file stays");
    assert_eq!(code(&blackbar(&["scrub", "--in-place"], &[], b"")), 2);
}

#[test]
fn scrub_in_place_follows_a_link_to_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("app.log"), dir.path().join("current.log"));
    fs::write(&file, github_token()).unwrap();
    std::os::unix::fs::symlink("app.log", &link).unwrap();
    assert_eq!(code(&blackbar(&["scrub", "--in-place", link.to_str().unwrap()], &[], b"")), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "[REDACTED:github-token]");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn an_unknown_exporter_is_the_only_problem() {
    let output = blackbar(&["check", "--exporter", "stdot"], &[], b"");
    let told = "flag --exporter: expected stdout or file=PATH\nblackbar: 1 problem in the configuration\n";
    assert_eq!((code(&output), err(&output).as_str()), (78, told));
}

#[test]
fn a_taken_port_is_told_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = taken.local_addr().unwrap().to_string();
    let free = [("BLACKBAR__EXTENSIONS__HEALTH_CHECK__ENDPOINT", "127.0.0.1:0")];
    let output = blackbar(&["run", "--exporter", "stdout", "--grpc-endpoint", &endpoint], &free, b"");
    assert_eq!(code(&output), 1);
    assert_eq!(err(&output).matches("already in use").count(), 1, "{}", err(&output));
}

#[test]
fn scrub_takes_rules_and_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("own.yaml");
    let name = rules.to_str().unwrap();
    fs::write(
        &rules,
        "rules:
  - kind: ticket
    description: Our tickets
    confidence: confident
    anchors: [TICKET-]
    pattern: TICKET-[0-9]{6}
    examples: [\"TICKET-{digits:6}\"]
    counterexamples: [\"TICKET-{digits:3} \"]
",
    )
    .unwrap();
    let output = blackbar(&["scrub", "--rules", name], &[], b"see TICKET-123456.");
    assert_eq!(out(&output), "see [REDACTED:ticket].", "{}", err(&output));
    let output = blackbar(&["rules", "check", name], &[], b"");
    assert_eq!(
        (code(&output), out(&output).as_str()),
        (0, "1 rules and 2 examples are right\n"),
        "{}",
        err(&output)
    );

    let config = format!("yaml:processors: {{ scrub: {{ rules: {{ files: ['{name}'] }} }} }}{BASE}");
    let output = blackbar(&["scrub", "--config", &config], &[("TOKEN", "t")], b"see TICKET-123456.");
    assert_eq!(out(&output), "see [REDACTED:ticket].", "{}", err(&output));
    let output = blackbar(&["rules", "list", "--config", &config], &[("TOKEN", "t")], b"");
    assert!(out(&output).lines().any(|line| line.starts_with("ticket ")), "{}", out(&output));

    fs::write(&rules, "rules:\n  - kind: ticket\n    patern: x\n").unwrap();
    let output = blackbar(&["scrub", "--rules", name], &[], b"x");
    assert_eq!((code(&output), output.stdout.len()), (78, 0));
    assert!(err(&output).contains("own.yaml:"), "{}", err(&output));
    assert_eq!(code(&blackbar(&["rules", "check", name], &[], b"")), 1);
}

#[test]
fn rules_list_and_check_work_without_a_backend() {
    let output = blackbar(&["rules", "list"], &[], b"");
    assert_eq!(code(&output), 0);
    assert!(out(&output).contains("github-token"), "{}", out(&output));
    let output = blackbar(&["rules", "check"], &[], b"");
    assert_eq!(code(&output), 0, "{}", err(&output));
}

/// Answers one request with this status line, and gives the request's first line.
fn answer_once(status: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        stream.write_all(format!("{status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).unwrap();
        String::from_utf8(request).unwrap().lines().next().unwrap().to_owned()
    });
    (address, served)
}

#[test]
fn healthcheck_asks_the_endpoint() {
    let (address, served) = answer_once("HTTP/1.1 200 OK");
    let output = blackbar(&["healthcheck", "--endpoint", &format!("{address}/readyz")], &[], b"");
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert_eq!(served.join().unwrap(), "GET /readyz HTTP/1.1");

    let (address, served) = answer_once("HTTP/1.1 503 Service Unavailable");
    let port = address.rsplit_once(':').unwrap().1;
    let config = format!(
        "yaml:extensions: {{ health_check: {{ endpoint: '0.0.0.0:{port}', path: /alive }} }}{}",
        BASE.replace("service: {", "service: { extensions: [health_check],")
    );
    let output = blackbar(&["healthcheck", "--config", &config], &[("TOKEN", "t")], b"");
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("status 503"), "{}", err(&output));
    assert_eq!(served.join().unwrap(), "GET /alive HTTP/1.1");

    // The listener of the first answer is gone.
    assert_eq!(code(&blackbar(&["healthcheck", "--endpoint", &address], &[], b"")), 1);
    // Standard variables don't matter to it, not even wrong ones.
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "x")];
    assert_eq!(code(&blackbar(&["healthcheck"], &env, b"")), 1);
}

#[test]
fn demo_shows_both_sides_and_leaks_nothing() {
    let output = blackbar(&["demo"], &[], b"");
    assert_eq!(code(&output), 0, "{}{}", out(&output), err(&output));
    for part in
        ["OTLP/gRPC", "[REDACTED:anthropic-key]", "[REDACTED:github-token]", "\n  jwt  ", "none came out"]
    {
        assert!(out(&output).contains(part), "{part}\n{}", out(&output));
    }
}
