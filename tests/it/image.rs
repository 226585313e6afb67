//! The configuration that the container image starts with. What is in the image is tests/image's to test.

use blackbar::config::{Config, Env, Problems, Sources, load};
use blackbar::forward::settings::ExporterSettings;
use blackbar::otlp::Signal;

fn image(env: &[(&str, &str)]) -> Result<Config, Problems> {
    let sources = Sources { files: vec!["config/image.yaml".to_owned()], ..Sources::default() };
    let env: Env = env.iter().copied().collect();
    load(&sources, &env).map(|loaded| loaded.config)
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4317");

#[test]
fn only_the_health_endpoint_listens_on_all_addresses() {
    let config = image(&[ENDPOINT]).unwrap();
    assert_eq!(config.health.unwrap().endpoint, "0.0.0.0:13133");
    assert_eq!(config.metrics_endpoint, None);
    let doors: Vec<&str> = config.doors.iter().map(|door| door.settings.endpoint.as_str()).collect();
    assert_eq!(doors, ["127.0.0.1:4317", "127.0.0.1:4318"]);
    assert!(config.notices.iter().all(|notice| !notice.warning), "{:?}", config.notices);
}

#[test]
fn a_variable_chooses_the_protocol_of_every_signal() {
    for (variable, http) in [(None, false), (Some("otlp_grpc"), false), (Some("otlp_http"), true)] {
        let env: Vec<_> =
            [ENDPOINT].into_iter().chain(variable.map(|name| ("BLACKBAR_EXPORTER", name))).collect();
        let config = image(&env).unwrap();
        for signal in Signal::ALL {
            let exporter = &config.exporters[&config.pipelines[&signal].exporter];
            assert_eq!(matches!(exporter, ExporterSettings::OtlpHttp { .. }), http, "{variable:?} {signal}");
        }
    }
}

#[test]
fn the_missing_backend_is_named() {
    let problems = image(&[]).unwrap_err().to_string();
    assert!(problems.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{problems}");
}
