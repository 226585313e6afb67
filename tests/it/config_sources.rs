//! Layers: flags > variables > later files > earlier files > defaults; and what print-config shows of it all.

use std::fs;

use blackbar::config::{Config, Env, Loaded, Problems, Sources, load};
use blackbar::forward::settings::ExporterSettings;
use proptest::prelude::*;

use crate::config::{environment, load_file, load_text};

const BASE: &str = "
receivers: { otlp: { protocols: { grpc: { endpoint: '127.0.0.1:1' }, http: { endpoint: '127.0.0.1:2' } } } }
exporters: { otlp_http/eu.west: { endpoint: 'https://one.example', timeout: 1s, forward_headers: [a, b] } }
service:
  telemetry: { logs: { level: warn } }
  pipelines: { logs: { receivers: [otlp], exporters: [otlp_http/eu.west] } }
";

fn layered(more: &[&str], env: &[(&str, &str)], flags: Sources) -> Result<Loaded, Problems> {
    let files = std::iter::once(BASE).chain(more.iter().copied()).map(|t| format!("yaml:{t}")).collect();
    load(&Sources { files, ..flags }, &env.iter().copied().collect())
}

fn grpc_endpoint(config: &Config) -> &str {
    &config.doors[0].settings.endpoint
}

#[test]
fn flags_win_over_variables_over_later_files_over_earlier_ones_over_defaults() {
    let second = "receivers: { otlp: { protocols: { grpc: { endpoint: '127.0.0.1:3' } } } }";
    let variable = ("BLACKBAR__RECEIVERS__OTLP__PROTOCOLS__GRPC__ENDPOINT", "127.0.0.1:4");
    let flag = || Sources { grpc_endpoint: Some("127.0.0.1:5".to_owned()), ..Sources::default() };
    let endpoint = |more: &[&str], env: &[(&str, &str)], flags| {
        grpc_endpoint(&layered(more, env, flags).unwrap().config).to_owned()
    };
    assert_eq!(endpoint(&[], &[], Sources::default()), "127.0.0.1:1");
    assert_eq!(endpoint(&[second], &[], Sources::default()), "127.0.0.1:3");
    assert_eq!(endpoint(&[second], &[variable], Sources::default()), "127.0.0.1:4");
    assert_eq!(endpoint(&[second], &[variable], flag()), "127.0.0.1:5");
    let without =
        load(&Sources { exporter: Some("stdout".to_owned()), ..Sources::default() }, &Env::default());
    assert_eq!(grpc_endpoint(&without.unwrap().config), "127.0.0.1:4317");
}

#[test]
fn mappings_are_merged_and_lists_replaced() {
    let second = "exporters: { otlp_http/eu.west: { timeout: 2s, forward_headers: [c] } }";
    let config = layered(&[second], &[], Sources::default()).unwrap().config;
    let ExporterSettings::OtlpHttp { remote, .. } = &config.exporters["otlp_http/eu.west"] else { panic!() };
    assert_eq!(remote.endpoint, "https://one.example/", "kept from the first file");
    assert_eq!(remote.timeout.as_secs(), 2);
    assert_eq!(format!("{:?}", remote.forward_headers), "Named([\"c\"])");
}

#[test]
fn variables_reach_component_names_with_punctuation_and_may_hold_lists() {
    let env = [
        ("BLACKBAR__EXPORTERS__OTLP_HTTP_EU_WEST__TIMEOUT", "7s"),
        ("BLACKBAR__EXPORTERS__OTLP_HTTP_EU_WEST__FORWARD_HEADERS", "[x, y]"),
        ("BLACKBAR__EXPORTERS__OTLP_HTTP_EU_WEST__HEADERS__AUTHORIZATION", "Basic: $notexpanded${X}"),
        ("BLACKBAR_OTHER", "ignored"),
    ];
    let config = layered(&[], &env, Sources::default()).unwrap().config;
    let ExporterSettings::OtlpHttp { remote, .. } = &config.exporters["otlp_http/eu.west"] else { panic!() };
    assert_eq!(remote.timeout.as_secs(), 7);
    assert_eq!(format!("{:?}", remote.forward_headers), "Named([\"x\", \"y\"])");
    assert_eq!(secrecy::ExposeSecret::expose_secret(&remote.headers[0].1), "Basic: $notexpanded${X}");
}

#[test]
fn standard_variables_do_not_count_with_a_file() {
    let env =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "nonsense")];
    let config = layered(&[], &env, Sources::default()).unwrap().config;
    assert_eq!(config.exporters.len(), 1);
}

#[test]
fn a_replaced_value_is_never_looked_up() {
    let first = "exporters: { otlp_http/eu.west: { timeout: '${env:UNSET}' } }";
    let second = "exporters: { otlp_http/eu.west: { timeout: 3s } }";
    assert!(layered(&[first], &[], Sources::default()).is_err());
    assert!(layered(&[first, second], &[], Sources::default()).is_ok());
}

#[test]
fn the_exporter_flag_redirects_every_pipeline() {
    for (flag, expected) in
        [("stdout", "Stdout"), ("file=/tmp/out.jsonl", "File { path: \"/tmp/out.jsonl\" }")]
    {
        let flags = || Sources { exporter: Some(flag.to_owned()), ..Sources::default() };
        let with_file = layered(&[], &[], flags()).unwrap().config;
        let without = load(&flags(), &Env::default()).unwrap().config;
        for (config, pipelines) in [(with_file, 1), (without, 4)] {
            assert_eq!(config.pipelines.len(), pipelines);
            for pipeline in config.pipelines.values() {
                assert_eq!(format!("{:?}", config.exporters[&pipeline.exporter]), expected);
            }
        }
    }
    for wrong in ["stderr", "file=", "file"] {
        let flags = Sources { exporter: Some(wrong.to_owned()), ..Sources::default() };
        let text = load(&flags, &Env::default()).unwrap_err().to_string();
        assert!(text.contains("flag --exporter: expected stdout or file=PATH"), "{text}");
    }
}

#[test]
fn files_may_come_from_a_variable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.yaml");
    fs::write(&path, BASE).unwrap();
    let env: Env = [("RELAY", BASE)].into_iter().collect();
    for source in ["env:RELAY".to_owned(), format!("file:{}", path.display()), path.display().to_string()] {
        let loaded = load(&Sources { files: vec![source], ..Sources::default() }, &env);
        assert_eq!(grpc_endpoint(&loaded.unwrap().config), "127.0.0.1:1");
    }
    for (source, message) in [
        ("env:ABSENT", "environment variable ABSENT is not set"),
        ("/no/such.yaml", "/no/such.yaml: cannot be read"),
    ] {
        let loaded = load(&Sources { files: vec![source.to_owned()], ..Sources::default() }, &env);
        let text = loaded.unwrap_err().to_string();
        assert!(text.contains(&format!("flag --config: {message}")), "{text}");
    }
}

#[test]
fn expansion_follows_the_collector() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    fs::write(&path, "from-file\n").unwrap();
    let env: Env = [("A", "va"), ("EMPTY", ""), ("NUMBER", "0123"), ("D", "$$x${A}")].into_iter().collect();
    for (written, expected) in [
        ("${env:A}", "va"),
        ("${A}", "va"),
        ("x-${env:A}-${A}-y", "x-va-va-y"),
        ("${env:NO:-d}", "d"),
        ("${NO:-}", ""),
        ("${env:EMPTY:-d}", ""),
        ("${env:NO:-${env:A}}", "va"),
        ("${env:NO:-a:-b}", "a:-b"),
        ("${env:NUMBER}", "0123"),
        ("${env:D}", "$$x${A}"),
        ("$${env:A}", "${env:A}"),
        ("$$${env:A}", "$va"),
        ("$A $ 5$", "$A $ 5$"),
        (&format!("${{file:{}}}", path.display()), "from-file"),
    ] {
        let yaml = format!(
            "
receivers: {{ otlp: {{ protocols: {{ grpc: }} }} }}
exporters: {{ otlp_http: {{ endpoint: 'https://backend.example', headers: {{ h: '{written}' }} }} }}
service: {{ pipelines: {{ logs: {{ receivers: [otlp], exporters: [otlp_http] }} }} }}"
        );
        let config = load_text(&yaml, &env).unwrap_or_else(|p| panic!("{written}: {p}")).config;
        let ExporterSettings::OtlpHttp { remote, .. } = &config.exporters["otlp_http"] else { panic!() };
        assert_eq!(secrecy::ExposeSecret::expose_secret(&remote.headers[0].1), expected, "{written}");
    }
}

#[test]
fn the_documented_default_file_says_what_the_defaults_are() {
    let minimal = "
receivers: { otlp: { protocols: { grpc: , http: } } }
exporters: { otlp_grpc: { endpoint: '${env:OTEL_EXPORTER_OTLP_ENDPOINT}' } }
extensions: { health_check: }
service:
  extensions: [health_check]
  pipelines:
    traces: { receivers: [otlp], exporters: [otlp_grpc] }
    metrics: { receivers: [otlp], exporters: [otlp_grpc] }
    logs: { receivers: [otlp], exporters: [otlp_grpc] }
    profiles: { receivers: [otlp], exporters: [otlp_grpc] }";
    let documented = load_file("config/default.yaml", &environment()).unwrap_or_else(|p| panic!("{p}"));
    let defaults = load_text(minimal, &environment()).unwrap();
    assert_eq!(format!("{:#?}", documented.config), format!("{:#?}", defaults.config));
    // Every key that there is stands in the documented file: none of it is shown as a default.
    let left_out: Vec<String> =
        documented.to_yaml().lines().filter(|l| l.ends_with("# default")).map(str::to_owned).collect();
    assert!(left_out.is_empty(), "{left_out:#?}");
}

#[test]
fn print_config_says_where_each_value_came_from() {
    let env = [("BLACKBAR__SERVICE__SHUTDOWN__QUIET", "9s")];
    let flags = Sources { log_level: Some("debug".to_owned()), ..Sources::default() };
    let shown = layered(&[], &env, flags).unwrap().to_yaml();
    let origin = |key: &str, value: &str| {
        let line = shown.lines().find(|l| l.trim_start().starts_with(&format!("{key}: {value} ")));
        line.unwrap_or_else(|| panic!("no {key}: {value}\n{shown}"))
            .split_once('#')
            .unwrap()
            .1
            .trim()
            .to_owned()
    };
    assert_eq!(origin("quiet", "9s"), "environment variable BLACKBAR__SERVICE__SHUTDOWN__QUIET");
    assert_eq!(origin("linger", "20s"), "default");
    assert_eq!(origin("level", "debug"), "flag --log-level");
    assert!(origin("endpoint", "127.0.0.1:1").starts_with("yaml::2:"));
}

#[test]
fn print_config_is_a_configuration_with_the_same_meaning() {
    for (files, env) in [
        (vec![format!("yaml:{BASE}")], Env::default()),
        (vec!["tests/golden/config/whole.yaml".to_owned()], environment()),
        (vec![], environment()),
    ] {
        let first = load(&Sources { files, ..Sources::default() }, &env).unwrap();
        let shown = first.to_yaml();
        // Next to the file, for the rule files in it.
        let shown = shown.replace("rules/own.yaml", "tests/golden/config/rules/own.yaml");
        let second = load_text(&shown, &Env::default()).unwrap_or_else(|p| panic!("{p}\n{shown}"));
        let settings = |config: &Config| {
            let exporters = format!("{:#?}", config.exporters);
            format!("{:#?} {:#?} {:#?} {exporters}", config.doors, config.limits, config.pipelines)
        };
        assert_eq!(settings(&first.config), settings(&second.config), "{shown}");
    }
}

fn secret() -> impl Strategy<Value = String> {
    // Letters enough that it is not part of the configuration's own words.
    "[A-Za-z0-9+/=_~ -]{0,8}Zq[A-Za-z0-9]{6,20}"
}

proptest! {
    #[test]
    fn no_secret_is_ever_shown(a in secret(), b in secret(), c in secret(), user in "Zq[a-z0-9]{8}", form in 0..3) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, &b).unwrap();
        let env: Env = [
            ("A", a.as_str()),
            ("BLACKBAR__EXPORTERS__OTLP_GRPC__HEADERS__X_ENV", c.as_str()),
            ("HTTPS_PROXY", &format!("http://{user}:{user}@proxy.example")),
        ]
        .into_iter()
        .collect();
        let headers = match form {
            0 => format!("{{ one: '{a}', two: 'Bearer ${{file:{}}}' }}", path.display()),
            1 => format!("[ {{ name: one, value: '{a}' }}, {{ name: two, value: '${{file:{}}}' }} ]", path.display()),
            _ => format!("{{ one: '${{env:A}}', two: '${{env:NO:-{b}}}' }}"),
        };
        let yaml = format!("
receivers: {{ otlp: {{ protocols: {{ grpc: }} }} }}
processors: {{ scrub: {{ rules: {{ builtin: false }} }} }}
exporters: {{ otlp_grpc: {{ endpoint: 'https://{user}:{user}@backend.example', headers: {headers} }} }}
service: {{ pipelines: {{ logs: {{ receivers: [otlp], exporters: [otlp_grpc] }} }} }}");
        let loaded = load_text(&yaml, &env).unwrap();
        let shown = format!("{loaded:?}\n{loaded:#?}\n{}", loaded.to_yaml());
        for secret in [&a, &b, &c, &user] {
            prop_assert!(!shown.contains(secret.trim()), "{}", loaded.to_yaml());
        }
    }
}
