//! A disk that is full: refusals with a hint, nothing lost, and recovery without help.

use super::*;
use crate::receive_support::soon;
use crate::support::backend::{Answer as Told, Backend};

#[tokio::test]
async fn a_full_disk_refuses_and_recovers() {
    let directory = TempDir::new().unwrap();
    let backend = Backend::start().await;
    backend.script((0..200).map(|_| Told::Slow));
    let config = config(directory.path(), &backend.http_url(), "");
    let process = Process::run_with_small_files(&config, 6 << 10).await;
    let mut accepted = Vec::new();
    let refused = loop {
        let name = format!("span-{}", accepted.len());
        let answer = send(&process, Via::Protobuf, &name, 200_000).await;
        if !answer.is_ok() {
            break answer;
        }
        accepted.push(name);
        assert!(accepted.len() < 100, "the disk did not fill up");
    };
    assert!(accepted.len() > 3, "{accepted:?}");
    assert_eq!((refused.status, refused.headers["retry-after"].to_str().unwrap()), (503, "1"));
    let (status, body) = ready(&process).await;
    assert_eq!(status, 503);
    assert!(body.contains("queue can't be written"), "{body}");
    assert_eq!(send(&process, Via::Grpc, "refused", 200_000).await.grpc_status(), Some(14));
    assert!(value(&metrics(&process).await, "enqueue_failures_total") >= 2);

    // The backend takes what is there, and so makes room.
    backend.release();
    soon(async { while ready(&process).await.0 != 200 {} }).await;
    assert!(send(&process, Via::Protobuf, "after", 200_000).await.is_ok());
    accepted.push("after".to_owned());
    until(&process, "requests", 0).await;
    let received = backend.requests();
    let delivered = set(names(&received));
    assert_eq!(set(accepted), delivered, "all that was accepted, and nothing that was refused");
    assert_eq!((kept(&directory, "quarantine"), kept(&directory, "dead-letter")), (vec![], vec![]));
    let page = metrics(&process).await;
    let (status, log) = process.terminate().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert_no_secret(&directory, &received, &[&page, &log]);
}
