//! A door's life: panics, the two steps of its end, and clients that go away.

use std::panic::panic_any;

use blackbar::pipeline::Reply;
use tokio::io::AsyncWriteExt;
use tonic::Code;

use crate::receive_support::*;

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_process_lives() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let server = start(move || {
        let first_two = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2;
        Box::pin(async move {
            if first_two {
                panic_any("payload text");
            }
            Ok(Reply::default())
        })
    })
    .await;
    let got = exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    assert_eq!((got.status, got.status_body()), (500, (13, "internal error".to_owned())));
    let got = grpc(server.addr, TRACES, &[], frame(0, b"")).await;
    let status = tonic::Status::from_header_map(&got.headers).unwrap();
    assert_eq!((status.code(), status.message()), (Code::Internal, "internal error"));
    assert_eq!(exchange(server.addr, &post("/v1/traces", PROTOBUF, b"")).await.status, 200);
    assert_eq!(server.limits.requests_in_flight(), 0);
}

fn held() -> (std::sync::Arc<tokio::sync::Semaphore>, impl Fn() -> Answer + Send + Sync) {
    let release = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let script = {
        let release = std::sync::Arc::clone(&release);
        move || {
            let release = std::sync::Arc::clone(&release);
            Box::pin(async move {
                release.acquire().await.unwrap().forget();
                Ok(Reply::default())
            }) as Answer
        }
    };
    (release, script)
}

#[tokio::test]
async fn the_end_finishes_what_runs() {
    let (release, script) = held();
    let mut server = start(script).await;
    let mut http = connect(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    soon(server.seen.recv()).await.unwrap();
    let mut sender = h2c(server.addr).await;
    let headers = [("content-type", "application/grpc"), ("te", "trailers")];
    let grpc =
        tokio::spawn(async move { over_h2(&mut sender, TRACES, &headers, frame(0, b"").into()).await });
    soon(server.seen.recv()).await.unwrap();
    let mut idle = connect(server.addr, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(soon(read_response(&mut idle)).await.status, 404);

    server.stop.cancel();
    assert!(soon(tokio::io::AsyncReadExt::read(&mut idle, &mut [0])).await.is_ok_and(|read| read == 0));
    // No longer accepting, once the listener has been told.
    soon(async { while tokio::net::TcpStream::connect(server.addr).await.is_ok() {} }).await;
    release.add_permits(2);
    let got = soon(read_response(&mut http)).await;
    assert_eq!((got.status, got.header("connection")), (200, Some("close")));
    assert_eq!(soon(grpc).await.unwrap().grpc_status(), 0);
    assert_eq!(soon(server.task).await.unwrap(), 0);
}

#[tokio::test]
async fn the_end_cuts_what_does_not_finish() {
    let (_release, script) = held();
    let mut server = start(script).await;
    let _stuck = connect(server.addr, &post("/v1/traces", PROTOBUF, b"")).await;
    soon(server.seen.recv()).await.unwrap();
    server.stop.cancel();
    assert_eq!(soon(server.task).await.unwrap(), 1);
    assert_eq!(server.limits.requests_in_flight(), 0);
}

#[tokio::test]
async fn a_client_that_goes_away_gives_back_what_it_held() {
    let (_release, script) = held();
    let mut server = start(script).await;
    let mut gone = connect(server.addr, &post("/v1/traces", PROTOBUF, &[0; 1000])).await;
    soon(server.seen.recv()).await.unwrap();
    assert_eq!(server.limits.bytes_in_flight(), 1000);
    gone.shutdown().await.unwrap();
    drop(gone);
    soon(async {
        while server.limits.requests_in_flight() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(server.limits.bytes_in_flight(), 0);
}
