//! The file exporter: OTLP JSON lines.

use std::path::Path;

use futures_util::future::join_all;
use tempfile::TempDir;

use super::*;

fn to_file(path: &Path) -> Exporter {
    let settings = ExporterSettings::File { path: path.to_owned() };
    Exporter::new("out", &settings, Arc::new(Metrics::default())).unwrap()
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn name(line: &serde_json::Value) -> &str {
    line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"].as_str().unwrap()
}

#[tokio::test]
async fn one_request_is_one_line_and_is_there_with_the_reply() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.jsonl");
    let exporter = to_file(&path);
    for (count, span) in ["first", "second\nline", "third"].into_iter().enumerate() {
        assert_eq!(send_body(&exporter, Signal::Traces, trace(span)).await, Ok(Reply::default()));
        let lines = lines(&path);
        assert_eq!((lines.len(), name(lines.last().unwrap())), (count + 1, span));
    }
    assert_eq!(send_body(&exporter, Signal::Logs, Bytes::new()).await, Ok(Reply::default()));
    assert_eq!(lines(&path)[3], serde_json::json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_many_requests_never_mix() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.jsonl");
    let exporter = to_file(&path);
    let spans: Vec<String> = (0..50).map(|number| format!("{number} {}", "x".repeat(20_000))).collect();
    let results = join_all(spans.iter().map(|span| send_body(&exporter, Signal::Traces, trace(span)))).await;
    assert!(results.iter().all(Result::is_ok));
    let lines = lines(&path);
    let mut got: Vec<&str> = lines.iter().map(name).collect();
    let mut expected: Vec<&str> = spans.iter().map(String::as_str).collect();
    got.sort_unstable();
    expected.sort_unstable();
    assert_eq!(got, expected);
}

#[tokio::test]
async fn a_file_is_appended_to_and_a_torn_line_is_closed() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.jsonl");
    send_body(&to_file(&path), Signal::Traces, trace("of one run")).await.unwrap();
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .map(|mut file| {
            std::io::Write::write_all(&mut file, b"{\"resourceSp").unwrap();
        })
        .unwrap();
    send_body(&to_file(&path), Signal::Traces, trace("of the next")).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(name(&serde_json::from_str(lines[0]).unwrap()), "of one run");
    assert_eq!(lines[1], "{\"resourceSp");
    assert_eq!(name(&serde_json::from_str(lines[2]).unwrap()), "of the next");
}

#[tokio::test]
async fn what_is_not_otlp_is_refused_for_good_and_not_written() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.jsonl");
    // Only a pipeline that does not scrub can bring this here.
    let result = send_body(&to_file(&path), Signal::Traces, Bytes::from_static(b"<html>")).await;
    assert!(matches!(result, Err(Failure::Http { status: 400, .. })));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.jsonl");
    let _exporter = to_file(&path);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_a_failure_that_a_retry_can_help() {
    let result = send_body(&to_file(Path::new("/dev/full")), Signal::Traces, trace("a span")).await;
    assert_eq!(result, Err(Failure::Sink));
    assert!(Failure::Sink.is_retryable());
}

#[test]
fn a_file_that_cannot_be_opened_stops_the_start() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("missing").join("out.jsonl");
    let settings = ExporterSettings::File { path: path.clone() };
    let error = build_error(&settings);
    assert!(error.starts_with(&format!("exporter out: {}: ", path.display())), "{error}");
}
