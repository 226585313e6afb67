//! Configuration files as data: each file of `tests/golden/config` marks the lines on which problems are expected, with
//! `#! part of the message ;; part of another`. Every expected one must come, and no other.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use blackbar::config::{Config, Env, Loaded, Origin, Problems, Sources, load};
use blackbar::forward::settings::{Compression, ExporterSettings, ForwardHeaders};
use blackbar::otlp::{Encoding, Protocol, Signal};
use blackbar::redact::policy::{ContentAction, Scope};
use secrecy::ExposeSecret as _;

pub(crate) fn environment() -> Env {
    [
        ("TOKEN", "t0k3n-value"),
        ("GRPC_PORT", "14317"),
        ("LIST", "[otlp]"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://backend.example:4317"),
    ]
    .into_iter()
    .collect()
}

pub(crate) fn load_file(path: &str, env: &Env) -> Result<Loaded, Problems> {
    load(&Sources { files: vec![path.to_owned()], ..Sources::default() }, env)
}

pub(crate) fn load_text(yaml: &str, env: &Env) -> Result<Loaded, Problems> {
    load(&Sources { files: vec![format!("yaml:{yaml}")], ..Sources::default() }, env)
}

fn golden() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir("tests/golden/config")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_golden_file_has_the_problems_that_it_marks_and_no_other() {
    let mut wrong = Vec::new();
    for path in golden() {
        let name = path.to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let mut expected: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .filter_map(|(i, line)| Some((i + 1, line.split_once("#! ")?.1)))
            .flat_map(|(line, marks)| marks.split(" ;; ").map(move |mark| (line, mark.trim())))
            .collect();
        let problems = load_file(name, &environment()).map_or_else(|p| p.0, |_| Vec::new());
        for problem in problems {
            let line = match &problem.origin {
                Origin::File { name: file, line, .. } => {
                    assert_eq!(&**file, name);
                    *line
                }
                _ => 0,
            };
            match expected.iter().position(|(at, mark)| *at == line && problem.to_string().contains(mark)) {
                Some(found) => drop(expected.remove(found)),
                None => wrong.push(format!("not marked: {problem}")),
            }
        }
        wrong.extend(expected.into_iter().map(|(line, mark)| format!("{name}:{line}: did not come: {mark}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn whole() -> Config {
    load_file("tests/golden/config/whole.yaml", &environment()).unwrap().config
}

#[test]
fn doors_and_limits_are_what_the_file_says() {
    let config = whole();
    let doors: Vec<_> = config
        .doors
        .iter()
        .map(|d| (d.name.as_str(), d.protocol, d.settings.endpoint.as_str(), d.settings.max_body))
        .collect();
    assert_eq!(
        doors,
        [
            ("otlp/grpc", Protocol::Grpc, "127.0.0.1:4317", 16 << 20),
            ("otlp/http", Protocol::Http, "127.0.0.1:4318", 64 << 20),
        ]
    );
    assert_eq!(config.limits.max_in_flight_requests, 10);
    assert_eq!(config.limits.request_timeout, Duration::from_secs(5));
    assert_eq!(config.limits.max_connections, 4096);
    assert_eq!(config.shutdown.drain, Duration::from_secs(3));
    assert_eq!(config.canary_interval, Duration::from_secs(30));
    let health = config.health.unwrap();
    assert_eq!((health.endpoint.as_str(), health.path.as_str()), ("0.0.0.0:13133", "/healthz"));
    assert_eq!(config.metrics_endpoint.as_deref(), Some("127.0.0.1:8888"));
}

#[test]
fn exporters_are_what_the_file_says() {
    let config = whole();
    let ExporterSettings::OtlpGrpc(remote) = &config.exporters["otlp/backend"] else { panic!("not gRPC") };
    assert_eq!(remote.endpoint, "https://collector.example:4317/", "no scheme means TLS");
    let headers: Vec<_> = remote.headers.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(headers, [("authorization", "Bearer t0k3n-value"), ("x-price", "$5")]);
    assert_eq!(remote.compression, Compression::Gzip);
    assert_eq!(remote.timeout, Duration::from_secs(90));
    assert_eq!(remote.retry.initial_interval, Duration::from_millis(100));
    assert_eq!(remote.retry.max_elapsed_time, Duration::ZERO);
    assert_eq!(remote.forward_headers, ForwardHeaders::Named(vec!["x-tenant".parse().unwrap()]));

    let ExporterSettings::OtlpHttp { remote, encoding } = &config.exporters["otlphttp"] else {
        panic!("not HTTP")
    };
    assert_eq!(*encoding, Encoding::Json);
    assert_eq!(remote.endpoint, "https://collector.example/");
    assert_eq!(remote.signal_endpoints, [(Signal::Logs, "https://logs.example/in".parse().unwrap())]);
    let headers: Vec<_> = remote.headers.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(headers, [("api-key", "t0k3n-value"), ("x-empty", "")]);
    assert_eq!(remote.forward_headers, ForwardHeaders::Named(Vec::new()), "with a file, none by default");
    assert!(matches!(config.exporters["debug"], ExporterSettings::Stdout));
}

#[test]
fn pipelines_scrub_unless_told_not_to_and_say_so() {
    let config = whole();
    let traces = &config.pipelines[&Signal::Traces];
    assert_eq!((traces.exporter.as_str(), traces.unsafe_no_scrub), ("otlp/backend", false));
    assert_eq!(traces.scrub.policy.content_attributes, ["tool.input", "gen_ai."]);
    assert_eq!(traces.scrub.policy.content_action, ContentAction::Truncate(100));
    assert_eq!(config.pipelines[&Signal::Logs].scrub.policy.scope, Scope::Listed);
    assert!(config.pipelines[&Signal::Metrics].unsafe_no_scrub);
    assert!(!config.pipelines.contains_key(&Signal::Profiles));
    let said =
        |warning, part: &str| config.notices.iter().any(|n| n.warning == warning && n.message.contains(part));
    assert!(said(true, "pipeline metrics forwards everything UNREDACTED"));
    assert!(said(false, "processor batch has no effect"));
    assert!(said(false, "processor memory_limiter has no effect"));
    assert!(said(false, "profiles are not accepted"));
}

#[test]
fn scrub_is_implied_and_takes_the_settings_of_its_name() {
    let yaml = "
receivers: { otlp: { protocols: { http: { endpoint: ':4318' } } } }
processors: { scrub: { scope: listed } }
exporters: { stdout: }
service: { pipelines: { logs: { receivers: [otlp], exporters: [stdout] } } }";
    let config = load_text(yaml, &Env::default()).unwrap().config;
    let logs = &config.pipelines[&Signal::Logs];
    assert!(!logs.unsafe_no_scrub);
    assert_eq!(logs.scrub.policy.scope, Scope::Listed);
    assert_eq!(config.doors[0].settings.endpoint, "0.0.0.0:4318", "no host means every interface");
    assert_eq!(config.health, None, "with a file, only what service.extensions lists");
}

#[test]
fn aliases_are_bounded() {
    let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let above = level - 1;
        let list = vec![format!("*a{above}"); 10].join(", ");
        yaml.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let problems = load_text(&yaml, &Env::default()).unwrap_err();
    assert!(problems.to_string().contains("by aliases"), "{problems}");
}

#[test]
fn rule_files_are_found_next_to_the_file_that_names_them_and_their_problems_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("relay.yaml");
    let yaml = "
receivers: { otlp: { protocols: { grpc: } } }
processors: { scrub: { rules: { files: [absent.yaml], disable: [no-such-kind] } } }
exporters: { stdout: }
service: { pipelines: { logs: { receivers: [otlp], exporters: [stdout] } } }";
    fs::write(&config, yaml).unwrap();
    let problems = load_file(config.to_str().unwrap(), &Env::default()).unwrap_err().to_string();
    let absent = dir.path().join("absent.yaml");
    assert!(problems.contains(&format!("rule file {} cannot be read", absent.display())), "{problems}");
    fs::write(&absent, "rules: []\n").unwrap();
    let problems = load_file(config.to_str().unwrap(), &Env::default())
        .map_or_else(|p| p.to_string(), |_| String::new());
    assert!(!problems.contains("cannot be read"), "{problems}");
}

#[test]
fn harmless_values_and_disabled_kinds_count() {
    let base = |scrub: &str| {
        format!(
            "
receivers: {{ otlp: {{ protocols: {{ grpc: }} }} }}
processors: {{ scrub: {scrub} }}
exporters: {{ stdout: }}
service: {{ pipelines: {{ logs: {{ receivers: [otlp], exporters: [stdout] }} }} }}"
        )
    };
    // SHA-256 of `known-value`.
    let known = "2bbfffdcd2912176d4ba24862b14a024802f839c41c8e84edc7edaf392122209";
    let scrub = format!(
        "{{ rules: {{ disable: [jwt, secret] }}, allow: {{ sha256: [{known}], patterns: ['dummy-.*'] }} }}"
    );
    let config = load_text(&base(&scrub), &Env::default()).unwrap_or_else(|p| panic!("{p}")).config;
    assert!(
        config.scrub.rules.allows(b"dummy-1")
            && config.scrub.rules.allows(b"known-value")
            && !config.scrub.rules.allows(b"other")
    );
    assert!(!config.scrub.rules.named_pairs());
    assert!(config.scrub.rules.rules().iter().all(|rule| *rule.kind != *"jwt"));

    let wrong = "{ rules: { disable: [jwtt] }, allow: { sha256: [abc], patterns: ['('] } }";
    let problems = load_text(&base(wrong), &Env::default()).unwrap_err().to_string();
    for part in
        ["rules.disable: unknown kind of rule; did you mean `jwt`?", "allow.sha256: ", "allow.patterns: "]
    {
        assert!(problems.contains(part), "{part}\n{problems}");
    }
}

#[test]
fn a_credential_in_the_wrong_place_is_not_quoted() {
    let env: Env = [("SECRET", "hunter2-hunter2")].into_iter().collect();
    let yaml = "
receivers: { otlp: { protocols: { grpc: { endpoint: '${env:SECRET}' } } } }
exporters:
  otlp_http:
    endpoint: ${env:SECRET}
    timeout: ${env:SECRET}
    compression: x${env:SECRET}
    headers: { a: { b: hunter2-hunter2 }, 'c': \"hunter2-hunter2\\x01\" }
    tls: { insecure: '${env:SECRET}' }
service: { pipelines: { logs: { receivers: [otlp], exporters: [otlp_http] } } }";
    let problems = load_text(yaml, &env).unwrap_err();
    assert!(problems.0.len() >= 6, "{problems}");
    assert!(!problems.to_string().contains("hunter2"), "{problems}");
}
