//! The demo's output: both sides of each text, and the counts.

use std::fmt::Write as _;

use serde_json::Value;

use crate::otlp::Signal;

/// Characters of each of the two columns.
const COLUMN: usize = 58;

/// The texts of a request, before on the left and after on the right. Both are OTLP/JSON.
pub(super) fn both(signal: Signal, via: &str, before: &[u8], after: &[u8]) -> anyhow::Result<String> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    texts("", &serde_json::from_slice(before)?, &mut left);
    texts("", &serde_json::from_slice(after)?, &mut right);
    let mut out = String::new();
    writeln!(out, "\n== {signal}, {via} {}", "=".repeat(40))?;
    writeln!(out, "  {:COLUMN$}   CAME OUT", "WENT IN")?;
    for ((label, old), (_, new)) in left.iter().zip(&right) {
        let mark = if old == new { ' ' } else { '*' };
        let (old, new) = (pieces(&format!("{label}: {old}")), pieces(&format!("{label}: {new}")));
        for line in 0..old.len().max(new.len()) {
            let at = |side: &[String]| side.get(line).cloned().unwrap_or_default();
            writeln!(out, "{mark} {:COLUMN$} | {}", at(&old), at(&new))?;
        }
    }
    Ok(out)
}

/// Every text with the key or field that it stands under. Identifiers and times are left out.
fn texts(label: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            let key = fields.get("key").and_then(Value::as_str).filter(|_| fields.contains_key("value"));
            for (name, value) in fields {
                match (key, name.as_str()) {
                    (Some(_), "key") => {}
                    (Some(key), _) => texts(key, value, found),
                    (None, "stringValue" | "intValue") => texts(label, value, found),
                    (None, name) if name.ends_with("Id") || name.ends_with("Nano") => {}
                    (None, name) => texts(name, value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts(label, item, found)),
        Value::String(text) => found.push((label.to_owned(), text.clone())),
        _ => {}
    }
}

/// The lines of a column. A marker is not broken over two.
fn pieces(text: &str) -> Vec<String> {
    let mut rest: Vec<char> = text
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    let mut lines = Vec::new();
    while rest.len() > COLUMN {
        let line = rest.get(..COLUMN).unwrap_or_default();
        let open = line.iter().rposition(|&c| c == '[');
        let closed = line.iter().rposition(|&c| c == ']');
        let cut = open.filter(|&at| at > 0 && closed < open).unwrap_or(COLUMN);
        lines.push(rest.drain(..cut).collect());
    }
    lines.push(rest.into_iter().collect());
    lines
}

/// Redactions by kind, out of the proxy's own metrics.
pub(super) fn counts(metrics: &str) -> String {
    let mut lines: Vec<(&str, &str, &str)> = metrics.lines().filter_map(count).collect();
    lines.sort_unstable();
    let mut out = String::from("\n== redactions by kind and signal ==\n");
    for (kind, signal, count) in lines {
        let _ = writeln!(out, "  {kind:20} {signal:10} {count}");
    }
    out
}

/// Kind, signal and number of `blackbar_redactions_total{kind="...",signal="..."} 1`.
fn count(line: &str) -> Option<(&str, &str, &str)> {
    let (labels, count) = line.strip_prefix("blackbar_redactions_total{")?.split_once("} ")?;
    let label = |name: &str| {
        let pair = labels.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(pair.trim_matches('"'))
    };
    Some((label("kind")?, label("signal")?, count))
}
