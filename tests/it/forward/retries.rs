//! Which failures are tried again, and until when. The timing itself is tested in `forward::retry`.

use std::time::{Duration, Instant};

use super::*;
use crate::support::backend::{Answer, Backend};

/// Sends one request to a backend that answers so, and then accepts. Gives the attempts.
async fn attempts(dialect: Dialect, answers: Vec<Answer>) -> (Result<Reply, Failure>, usize) {
    let backend = Backend::start().await;
    backend.script(answers);
    let result = send(&exporter(dialect, remote(&backend.http_url()))).await;
    (result, backend.requests().len())
}

#[tokio::test]
async fn transient_http_failures_are_tried_again() {
    for dialect in [Dialect::Protobuf, Dialect::Json] {
        for status in [429, 502, 503, 504] {
            let (result, attempts) = attempts(dialect, vec![Answer::http(status); 2]).await;
            assert_eq!((result, attempts), (Ok(Reply::default()), 3), "{dialect:?} {status}");
        }
        for status in [307, 400, 401, 403, 404, 408, 413, 500, 501] {
            let (result, attempts) = attempts(dialect, vec![Answer::http(status); 2]).await;
            assert!(matches!(result, Err(Failure::Http { status: got, .. }) if got == status));
            assert_eq!(attempts, 1, "{dialect:?} {status}");
        }
    }
}

#[tokio::test]
async fn transient_grpc_failures_are_tried_again() {
    for code in 1..=16 {
        let (result, attempts) = attempts(Dialect::Grpc, vec![Answer::grpc(code); 2]).await;
        let transient = [1, 4, 10, 11, 14, 15].contains(&code);
        assert_eq!((result.is_ok(), attempts), (transient, if transient { 3 } else { 1 }), "{code}");
    }
    let retry_after = Some(Duration::from_millis(1));
    let exhausted = Answer::Grpc { code: 8, message: "later", retry_after };
    let (result, attempts) = attempts(Dialect::Grpc, vec![exhausted; 2]).await;
    assert_eq!((result, attempts), (Ok(Reply::default()), 3));
}

#[tokio::test]
async fn broken_connections_are_tried_again_and_garbage_is_not() {
    for dialect in DIALECTS {
        let answers = vec![Answer::Reset, Answer::CloseMidBody];
        assert_eq!(attempts(dialect, answers).await, (Ok(Reply::default()), 3), "{dialect:?}");
        let garbage = attempts(dialect, vec![Answer::Garbage]).await;
        assert_eq!(garbage, (Err(Failure::Garbage), 1), "{dialect:?}");
    }
}

#[tokio::test]
async fn every_attempt_sends_the_same() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        backend.script(vec![Answer::Reset; 3]);
        let mut remote = remote(&backend.http_url());
        remote.compression = Compression::Gzip;
        send(&exporter(dialect, remote)).await.unwrap();
        let requests = backend.requests();
        assert_eq!(requests.len(), 4);
        assert!(requests.iter().all(|request| request.raw == requests[0].raw), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_hint_past_the_deadline_is_handed_on_at_once() {
    let hint = Duration::from_secs(3600);
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        backend.script([match dialect {
            Dialect::Grpc => Answer::Grpc { code: 14, message: "", retry_after: Some(hint) },
            _ => Answer::Http { status: 503, retry_after: Some("3600".to_owned()), message: "" },
        }]);
        let start = Instant::now();
        let Err(failure) = send(&exporter(dialect, remote(&backend.http_url()))).await else {
            panic!("refused")
        };
        assert_eq!(failure.retry_after(), Some(hint), "{dialect:?}");
        assert!(start.elapsed() < Duration::from_secs(15), "waited for nothing");
        assert_eq!(backend.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_slow_backend_times_out_at_the_deadline() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        backend.script([Answer::Slow]);
        let exporter = exporter(dialect, remote(&backend.http_url()));
        let wait = Duration::from_millis(300);
        let start = Instant::now();
        assert_eq!(
            send_with(&exporter, &HeaderMap::new(), wait).await,
            Err(Failure::TimedOut),
            "{dialect:?}"
        );
        assert!(start.elapsed() >= wait);
        let requests = backend.received(1).await;
        let told = requests[0].header("grpc-timeout").to_owned();
        match dialect {
            Dialect::Grpc => {
                let millis: u64 = told.strip_suffix('m').unwrap().parse().unwrap();
                assert!((1..=300).contains(&millis), "{told}");
            }
            _ => assert_eq!(told, ""),
        }
        // The connection, or a new one, serves the next request.
        assert_eq!(send(&exporter).await, Ok(Reply::default()));
    }
}

#[tokio::test]
async fn the_exporters_own_timeout_counts_too() {
    for dialect in DIALECTS {
        let backend = Backend::start().await;
        backend.script([Answer::Slow]);
        let mut remote = remote(&backend.http_url());
        remote.timeout = Duration::from_millis(200);
        assert_eq!(send(&exporter(dialect, remote)).await, Err(Failure::TimedOut), "{dialect:?}");
    }
}

#[tokio::test]
async fn every_exchange_is_measured() {
    let backend = Backend::start().await;
    backend.script([Answer::Reset, Answer::Success, Answer::Slow]);
    let metrics = Arc::new(Metrics::default());
    let settings = settings(Dialect::Protobuf, remote(&backend.http_url()));
    let exporter = Exporter::new("test", &settings, Arc::clone(&metrics)).unwrap();
    send(&exporter).await.unwrap();
    let result = send_with(&exporter, &HeaderMap::new(), Duration::from_millis(100)).await;
    assert_eq!(result, Err(Failure::TimedOut));
    let page = metrics.render();
    let count = |outcome: &str| {
        let line =
            page.lines().find(|l| l.starts_with("blackbar_backend_seconds_count") && l.contains(outcome));
        line.map(|line| line.rsplit(' ').next().unwrap().to_owned())
    };
    // The reset and the one that took too long failed.
    assert_eq!(
        (count("\"ok\"").as_deref(), count("\"failed\"").as_deref()),
        (Some("1"), Some("2")),
        "{page}"
    );
}
