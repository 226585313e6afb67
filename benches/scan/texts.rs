//! Clean text: this repository and the sources of its dependencies where Cargo keeps them; agent payloads made of them.
//!
//! The same files in the same order give the same texts: a lock file and a registry make figures comparable.

use std::path::{Path, PathBuf};

/// Bytes of one value.
const VALUE: usize = 2048;
/// Most bytes of one kind of text.
const MOST: usize = 8 << 20;
/// Most bytes that are taken of one file.
const MOST_OF_FILE: usize = 64 << 10;

/// Source code, JSON, TOML, YAML, lock files and documents in values of 2 KB.
pub(crate) fn mixed() -> Vec<Vec<u8>> {
    let mut values = Vec::new();
    let mut bytes = 0;
    for file in files() {
        let Ok(text) = std::fs::read(&file) else { continue };
        for value in text.chunks(VALUE).take(MOST_OF_FILE / VALUE) {
            bytes += value.len();
            values.push(value.to_vec());
        }
        if bytes > MOST {
            break;
        }
    }
    values
}

/// Paragraphs of documents.
pub(crate) fn prose() -> Vec<Vec<u8>> {
    let mut text = Vec::new();
    for file in all_files().filter(|file| has_extension(file, &["md", "txt"])) {
        let Ok(document) = std::fs::read_to_string(&file) else { continue };
        let lines = document.lines().filter(|line| is_prose(line)).collect::<Vec<_>>().join("\n");
        text.extend(lines.bytes().take(MOST_OF_FILE).chain([b'\n']));
        if text.len() > MOST / 4 {
            break;
        }
    }
    text.chunks(VALUE).map(<[u8]>::to_vec).collect()
}

/// What an agent reports: conversations as JSON, whose contents are files and the JSON of tool calls.
pub(crate) fn agent() -> Vec<Vec<u8>> {
    let mixed = mixed();
    let pieces = mixed.iter().step_by(3).take(1500);
    let texts: Vec<String> = pieces.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
    let values = texts.chunks(3).enumerate().map(|(n, texts)| {
        let messages: Vec<serde_json::Value> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| {
                let call = serde_json::json!({"path": format!("/srv/project/src/part_{n}.rs"), "limit": 200 + at, "content": text});
                serde_json::json!({
                    "role": if at % 2 == 0 { "assistant" } else { "tool" },
                    "tool_call_id": format!("call_{:024x}", n * 7919 + at),
                    "parts": [
                        {"type": "text", "content": format!("Now I read part {n} again and look for the place where it is called.\n")},
                        {"type": "tool_call", "name": "read_file", "arguments": call.to_string()},
                        {"type": "text", "content": text},
                    ],
                })
            })
            .collect();
        // Every other one once more as a string, as some instrumentations do.
        let json = serde_json::Value::Array(messages).to_string();
        let twice = n % 2 == 0;
        (if twice { serde_json::json!({ "messages": json }).to_string() } else { json }).into_bytes()
    });
    values.collect()
}

/// Names, keys and values of small spans.
pub(crate) fn small() -> Vec<Vec<u8>> {
    let of = |n: usize| {
        [
            "http.request.method".to_owned(),
            "GET".to_owned(),
            "url.path".to_owned(),
            format!("/api/v1/orders/{n}/items"),
            "server.address".to_owned(),
            "orders.internal.example".to_owned(),
            "user_agent.original".to_owned(),
            "okhttp/4.12".to_owned(),
            format!("GET /api/v1/orders/{{id}} {n}"),
            "thread.name".to_owned(),
            format!("worker-{}", n % 16),
            "db.query.text".to_owned(),
            "SELECT id, total FROM orders WHERE id = $1".to_owned(),
            "k8s.pod.name".to_owned(),
            format!("checkout-7c9f{:04x}-x{}", n * 31 % 65536, n % 10),
            "host.id".to_owned(),
            format!("{:08x}-9c2b-4f0e-8d3a-{:012x}", n * 7919, n * 104_729),
        ]
    };
    (0..4000).flat_map(of).map(String::into_bytes).collect()
}

/// This repository's files, then those of its dependencies, spread over all packages.
fn files() -> impl Iterator<Item = PathBuf> {
    let (own, packages) = found();
    // Every eleventh file, so that no large package fills the text.
    own.into_iter().chain(packages.into_iter().step_by(11))
}

fn all_files() -> impl Iterator<Item = PathBuf> {
    let (own, packages) = found();
    own.into_iter().chain(packages)
}

/// This repository's files, and those of its dependencies.
fn found() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for part in ["src", "docs", "config", "proto"] {
        collect(&root.join(part), &mut all);
    }
    let mut packages = Vec::new();
    if let Some(registry) = registry() {
        collect(&registry, &mut packages);
    }
    (all, packages)
}

fn registry() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")))?;
    Some(home.join("registry/src"))
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, into);
        } else if has_extension(
            &entry,
            &["rs", "md", "toml", "json", "yml", "yaml", "txt", "proto", "lock", "c", "h", "py", "js", "sh"],
        ) || is_licence(&entry)
        {
            into.push(entry);
        }
    }
}

fn has_extension(file: &Path, known: &[&str]) -> bool {
    file.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| known.contains(&extension))
}

fn is_licence(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("LICENSE"))
}

/// A long line of words, without the signs of code and tables.
fn is_prose(line: &str) -> bool {
    let signs = line.bytes().filter(|b| b"`[]{}|<>=*_#/\\\"".contains(b)).count();
    let words = line.bytes().filter(|b| b.is_ascii_lowercase() || *b == b' ').count();
    line.len() > 50 && signs <= 1 && words * 100 >= line.len() * 85
}
