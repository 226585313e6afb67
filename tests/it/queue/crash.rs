//! kill -9 and SIGTERM at random points, with an oracle: what a client was told is accepted must reach the backend.

use std::sync::Mutex;

use rand::Rng as _;

use super::*;
use crate::receive_support::soon;
use crate::support::backend::{Answer as Told, Backend};

/// Clients at once.
const CLIENTS: usize = 6;

/// Sends numbered requests until the process is gone; notes which were accepted, and sends it this signal after so many.
async fn until_ended(
    process: Process,
    signal: &str,
    round: usize,
    kill_after: usize,
    accepted: &Arc<Mutex<Vec<String>>>,
) -> String {
    let url = process.url("otlp/http");
    let before = accepted.lock().unwrap().len();
    let (enough, killing) = tokio::sync::oneshot::channel();
    let enough = Arc::new(Mutex::new(Some(enough)));
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let (url, accepted, enough) = (url.clone(), Arc::clone(accepted), Arc::clone(&enough));
        clients.spawn(async move {
            let http = client();
            for n in 0.. {
                let name = format!("{round}-{number}-{n}");
                let size = rand::rng().random_range(0..60_000);
                match post(&http, &url, request(&name, size)).await {
                    None => return,
                    Some(false) => {}
                    Some(true) => {
                        let mut accepted = accepted.lock().unwrap();
                        accepted.push(name);
                        if accepted.len() - before == kill_after {
                            enough.lock().unwrap().take().map(|enough| enough.send(()));
                        }
                    }
                }
            }
        });
    }
    soon(killing).await.unwrap();
    process.signal(signal).await;
    let (_, log) = process.ended().await;
    soon(async { while clients.join_next().await.is_some() {} }).await;
    log
}

type Http = hyper_util::client::legacy::Client<
    hyper_util::client::legacy::connect::HttpConnector,
    http_body_util::Full<Bytes>,
>;

fn client() -> Http {
    hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http()
}

/// Whether it was accepted; `None`: the process is gone.
async fn post(http: &Http, url: &str, body: Vec<u8>) -> Option<bool> {
    let request = http::Request::post(format!("{url}/v1/traces"))
        .header("content-type", "application/x-protobuf")
        .body(http_body_util::Full::new(body.into()))
        .unwrap();
    let answer = http.request(request).await.ok()?;
    Some(answer.status() == 200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_accepted_survives_kill_9() {
    let kills = std::env::var("BLACKBAR_KILLS").ok().map_or(10, |kills| kills.parse().unwrap());
    let directory = TempDir::new().unwrap();
    let backend = Backend::start().await;
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let mut logs = Vec::new();
    for round in 0..kills {
        // Now the backend is up, now it is down, now it comes and goes.
        let endpoint = if round % 3 == 0 { DEAD.to_owned() } else { backend.http_url() };
        backend.script((0..round % 4).map(|_| Told::http(503)).chain([Told::Reset, Told::CloseMidBody]));
        let process = Process::run(&config(directory.path(), &endpoint, "")).await;
        let kill_after = rand::rng().random_range(1..120);
        logs.push(until_ended(process, "KILL", round, kill_after, &accepted).await);
    }
    let accepted = set(accepted.lock().unwrap().clone());
    let process = Process::run(&config(directory.path(), &backend.http_url(), "")).await;
    until(&process, "requests", 0).await;
    let received = backend.requests();
    let delivered = set(names(&received));
    let lost: Vec<_> = accepted.difference(&delivered).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), accepted.len());
    assert_eq!((kept(&directory, "quarantine"), kept(&directory, "dead-letter")), (vec![], vec![]));
    logs.push(metrics(&process).await);
    logs.push(process.log());
    let said: Vec<_> = logs.iter().map(String::as_str).collect();
    assert_no_secret(&directory, &received, &said);
    println!("{} accepted, {} deliveries, {kills} kills", accepted.len(), received.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_under_load_loses_nothing_and_repeats_nothing() {
    let directory = TempDir::new().unwrap();
    let backend = Backend::start().await;
    let accepted = Arc::new(Mutex::new(Vec::new()));
    for round in 0..4 {
        // What the one before has left is on its way when this one ends.
        let endpoint = if round == 0 { DEAD.to_owned() } else { backend.http_url() };
        let process = Process::run(&config(directory.path(), &endpoint, "")).await;
        let log = until_ended(process, "TERM", round, 60, &accepted).await;
        assert!(log.contains("stopped"), "{log}");
    }
    let process = Process::run(&config(directory.path(), &backend.http_url(), "")).await;
    until(&process, "requests", 0).await;
    let mut delivered = names(&backend.requests());
    delivered.sort();
    let once = set(delivered.clone());
    assert_eq!(delivered.len(), once.len(), "some came twice");
    let accepted = set(accepted.lock().unwrap().clone());
    assert!(accepted.is_subset(&once), "{:?}", accepted.difference(&once));
}
