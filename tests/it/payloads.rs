//! Replays of request bodies recorded from real SDKs and agents, with fake secrets planted: none may come out.
//!
//! The recordings are not part of this repository. `BLACKBAR_PAYLOADS` names a folder with `index.tsv`, `secrets.tsv`
//! and the bodies; CI sets it. Without it this file has nothing to replay; `seeds`, `coverage` and `interop` plant
//! their own.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use blackbar::otlp::Signal;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::backend::Backend;
use crate::support::client::{Answer, Client, Via};
use crate::support::messages::{decode, texts, without_texts};
use crate::support::process::Process;

struct Recorded {
    file: String,
    signal: Signal,
    path: String,
    content_type: String,
    encoding: Option<String>,
    /// Without compression and gRPC frame.
    body: Bytes,
}

fn table(dir: &Path, name: &str) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(dir.join(name)).unwrap();
    let mut lines = text.lines();
    let head: Vec<_> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        head.iter().zip(line.split('\t')).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect()
    };
    lines.map(row).collect()
}

fn recorded(dir: &Path) -> Vec<Recorded> {
    let signal = |name: &str| Signal::ALL.into_iter().find(|signal| signal.as_str() == name).unwrap();
    let load = |row: HashMap<String, String>| Recorded {
        signal: signal(&row["signal"]),
        path: row["path"].clone(),
        content_type: row["content_type"].clone(),
        encoding: Some(row["content_encoding"].clone()).filter(|name| name != "-"),
        body: std::fs::read(dir.join(&row["file"])).unwrap().into(),
        file: row["file"].clone(),
    };
    table(dir, "index.tsv").into_iter().map(load).collect()
}

fn leaks<'a>(haystack: &[u8], secrets: &'a [String]) -> Vec<&'a str> {
    secrets
        .iter()
        .filter(|s| memchr::memmem::find(haystack, s.as_bytes()).is_some())
        .map(String::as_str)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_bodies_leave_without_their_secrets_by_every_door() {
    let Some(dir) = std::env::var_os("BLACKBAR_PAYLOADS") else { return };
    let dir = Path::new(&dir);
    let secrets: Vec<String> =
        table(dir, "secrets.tsv").into_iter().map(|row| row["value"].clone()).collect();
    let bodies = recorded(dir);
    assert!(bodies.len() >= 66 && secrets.len() >= 900, "the recordings are not whole");

    let backend = Backend::start().await;
    let exporter = format!("otlp_http: {{endpoint: '{}'}}", backend.http_url());
    let blackbar = Process::run(&crate::support::config(&exporter)).await;
    let client = Client::new();
    let mut failures = Vec::new();
    for recorded in &bodies {
        let original = &recorded.body;
        let shape = without_texts(decode(recorded.signal, original));
        let planted = !leaks(original, &secrets).is_empty();
        for via in [None, Some(Via::Json), Some(Via::Grpc), Some(Via::Protobuf)] {
            let label = format!("{} {via:?}", recorded.file);
            let answer = match via {
                None => as_recorded(&client, &blackbar, recorded).await,
                Some(via) => client.export(&blackbar.url("otlp/http"), recorded.signal, via, original).await,
            };
            if !answer.is_ok() {
                failures.push(format!("{label}: refused with {} {:?}", answer.status, answer.grpc_status()));
                continue;
            }
            let out = backend.last().message;
            let redacted = decode(recorded.signal, &out);
            for text in texts(&redacted).iter().map(Vec::as_slice).chain([&out[..], answer.body.as_ref()]) {
                failures.extend(leaks(text, &secrets).into_iter().map(|s| format!("{label}: {s} came out")));
            }
            if without_texts(redacted) != shape {
                failures.push(format!("{label}: something other than text changed"));
            }
            if !planted && via != Some(Via::Json) && out[..] != original[..] {
                failures.push(format!("{label}: no secret planted, but not the same bytes"));
            }
        }
    }
    let (status, log) = blackbar.terminate().await;
    failures.extend(leaks(log.as_bytes(), &secrets).into_iter().map(|s| format!("log: {s}")));
    failures.sort();
    failures.dedup();
    assert!(status.success());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

async fn as_recorded(client: &Client, blackbar: &Process, recorded: &Recorded) -> Answer {
    if recorded.content_type.starts_with("application/grpc") {
        return client.export(&blackbar.url("otlp/grpc"), recorded.signal, Via::Grpc, &recorded.body).await;
    }
    let mut headers = vec![("content-type", recorded.content_type.as_str())];
    let mut body = recorded.body.clone();
    if recorded.encoding.as_deref() == Some("gzip") {
        headers.push(("content-encoding", "gzip"));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&body).unwrap();
        body = encoder.finish().unwrap().into();
    }
    let url = format!("{}{}", blackbar.url("otlp/http"), recorded.path);
    client.send(&url, &headers, body).await
}
