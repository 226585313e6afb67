//! The effective configuration as YAML, each line with the place it came from. Secrets are masked in the tree already;
//! this only writes. What it writes is a valid configuration, masks apart.

use std::fmt::Write as _;

use super::node::{Node, Value};
use super::problem::Origin;

/// Writes the tree.
pub(crate) fn to_yaml(node: &Node) -> String {
    let mut lines = Vec::new();
    write_node(node, 0, "", &mut lines);
    let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0).min(60);
    let mut out = String::new();
    for (text, origin) in lines {
        match origin {
            Some(origin) => {
                let pad = width.saturating_sub(text.chars().count());
                let _ = writeln!(out, "{text}{:pad$}  # {origin}", "");
            }
            None => {
                let _ = writeln!(out, "{text}");
            }
        }
    }
    out
}

/// `lead` is what stands before the value: the indentation with a key, or a dash.
fn write_node(node: &Node, indent: usize, lead: &str, lines: &mut Vec<(String, Option<String>)>) {
    let head = if lead.is_empty() { String::new() } else { format!("{lead} ") };
    match &node.value {
        Value::Null => lines.push((lead.to_owned(), Some(comment(&node.origin)))),
        Value::Scalar(scalar) => {
            lines.push((format!("{head}{}", quote(&scalar.text)), Some(comment(&node.origin))));
        }
        Value::Map(map) if map.0.is_empty() => {
            lines.push((format!("{head}{{}}"), Some(comment(&node.origin))))
        }
        Value::List(items) if items.is_empty() => {
            lines.push((format!("{head}[]"), Some(comment(&node.origin))))
        }
        Value::Map(map) => {
            if !lead.is_empty() {
                lines.push((lead.to_owned(), None));
            }
            for entry in &map.0 {
                let lead = format!("{:indent$}{}:", "", quote(&entry.key));
                write_node(&entry.node, indent + 2, &lead, lines);
            }
        }
        Value::List(items) => {
            lines.push((lead.to_owned(), None));
            for item in items {
                let dash = format!("{:indent$}-", "");
                write_node(item, indent + 2, &dash, lines);
            }
        }
    }
}

fn comment(origin: &Origin) -> String {
    // A file name is the user's own text: a line end in it would end the comment.
    origin.to_string().escape_debug().to_string()
}

/// A scalar that reads back as the same text: plain where that is safe, else in double quotes (JSON strings are YAML).
fn quote(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./:+*@%^~".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_/.".contains(c));
    let plain = starts
        && text.chars().all(safe)
        && !text.ends_with(':')
        && !text.contains(": ")
        && !matches!(text, "null" | "Null" | "NULL");
    let escaped = text.replace('$', "$$");
    if plain { text.to_owned() } else { serde_json::Value::String(escaped).to_string() }
}
