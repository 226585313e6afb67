//! Without a file: the standard exporter variables, proxies, and loops.

use std::time::Duration;

use blackbar::config::{Config, Env, Problems, Sources, load};
use blackbar::forward::settings::{Compression, ExporterSettings, ForwardHeaders, Remote};
use blackbar::otlp::{Encoding, Signal};
use secrecy::ExposeSecret as _;

fn env(pairs: &[(&str, &str)]) -> Env {
    pairs.iter().copied().collect()
}

fn with(pairs: &[(&str, &str)]) -> Result<Config, Problems> {
    load(&Sources::default(), &env(pairs)).map(|loaded| loaded.config)
}

/// The one exporter of the configuration.
fn remote(config: &Config) -> (&'static str, &Remote) {
    let settings: Vec<_> = config.exporters.values().collect();
    match settings[..] {
        [ExporterSettings::OtlpGrpc(remote)] => ("grpc", remote),
        [ExporterSettings::OtlpHttp { remote, encoding: Encoding::Protobuf }] => ("http/protobuf", remote),
        [ExporterSettings::OtlpHttp { remote, encoding: Encoding::Json }] => ("http/json", remote),
        _ => panic!("{settings:?}"),
    }
}

#[test]
fn the_protocol_is_the_named_one_or_follows_from_the_port() {
    for (endpoint, protocol, expected) in [
        ("http://backend.example:4317", "", "grpc"),
        ("https://backend.example:4317/", "", "grpc"),
        ("http://backend.example:4318", "", "http/protobuf"),
        ("https://backend.example", "", "http/protobuf"),
        ("https://backend.example/otlp", "", "http/protobuf"),
        ("http://user@backend.example:4317", "", "grpc"),
        ("http://backend.example:9999", "grpc", "grpc"),
        ("http://backend.example:4317", "http/protobuf", "http/protobuf"),
        ("http://backend.example:4317", "http/json", "http/json"),
    ] {
        let config =
            with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)])
                .unwrap();
        assert_eq!(remote(&config).0, expected, "{endpoint} {protocol}");
        assert_eq!(config.pipelines.len(), 4);
        let doors: Vec<_> = config.doors.iter().map(|d| d.settings.endpoint.as_str()).collect();
        assert_eq!(doors, ["127.0.0.1:4317", "127.0.0.1:4318"]);
        assert_eq!(config.health.unwrap().endpoint, "127.0.0.1:13133");
    }
}

#[test]
fn every_general_variable_counts() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, "PEM").unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (ca, cert, key) = (file("ca.pem"), file("cert.pem"), file("key.pem"));
    let config = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "backend.example:4317"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%2Cb, x-team = blue ,"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ("OTEL_EXPORTER_OTLP_INSECURE", "true"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &ca),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", &cert),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", &key),
    ])
    .unwrap();
    let (kind, remote) = remote(&config);
    assert_eq!(kind, "grpc");
    assert_eq!(remote.endpoint, "http://backend.example:4317/", "insecure, without a scheme");
    let headers: Vec<_> = remote.headers.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(headers, [("authorization", "Bearer a,b"), ("x-team", "blue")]);
    assert_eq!(remote.compression, Compression::Zstd);
    assert_eq!(remote.timeout, Duration::from_millis(1500));
    assert_eq!(remote.tls.ca_file.as_ref().unwrap().to_str().unwrap(), ca);
    assert_eq!(remote.tls.cert_file.as_ref().unwrap().to_str().unwrap(), cert);
    assert_eq!(remote.tls.key_file.as_ref().unwrap().to_str().unwrap(), key);
    assert_eq!(remote.forward_headers, ForwardHeaders::All, "a sidecar's client holds the backend's key");
}

#[test]
fn per_signal_variables_win_for_their_signal() {
    let config = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://backend.example:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=general"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/v9/in"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=own"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://metrics.example:4317"),
    ])
    .unwrap();
    let exporter = |signal| &config.exporters[&config.pipelines[&signal].exporter];

    let ExporterSettings::OtlpHttp { remote, .. } = exporter(Signal::Traces) else { panic!() };
    assert_eq!(remote.signal_endpoints, [(Signal::Traces, "https://traces.example/v9/in".parse().unwrap())]);
    assert_eq!(remote.headers[0].1.expose_secret(), "own");

    let ExporterSettings::OtlpHttp { remote, encoding } = exporter(Signal::Logs) else { panic!() };
    assert_eq!(
        (remote.endpoint.to_string().as_str(), *encoding),
        ("http://backend.example:4318/", Encoding::Json)
    );
    assert_eq!(remote.headers[0].1.expose_secret(), "general");

    let ExporterSettings::OtlpGrpc(remote) = exporter(Signal::Metrics) else { panic!() };
    assert_eq!(remote.endpoint, "http://metrics.example:4317/");

    let ExporterSettings::OtlpHttp { remote, encoding } = exporter(Signal::Profiles) else { panic!() };
    assert_eq!((remote.signal_endpoints.len(), *encoding), (0, Encoding::Protobuf));
}

#[test]
fn a_signal_without_a_backend_has_no_pipeline() {
    let config = with(&[("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs.example:4318/v1/logs")]).unwrap();
    assert_eq!(config.pipelines.keys().copied().collect::<Vec<_>>(), [Signal::Logs]);
    assert!(config.notices.iter().any(|n| n.message.starts_with("traces are not accepted")));
}

#[test]
fn bad_variables_are_all_told_by_name_and_without_their_value() {
    let problems = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "lzma"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_INSECURE", "yes"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/no/such/key"),
        ("HTTPS_PROXY", "socks5://u:hunter2@proxy.example"),
        ("BLACKBAR__SERVICE__SHUTDWON__QUIET", "1s"),
    ])
    .unwrap_err();
    let text = problems.to_string();
    for part in [
        "environment variable OTEL_EXPORTER_OTLP_ENDPOINT: ",
        "environment variable OTEL_EXPORTER_OTLP_HEADERS: expected key=value pairs",
        "environment variable OTEL_EXPORTER_OTLP_COMPRESSION: exporters.otlp_http.compression: expected none, gzip or zstd",
        "environment variable OTEL_EXPORTER_OTLP_TIMEOUT: expected a number of milliseconds",
        "environment variable OTEL_EXPORTER_OTLP_INSECURE: expected true or false",
        "environment variable OTEL_EXPORTER_OTLP_CLIENT_KEY: exporters.otlp_http.tls.key_file: cannot be read",
        "environment variable HTTPS_PROXY: only http:// and https://",
        "environment variable BLACKBAR__SERVICE__SHUTDWON__QUIET: service.shutdwon: unknown key; did you mean `shutdown`?",
    ] {
        assert!(text.contains(part), "missing: {part}\n{text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_bad_protocol_hides_no_other_problem() {
    let problems = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "backend.example:9999"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grcp"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
    ])
    .unwrap_err();
    let told: Vec<String> = problems.0.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "environment variable OTEL_EXPORTER_OTLP_PROTOCOL: expected grpc, http/protobuf or http/json",
            "environment variable OTEL_EXPORTER_OTLP_TIMEOUT: expected a number of milliseconds",
        ]
    );
}

#[test]
fn headers_about_the_form_of_the_message_cannot_be_set() {
    for name in ["content-length", "Transfer-Encoding", "grpc-timeout", "te", "blackbar-hops"] {
        let headers = format!("x-ok=1,{name}=5");
        let text = with(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://backend.example:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", &headers),
        ])
        .unwrap_err()
        .to_string();
        assert!(text.contains("OTEL_EXPORTER_OTLP_HEADERS") && text.contains("can't be set"), "{text}");
    }
    with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://backend.example:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "host=other.example,user-agent=me/1,cookie=a"),
    ])
    .unwrap();
}

#[test]
fn no_backend_says_what_to_set() {
    let text = with(&[]).unwrap_err().to_string();
    assert!(text.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && text.contains("--exporter stdout"), "{text}");
    let sources = Sources { without_backend: true, ..Sources::default() };
    assert!(load(&sources, &Env::default()).unwrap().config.pipelines.is_empty());
}

#[test]
fn proxies_come_from_the_environment_also_with_a_file() {
    let vars = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://backend.example"),
        ("https_proxy", "http://u:p@secure.example:3128"),
        ("ALL_PROXY", "http://all.example:3128"),
        ("NO_PROXY", "internal.example,10.0.0.0/8"),
    ];
    let proxies = |config: &Config| {
        let (_, remote) = remote(config);
        let show = |url: &Option<secrecy::SecretString>| url.as_ref().unwrap().expose_secret().to_owned();
        (show(&remote.proxy.https), show(&remote.proxy.http), remote.proxy.no_proxy.clone())
    };
    let expected = (
        "http://u:p@secure.example:3128".to_owned(),
        "http://all.example:3128".to_owned(),
        "internal.example,10.0.0.0/8".to_owned(),
    );
    assert_eq!(proxies(&with(&vars).unwrap()), expected);
    let yaml = "
receivers: { otlp: { protocols: { grpc: } } }
exporters: { otlp_http: { endpoint: 'https://backend.example' } }
service: { pipelines: { logs: { receivers: [otlp], exporters: [otlp_http] } } }";
    assert_eq!(proxies(&crate::config::load_text(yaml, &env(&vars)).unwrap().config), expected);
}

#[test]
fn a_user_in_a_url_becomes_a_header_and_is_never_shown() {
    let vars = [("OTEL_EXPORTER_OTLP_ENDPOINT", "https://us%65r:hunter2@backend.example:4318/base")];
    let loaded = load(&Sources::default(), &env(&vars)).unwrap();
    let (_, remote) = remote(&loaded.config);
    assert_eq!(remote.endpoint, "https://backend.example:4318/base");
    assert_eq!(remote.headers[0].0, "authorization");
    assert_eq!(remote.headers[0].1.expose_secret(), "Basic dXNlcjpodW50ZXIy");
    let shown = format!("{loaded:?}\n{}", loaded.to_yaml());
    assert!(!shown.contains("hunter2") && !shown.contains("dXNlcjpodW50ZXIy"), "{shown}");
}

#[test]
fn a_backend_that_is_one_of_our_own_listeners_is_refused() {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").map(|h| h.trim().to_owned());
    let own = format!("http://{}:4317", hostname.as_deref().unwrap_or("localhost"));
    for (endpoint, grpc, http, looping) in [
        ("http://127.0.0.1:4317", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://localhost:4317", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("localhost:4317", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://LOCALHOST.:4318/", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://[::1]:4317", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://0.0.0.0:4318", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://[::ffff:127.0.0.1]:4318", "127.0.0.1:4317", "127.0.0.1:4318", true),
        ("http://127.0.0.1:4317", ":4317", "127.0.0.1:4318", true),
        (&own, "0.0.0.0:4317", "127.0.0.1:4318", true),
        ("http://localhost", "127.0.0.1:4317", "127.0.0.1:80", true),
        ("http://localhost:4319", "127.0.0.1:4317", "127.0.0.1:4318", false),
        ("http://192.0.2.1:4317", "0.0.0.0:4317", "127.0.0.1:4318", false),
        ("http://localhost:4317", "127.0.0.1:14317", "127.0.0.1:14318", false),
        ("http://localhost:4317", "192.0.2.1:4317", "192.0.2.1:4318", false),
    ] {
        let sources = Sources {
            grpc_endpoint: Some(grpc.to_owned()),
            http_endpoint: Some(http.to_owned()),
            ..Sources::default()
        };
        let loaded = load(&sources, &env(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]));
        let text = loaded.map_or_else(|p| p.to_string(), |_| String::new());
        assert_eq!(text.contains("is a loop"), looping, "{endpoint} {grpc} {http}: {text}");
        if looping {
            assert!(text.starts_with("environment variable OTEL_EXPORTER_OTLP_ENDPOINT: "), "{text}");
        }
    }
    let text =
        with(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces")]).unwrap_err();
    assert!(text.to_string().contains("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), "{text}");
}

#[test]
fn a_loop_in_a_file_is_told_with_its_line() {
    let yaml = "
receivers: { otlp: { protocols: { grpc: , http: } } }
exporters:
  otlp_http:
    endpoint: https://backend.example
    logs_endpoint: http://localhost:4318/v1/logs
service: { pipelines: { logs: { receivers: [otlp], exporters: [otlp_http] } } }";
    let problems = crate::config::load_text(yaml, &Env::default()).unwrap_err();
    assert!(problems.to_string().starts_with("yaml::5:"), "{problems}");
    assert!(problems.to_string().contains("our own listener otlp/http on 127.0.0.1:4318"), "{problems}");
}
