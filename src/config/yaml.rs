//! A YAML document as a tree of the configuration: places become origins, mistakes become problems.

use std::sync::Arc;

use super::node::{Entry, Map, Node, Scalar, Source, Value};
use super::problem::{Origin, Sink};
use crate::yaml::{self, Place};

/// Reads one document. `None`: it is not YAML at all, and a problem says why.
pub(crate) fn parse(name: &str, text: &str, sink: &Sink) -> Option<Node> {
    let name: Arc<str> = Arc::from(name);
    let origin =
        |place: Place| Origin::File { name: Arc::clone(&name), line: place.line, column: place.column };
    let (tree, mistakes) = yaml::parse(text);
    for mistake in mistakes {
        sink.add(&origin(mistake.place), "", mistake.message);
    }
    Some(node(tree?, Source::Document, &origin))
}

/// Reads a value that was expanded into a scalar. Everything in it keeps the origin and the source of the scalar.
pub(crate) fn parse_value(text: &str, source: Source, sink: &Sink, origin: &Origin) -> Option<Node> {
    match yaml::parse(text) {
        (Some(tree), mistakes) if mistakes.is_empty() => Some(node(tree, source, &|_| origin.clone())),
        _ => {
            // Not the parser's words: they may quote a credential.
            sink.add(origin, "", "the expanded value is not valid YAML");
            None
        }
    }
}

fn node(tree: yaml::Node, source: Source, origin: &impl Fn(Place) -> Origin) -> Node {
    let value = match tree.value {
        yaml::Value::Null => Value::Null,
        yaml::Value::Scalar { text, .. } => Value::Scalar(Scalar { text, source }),
        yaml::Value::List(items) => {
            Value::List(items.into_iter().map(|item| node(item, source, origin)).collect())
        }
        yaml::Value::Map(entries) => {
            let entry = |entry: yaml::Entry| Entry {
                key: entry.key,
                origin: origin(entry.place),
                node: node(entry.node, source, origin),
            };
            Value::Map(Map(entries.into_iter().map(entry).collect()))
        }
    };
    Node { value, origin: origin(tree.place) }
}
