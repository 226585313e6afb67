//! A disk that is full: refusals with a hint, nothing lost, and recovery without help.

use super::*;
use crate::receive_support::soon;
use crate::support::backend::{Answer as Told, Backend};
use crate::support::small_disk::SmallDisk;

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

/// The whole disk is full, to the last byte, and the process starts anew on it: what is there is delivered, and what was
/// delivered makes room, although nothing can be written at first.
#[tokio::test]
async fn a_disk_without_a_byte_left_is_got_over() {
    let Some(disk) = SmallDisk::new(24).await else {
        println!("skipped: no user namespaces here");
        return;
    };
    let backend = Backend::start().await;
    let process = disk.run(&config(disk.inside(), DEAD, "")).await;
    let mut accepted = Vec::new();
    loop {
        let name = format!("span-{}", accepted.len());
        if !send(&process, Via::Protobuf, &name, 300_000).await.is_ok() {
            break;
        }
        accepted.push(name);
        assert!(accepted.len() < 200, "the disk did not fill up");
    }
    assert!(accepted.len() > 10, "{accepted:?}");
    process.signal("KILL").await;
    let (_, log) = process.ended().await;
    let fill = disk.outside().join("fill");
    let filled =
        fs::File::create(&fill).and_then(|mut file| std::io::copy(&mut std::io::repeat(1), &mut file));
    assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);

    backend.script((0..accepted.len()).map(|_| Told::Slow));
    let process = disk.run(&config(disk.inside(), &backend.http_url(), "")).await;
    backend.received(10).await;
    assert_eq!(send(&process, Via::Protobuf, "refused", 300_000).await.status, 503);
    assert_eq!(ready(&process).await.0, 503);
    backend.release();
    until(&process, "requests", 0).await;
    assert_eq!(set(names(&backend.requests())), set(accepted.clone()));

    soon(async { while ready(&process).await.0 != 200 {} }).await;
    assert!(send(&process, Via::Protobuf, "after", 300_000).await.is_ok());
    accepted.push("after".to_owned());
    until(&process, "requests", 0).await;
    assert_eq!(set(names(&backend.requests())), set(accepted));
    let page = metrics(&process).await;
    assert_eq!((value(&page, "quarantined_total"), value(&page, "dead_lettered_total")), (0, 0));
    for path in files(&disk.outside()) {
        assert!(!contains(&fs::read(&path).unwrap(), &secret()), "{}", path.display());
    }
    let said = process.log();
    assert!([&log, &page, &said].iter().all(|text| !text.contains(&secret())));
}
