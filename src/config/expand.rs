//! `${env:NAME}`, `${env:NAME:-default}`, `${NAME}` and `${file:PATH}` in scalar values; `$$` is a plain `$`.
//!
//! The syntax is the Collector's. As there, a default counts only where the variable is not set, and a `$` that starts
//! no reference stays. Unlike there, a variable without value and default is a problem, and what was put in is not
//! expanded again. Works on the merged tree, so that a value which a later file replaces is never looked up.

use std::fs::File;
use std::io::Read;

use super::env::Env;
use super::node::{Node, Scalar, Source, Value};
use super::problem::Sink;

/// The largest file that `${file:...}` reads, in bytes: it is for credentials and single values.
const MAX_FILE: u64 = 1 << 20;

/// References inside of defaults inside of references.
const MAX_DEPTH: usize = 8;

/// Expands every scalar below `node` that was written in a document.
pub(crate) fn expand(node: &mut Node, path: &str, env: &Env, sink: &Sink) {
    match &mut node.value {
        Value::Null => {}
        Value::Scalar(scalar) if scalar.source == Source::Document => match text(&scalar.text, env, 0) {
            Ok(expanded) => *scalar = expanded,
            Err(message) => {
                sink.add(&node.origin, path, message);
                // Not given, so that no second problem comes of it.
                node.value = Value::Null;
            }
        },
        Value::Scalar(_) => {}
        Value::List(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                expand(item, &format!("{path}[{i}]"), env, sink);
            }
        }
        Value::Map(map) => {
            for entry in &mut map.0 {
                let path = super::section::join(path, &entry.key);
                expand(&mut entry.node, &path, env, sink);
            }
        }
    }
}

fn text(input: &str, env: &Env, depth: usize) -> Result<Scalar, String> {
    if depth > MAX_DEPTH {
        return Err(format!("references nest deeper than {MAX_DEPTH}"));
    }
    let mut out = Scalar { text: String::with_capacity(input.len()), source: Source::Literal };
    let mut rest = input;
    while let Some((before, after)) = rest.split_once('$') {
        out.text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.text.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let (inner, after) =
                split_reference(after).ok_or("`${` without its `}` (`$$` is a plain `$`)")?;
            let value = reference(inner, env, depth)?;
            out.text.push_str(&value.text);
            out.source = out.source.max(value.source);
            rest = after;
        } else {
            out.text.push('$');
            rest = after;
        }
    }
    out.text.push_str(rest);
    Ok(out)
}

/// Splits after the `}` that closes a reference whose `${` has just been read.
fn split_reference(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '{' if previous == '$' => depth += 1,
            '}' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '}' => depth -= 1,
            _ => {}
        }
        previous = c;
    }
    None
}

/// What stands between `${` and `}`.
fn reference(inner: &str, env: &Env, depth: usize) -> Result<Scalar, String> {
    let (scheme, rest) = match inner.split_once(':') {
        Some((_, rest)) if rest.starts_with('-') => ("env", inner),
        Some((scheme, rest)) => (scheme, rest),
        None => ("env", inner),
    };
    match scheme {
        "env" => variable(rest, env, depth),
        "file" => file(rest),
        other => Err(format!("`${{{other}:...}}` is not known; expected env or file (`$$` is a plain `$`)")),
    }
}

fn variable(rest: &str, env: &Env, depth: usize) -> Result<Scalar, String> {
    let (name, default) = match rest.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (rest, None),
    };
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(letter) || !name.chars().all(|c| letter(c) || c.is_ascii_digit()) {
        return Err(format!(
            "`{}` is not the name of an environment variable (`$$` is a plain `$`)",
            name.escape_debug()
        ));
    }
    match (env.get(name), default) {
        (Some(value), _) => Ok(Scalar { text: value.to_owned(), source: Source::Environment }),
        (None, Some(default)) => {
            let value = text(default, env, depth + 1)?;
            Ok(Scalar { source: value.source.max(Source::Environment), ..value })
        }
        (None, None) => Err(format!(
            "environment variable {name} is not set; set it, or give a default: `${{env:{name}:-default}}`"
        )),
    }
}

fn file(path: &str) -> Result<Scalar, String> {
    let fault = |what: &str| format!("file `{}` {what}", path.escape_debug());
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|f| f.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(|e| fault(&format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(fault(&format!("is larger than {MAX_FILE} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| fault("is not UTF-8"))?;
    // Editors and `echo` end a file with a line end; no header value may hold one.
    Ok(Scalar { text: text.trim_end_matches(['\r', '\n']).to_owned(), source: Source::File })
}
