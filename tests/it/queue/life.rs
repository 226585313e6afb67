//! What a queue promises while nothing is broken but the backend.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::receive_support::soon;
use crate::support::backend::{Answer as Told, Backend};

#[tokio::test]
async fn accepted_while_the_backend_is_down_and_delivered_after_the_restart() {
    let directory = TempDir::new().unwrap();
    let process = Process::run(&config(directory.path(), DEAD, "")).await;
    let mut sent = Vec::new();
    for (n, via) in Via::ALL.into_iter().cycle().take(21).enumerate() {
        sent.push(format!("span-{n}"));
        let answer = send(&process, via, &sent[n], 5000).await;
        assert!(answer.is_ok(), "{answer:?}");
    }
    let page = metrics(&process).await;
    assert_eq!((value(&page, "requests"), value(&page, "items"), value(&page, "capacity")), (21, 21, 1000));
    assert!(value(&page, "bytes") > 21 * 5000);
    assert_eq!(ready(&process).await.0, 200);
    let (status, log) = process.terminate().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert_no_secret(&directory, &[], &[&page, &log]);
    for path in files(directory.path()) {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        let parent = path.parent().unwrap().metadata().unwrap();
        assert_eq!(parent.permissions().mode() & 0o777, 0o700, "{}", path.display());
    }

    let backend = Backend::start().await;
    let one_at_a_time = config(directory.path(), &backend.http_url(), ", num_consumers: 1");
    let process = Process::run(&one_at_a_time).await;
    assert_eq!(names(&backend.received(21).await), sent, "in the order in which they were accepted");
    until(&process, "requests", 0).await;
    let page = metrics(&process).await;
    let (status, log) = process.terminate().await;
    assert_eq!(status.code(), Some(0), "{log}");

    // Without a fault nothing comes twice.
    let process = Process::run(&one_at_a_time).await;
    assert!(send(&process, Via::Grpc, "the last", 0).await.is_ok());
    sent.push("the last".to_owned());
    until(&process, "requests", 0).await;
    let received = backend.received(22).await;
    assert_eq!(names(&received), sent);
    assert_no_secret(&directory, &received, &[&page, &log, &process.log()]);
}

#[tokio::test]
async fn what_the_backend_refuses_for_good_is_kept_and_holds_up_nothing() {
    let directory = TempDir::new().unwrap();
    let backend = Backend::start().await;
    backend.script([Told::http(503), Told::http(400), Told::Garbage]);
    let process = Process::run(&config(directory.path(), &backend.http_url(), ", num_consumers: 1")).await;
    for name in ["refused", "not understood", "welcome"] {
        assert!(send(&process, Via::Protobuf, name, 100).await.is_ok());
    }
    // The first is tried twice: 503 is no refusal.
    assert_eq!(
        names(&backend.received(4).await),
        ["refused", "refused", "not understood", "welcome"].map(str::to_owned)
    );
    until(&process, "requests", 0).await;
    let page = metrics(&process).await;
    assert_eq!((value(&page, "dead_lettered_total"), value(&page, "quarantined_total")), (2, 0));
    let files = kept(&directory, "dead-letter");
    let file_names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        file_names,
        ["00000000000000000000-traces-http-400.pb", "00000000000000000001-traces-no-otlp-answer.pb"]
    );
    let letters: Vec<_> = files.iter().map(|path| name_of(&fs::read(path).unwrap())).collect();
    assert_eq!(letters, ["refused", "not understood"]);
    assert_eq!(fs::read(&files[0]).unwrap(), backend.requests()[0].message, "what was sent, byte for byte");
    assert_no_secret(&directory, &backend.requests(), &[&page, &process.log()]);
}

#[tokio::test]
async fn a_full_queue_refuses_with_a_hint_or_waits() {
    for (queue, waits) in [(", queue_size: 2", false), (", queue_size: 2, block_on_overflow: true", true)] {
        let directory = TempDir::new().unwrap();
        let backend = Backend::start().await;
        backend.script([Told::Slow, Told::Slow, Told::Slow]);
        let process = Process::run(&config(directory.path(), &backend.http_url(), queue)).await;
        for name in ["one", "two"] {
            assert!(send(&process, Via::Protobuf, name, 0).await.is_ok());
        }
        if waits {
            let url = process.url("otlp/http");
            let third = tokio::spawn(async move {
                Client::new().export(&url, Signal::Traces, Via::Protobuf, &request("three", 0)).await
            });
            backend.received(2).await;
            assert!(!third.is_finished());
            backend.release();
            assert!(soon(third).await.unwrap().is_ok());
        } else {
            let answer = send(&process, Via::Protobuf, "three", 0).await;
            assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (503, "1"));
            assert_eq!(send(&process, Via::Grpc, "three", 0).await.grpc_status(), Some(14));
            assert_eq!(value(&metrics(&process).await, "enqueue_failures_total"), 2);
            backend.release();
            until(&process, "requests", 0).await;
            assert!(send(&process, Via::Protobuf, "three", 0).await.is_ok());
        }
        assert_eq!(set(names(&backend.received(3).await)), set(["one", "two", "three"].map(str::to_owned)));
    }
}

#[tokio::test]
async fn the_size_is_counted_in_what_the_sizer_says() {
    // Two requests of about 9,000 bytes and one span each.
    for (queue, fits) in
        [("items, queue_size: 1", 1), ("bytes, queue_size: 20000", 2), ("bytes, queue_size: 1", 1)]
    {
        let directory = TempDir::new().unwrap();
        let process = Process::run(&config(directory.path(), DEAD, &format!(", sizer: {queue}"))).await;
        for n in 0..fits {
            assert!(send(&process, Via::Protobuf, "fits", 9000).await.is_ok(), "{queue}: {n}");
        }
        assert_eq!(send(&process, Via::Protobuf, "too much", 9000).await.status, 503, "{queue}");
    }
}

#[tokio::test]
async fn the_end_waits_for_the_backend_as_long_as_it_may_linger() {
    let directory = TempDir::new().unwrap();
    let backend = Backend::start().await;
    backend.script([Told::http(503), Told::Slow]);
    let config = config(directory.path(), &backend.http_url(), "").replace("linger: 0s", "linger: 60s");
    let process = Process::run(&config).await;
    assert!(send(&process, Via::Grpc, "late", 0).await.is_ok());
    process.signal("TERM").await;
    backend.received(2).await;
    backend.release();
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(backend.requests().len(), 2);
    let process = Process::run(&config).await;
    assert_eq!(value(&metrics(&process).await, "requests"), 0);
}

/// What a process says that does not start with this configuration.
async fn refused(config: &str) -> String {
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_blackbar"))
        .args(["run", "--config", &format!("yaml:{config}")])
        .env_clear()
        .kill_on_drop(true)
        .output();
    let output = soon(output).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    said
}

#[tokio::test]
async fn a_start_that_could_lose_something_is_refused() {
    let directory = TempDir::new().unwrap();
    let good = config(directory.path(), DEAD, "");
    let first = Process::run(&good).await;
    assert!(send(&first, Via::Protobuf, "one", 0).await.is_ok());
    assert!(refused(&good).await.contains("in use by another process"));
    first.terminate().await;

    let key = directory.path().join(EXPORTER).join("key");
    fs::rename(&key, directory.path().join("elsewhere")).unwrap();
    let said = refused(&good).await;
    assert!(said.contains("key: is missing or damaged, and there is a queue"), "{said}");
    fs::rename(directory.path().join("elsewhere"), &key).unwrap();
    assert_eq!(value(&metrics(&Process::run(&good).await).await, "requests"), 1);

    // Nor is a queue forgotten without a word.
    let renamed = good.replace("otlp_http/queued", "otlp_http/renamed");
    let log = Process::run(&renamed).await.log();
    assert!(log.lines().any(|line| line.contains("WARN") && line.contains("not used")), "{log}");

    let said = refused(&config(&directory.path().join("missing"), DEAD, "")).await;
    assert!(said.contains("missing: entity not found"), "{said}");
}

#[tokio::test]
async fn of_a_clients_headers_only_the_number_of_hops_is_kept() {
    let directory = TempDir::new().unwrap();
    let process = Process::run(&config(directory.path(), DEAD, "")).await;
    let url = format!("{}/v1/traces", process.url("otlp/http"));
    let headers = [
        ("content-type", "application/x-protobuf"),
        ("authorization", "Bearer s3cr3t-of-a-client"),
        ("x-tenant", "s3cr3t-tenant"),
        ("blackbar-hops", "3"),
    ];
    assert!(Client::new().send(&url, &headers, request("one", 0).into()).await.is_ok());
    process.terminate().await;
    for path in files(directory.path()) {
        assert!(!contains(&fs::read(&path).unwrap(), "s3cr3t"), "{}", path.display());
    }
    let backend = Backend::start().await;
    let _process = Process::run(&config(directory.path(), &backend.http_url(), "")).await;
    let received = backend.received(1).await.remove(0);
    assert_eq!(received.header("blackbar-hops"), "4", "a loop through a queue ends too");
    assert_eq!((received.header("authorization"), received.header("x-tenant")), ("", ""));
}

#[tokio::test]
async fn a_secret_that_got_into_the_file_does_not_get_out() {
    let parent = TempDir::new().unwrap();
    let directory = parent.path().join("made");
    let made = |endpoint: &str| {
        config(&directory, endpoint, "").replace("{directory", "{create_directory: true, directory")
    };
    let without_rules =
        made(DEAD).replace("\nexporters:", "\nprocessors: {scrub: {rules: {builtin: false}}}\nexporters:");
    let process = Process::run(&without_rules).await;
    assert!(send(&process, Via::Protobuf, "with a secret", 0).await.is_ok());
    let (status, log) = process.terminate().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(files(&directory).into_iter().any(|path| contains(&fs::read(path).unwrap(), &secret())));
    assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);

    let backend = Backend::start().await;
    let process = Process::run(&made(&backend.http_url())).await;
    let received = backend.received(1).await;
    assert_eq!(names(&received), ["with a secret"]);
    assert!(!contains(&received[0].raw, &secret()));
    assert!(contains(&received[0].raw, "[REDACTED:github-token]"));
    until(&process, "requests", 0).await;
    assert!(metrics(&process).await.contains("blackbar_redactions_total{kind=\"github-token\""));
}
