//! What the configuration says of a queue, and what it refuses.

use std::time::Duration;

use blackbar::config::{Config, Env, Problems, Sources, load};
use blackbar::forward::settings::ExporterSettings;

use super::*;

fn read(text: &str) -> Result<Config, Problems> {
    let sources = Sources { files: vec![format!("yaml:{text}")], ..Sources::default() };
    load(&sources, &Env::default()).map(|loaded| loaded.config)
}

fn wait_of(config: &Config) -> Duration {
    match &config.exporters["otlp_http/queued"] {
        ExporterSettings::OtlpHttp { remote, .. } => remote.retry.max_elapsed_time,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_collectors_keys_and_defaults() {
    let config_text = config(Path::new("/var/lib/q"), DEAD, "");
    let config = read(&config_text).unwrap();
    let storage = StorageSettings { directory: "/var/lib/q".into(), create_directory: false };
    let defaults = QueueSettings {
        storage: storage.clone(),
        size: 1000,
        sizer: Sizer::Requests,
        consumers: 10,
        block_on_overflow: false,
    };
    assert_eq!(config.queues["otlp_http/queued"], defaults);
    assert_eq!(wait_of(&config), Duration::ZERO, "with a queue retries don't end");
    let all = "storage: file_storage, queue_size: 7, sizer: bytes, num_consumers: 3, block_on_overflow: true";
    let config = read(
        &config_text
            .replace("storage: file_storage}", &format!("{all}}}"))
            .replace("max_interval: 50ms", "max_elapsed_time: 5s"),
    )
    .unwrap();
    let wanted =
        QueueSettings { storage, size: 7, sizer: Sizer::Bytes, consumers: 3, block_on_overflow: true };
    assert_eq!(config.queues["otlp_http/queued"], wanted);
    assert_eq!(wait_of(&config), Duration::from_secs(5));
}

#[test]
fn what_is_wrong_is_named_by_its_key() {
    let good = config(Path::new("/var/lib/q"), DEAD, "");
    let queue = "exporters.otlp_http/queued.sending_queue";
    for (from, to, key, says) in [
        ("storage: file_storage}", "}", queue, "a queue in memory is refused"),
        (
            "storage: file_storage}",
            "storage: file_storage/other}",
            &format!("{queue}.storage"),
            "no file_storage",
        ),
        ("[health_check, file_storage]", "[health_check]", &format!("{queue}.storage"), "is not started"),
        (
            "storage: file_storage}",
            "storage: file_storage, sizer: kilos}",
            &format!("{queue}.sizer"),
            "requests, items or bytes",
        ),
        (
            "storage: file_storage}",
            "storage: file_storage, queue_size: 0}",
            &format!("{queue}.queue_size"),
            "from 1",
        ),
        (
            "storage: file_storage}",
            "storage: file_storage, batch: {}}",
            &format!("{queue}.batch"),
            "unknown key",
        ),
        (
            "timeout: 20s",
            "forward_headers: [x-tenant]",
            "exporters.otlp_http/queued.forward_headers",
            "exclude each other",
        ),
        (
            "timeout: 20s",
            "forward_headers: ['*']",
            "exporters.otlp_http/queued.forward_headers",
            "exclude each other",
        ),
        ("traces: {", "traces: {unsafe_no_scrub: true, ", queue, "is not written to disk"),
        ("directory: '/var/lib/q'", "fsync: false", "extensions.file_storage.fsync", "expected `true`"),
        (
            "directory: '/var/lib/q'",
            "directory: ''",
            "extensions.file_storage.directory",
            "expected a directory",
        ),
    ] {
        let problems = read(&good.replace(from, to)).unwrap_err();
        assert_eq!(problems.0.len(), 1, "{to}: {problems}");
        assert_eq!(problems.0[0].key, *key, "{to}");
        assert!(problems.0[0].message.contains(says), "{to}: {problems}");
    }
}

#[test]
fn a_queue_that_is_off_is_no_queue() {
    let off = config(Path::new("/var/lib/q"), DEAD, ", enabled: false, wait_for_result: true");
    let config = read(&off).unwrap();
    assert!(config.queues.is_empty());
    assert_eq!(wait_of(&config), Duration::from_secs(300));
}
