//! Our own log: its two shapes, its level, and that a dependency's words never get into it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use blackbar::telemetry::logs::{LogError, LogFormat, LogSettings, subscriber};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Page {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// What `work` logs with this filter.
fn logged(filter: &str, format: LogFormat, work: impl FnOnce()) -> String {
    let page = Page::default();
    let settings = LogSettings { filter: filter.to_owned(), format };
    let log = subscriber(&settings, false, page.clone()).unwrap();
    tracing::subscriber::with_default(log, work);
    let bytes = page.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

const PAYLOAD: &str = concat!("gh", "p_", "000000000000000000000000000000000000");

fn dependencies_talk() {
    tracing::trace!(target: "h2::codec::framed_read", header = PAYLOAD, "received");
    tracing::debug!(target: "hyper::proto::h1", "parsed {PAYLOAD}");
    tracing::info!(target: "tonic", metadata = ?PAYLOAD);
    tracing::warn!(target: "tonic::status", PAYLOAD);
    tracing::error!(target: "tower_http::catch_panic", "Service panicked: {PAYLOAD}");
    tracing::error!(target: "blackbarista", "a crate with a similar name: {PAYLOAD}");
    let span = tracing::error_span!(target: "h2", "connection", header = PAYLOAD);
    let _inside = span.enter();
    tracing::info!(target: "blackbar::receive", "ours, inside of theirs");
}

#[test]
fn a_dependencys_words_never_appear() {
    for filter in ["trace", "h2=trace,hyper=trace,tonic=trace", "info,tower_http=trace", "[connection]=trace"]
    {
        for format in [LogFormat::Text, LogFormat::Json] {
            let page = logged(filter, format, dependencies_talk);
            assert!(!page.contains(PAYLOAD), "{filter} {format:?}: {page}");
            assert!(
                !page.contains("h2::codec") && !page.contains("hyper::proto"),
                "{filter} {format:?}: {page}"
            );
        }
    }
    for format in [LogFormat::Text, LogFormat::Json] {
        let page = logged("info", format, dependencies_talk);
        assert!(page.contains("tower_http::catch_panic") && page.contains("tonic::status"), "{page}");
        assert_eq!(page.matches("words are withheld").count(), 3, "{page}");
        assert!(page.contains("ours, inside of theirs"), "{page}");
    }
}

#[test]
fn json_lines_are_json_and_text_lines_are_not() {
    let speak = || {
        tracing::info!(target: "blackbar::app", port = 4317, "listening");
        tracing::warn!(target: "h2", "lost");
    };
    let page = logged("", LogFormat::Auto, speak);
    let lines: Vec<serde_json::Value> =
        page.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["fields"]["message"], &lines[0]["fields"]["port"], &lines[0]["level"]),
        (&"listening".into(), &4317.into(), &"INFO".into())
    );
    assert_eq!((&lines[1]["target"], &lines[1]["level"]), (&"h2".into(), &"WARN".into()));
    assert!(lines.iter().all(|line| line["timestamp"].is_string()));

    let page = logged("info", LogFormat::Text, speak);
    assert!(page.contains("blackbar::app: listening port=4317"), "{page}");
}

#[test]
fn the_filter_decides_what_of_ours_is_shown() {
    let speak = || {
        tracing::debug!(target: "blackbar::receive", "detail");
        tracing::info!(target: "blackbar::app", "news");
        tracing::error!(target: "blackbar", "trouble");
    };
    let shown = |filter| {
        let page = logged(filter, LogFormat::Text, speak);
        ["detail", "news", "trouble"].map(|word| page.contains(word))
    };
    assert_eq!(shown(""), [false, true, true]);
    assert_eq!(shown("error"), [false, false, true]);
    assert_eq!(shown("blackbar::receive=debug"), [true, false, false]);
    assert_eq!(shown("off"), [false, false, false]);
    let bad = LogSettings { filter: "blackbar=loud".into(), format: LogFormat::Auto };
    assert_eq!(subscriber(&bad, false, io::sink).err(), Some(LogError::Filter));
}
