//! YAML text -> [`Node`] with line and column.
//!
//! Built on the parser's events rather than on a loader: `saphyr-parser` is the parser under `saphyr`, which reads the rule
//! files, so the binary has one YAML parser; and only at this level are duplicate keys, aliases and spans all in our
//! hands. Aliases are copied under a budget, so that a "YAML bomb" is a problem and not an outage.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::node::{Entry, Map, Node, Scalar, Source, Value};
use super::problem::{Origin, Sink};

/// Nodes that one document may have after its aliases are copied. A large configuration has a few hundred.
const MAX_NODES: usize = 20_000;

/// Lists and mappings inside each other. Ours go eight deep; what walks the tree is recursive.
const MAX_DEPTH: usize = 64;

/// Reads one document. `None`: it is not YAML at all, and a problem says why.
pub(crate) fn parse(name: &str, text: &str, sink: &Sink) -> Option<Node> {
    let mut loader = Loader {
        name: Arc::from(name),
        sink,
        open: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        root: None,
        documents: 0,
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => loader.event(event, &span)?,
            Err(error) => {
                let origin = loader.origin(error.marker());
                sink.add(&origin, "", format!("not valid YAML: {}", error.info()));
                return None;
            }
        }
    }
    Some(
        loader.root.unwrap_or_else(|| Node::null(Origin::File { name: Arc::from(name), line: 1, column: 1 })),
    )
}

struct Loader<'a> {
    name: Arc<str>,
    sink: &'a Sink,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
    documents: usize,
}

/// A list or mapping whose end has not come yet.
struct Open {
    anchor: usize,
    origin: Origin,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map { map: Map, key: Option<(String, Origin)> },
}

impl Loader<'_> {
    fn origin(&self, mark: &Marker) -> Origin {
        Origin::File { name: Arc::clone(&self.name), line: mark.line().max(1), column: mark.col() + 1 }
    }

    /// `None`: give up on the document (a problem has been noted).
    fn event(&mut self, event: Event<'_>, span: &Span) -> Option<()> {
        let origin = self.origin(&span.start);
        if self.open.len() > MAX_DEPTH {
            self.sink.add(&origin, "", format!("nested deeper than {MAX_DEPTH}"));
            return None;
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.sink.add(&origin, "", "a second YAML document; expected one per file");
                    return None;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), &origin);
                let null =
                    style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let value = if null && !self.expects_key() {
                    Value::Null
                } else {
                    Value::Scalar(Scalar { text: text.into_owned(), source: Source::Document })
                };
                self.finish(Node { value, origin }, anchor, 1)?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), &origin);
                self.open.push(Open { anchor, origin, items: Items::List(Vec::new()) });
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), &origin);
                self.open.push(Open { anchor, origin, items: Items::Map { map: Map::default(), key: None } });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { anchor, origin, items } = self.open.pop()?;
                let value = match items {
                    Items::List(items) => Value::List(items),
                    Items::Map { map, .. } => Value::Map(map),
                };
                self.finish(Node { value, origin }, anchor, 1)?;
            }
            Event::Alias(id) => match self.anchors.get(&id) {
                Some(node) => {
                    let mut copy = node.clone();
                    copy.origin = origin;
                    let size = copy.size();
                    self.finish(copy, 0, size)?;
                }
                None => {
                    self.sink.add(&origin, "", "an alias that refers to itself");
                    return None;
                }
            },
            _ => {}
        }
        Some(())
    }

    fn refuse_tag(&self, tag: Option<&Tag>, origin: &Origin) {
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema()) {
            self.sink.add(origin, "", "YAML tags have no meaning here");
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Map { key: None, .. }, .. }))
    }

    /// A node is complete: it goes into the list or mapping around it. `new_nodes` of it have not been counted yet.
    fn finish(&mut self, node: Node, anchor: usize, new_nodes: usize) -> Option<()> {
        self.nodes = self.nodes.saturating_add(new_nodes);
        if self.nodes > MAX_NODES {
            self.sink.add(&node.origin, "", format!("more than {MAX_NODES} values, aliases included"));
            return None;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map { map, key } => match key.take() {
                Some((name, at)) => match map.get(&name) {
                    Some(first) => {
                        let message = format!("duplicate key `{name}`; first at {}", first.origin);
                        self.sink.add(&at, "", message);
                    }
                    None => map.0.push(Entry { key: name, origin: at, node }),
                },
                None => match node.value {
                    Value::Scalar(scalar) => *key = Some((scalar.text, node.origin)),
                    _ => {
                        self.sink.add(&node.origin, "", "a key must be a plain word");
                        *key = Some((String::new(), node.origin));
                    }
                },
            },
        }
        Some(())
    }
}

/// Reads a value that was expanded into a scalar. Everything in it keeps the origin and the source of the scalar.
pub(crate) fn parse_value(text: &str, source: Source, sink: &Sink, origin: &Origin) -> Option<Node> {
    let own = Sink::default();
    let mut node = parse("", text, &own);
    if !own.is_empty() {
        // Not the parser's words: they may quote a credential.
        sink.add(origin, "", "the expanded value is not valid YAML");
        node = None;
    }
    let mut node = node?;
    relocate(&mut node, source, origin);
    Some(node)
}

fn relocate(node: &mut Node, source: Source, origin: &Origin) {
    node.origin = origin.clone();
    match &mut node.value {
        Value::Null => {}
        Value::Scalar(scalar) => scalar.source = source,
        Value::List(items) => items.iter_mut().for_each(|item| relocate(item, source, origin)),
        Value::Map(map) => map.0.iter_mut().for_each(|entry| {
            entry.origin = origin.clone();
            relocate(&mut entry.node, source, origin);
        }),
    }
}
