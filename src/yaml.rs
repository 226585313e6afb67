//! YAML text -> a tree in which every node knows its line and column. Reads the configuration and the rule files.
//!
//! Built on the parser's events rather than on a loader: only at this level are duplicate keys, aliases and places all in
//! our hands. Scalars stay text: what type is meant, who reads the tree knows. Aliases are copied under a budget, so that
//! a "YAML bomb" is a mistake and not an outage. Pure; knows no configuration and no rules.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

/// Nodes that the aliases of one document may come to. A large configuration has a few hundred of its own.
const MAX_COPIES: usize = 20_000;

/// Lists and mappings inside each other. Ours go eight deep; what walks the tree is recursive.
const MAX_DEPTH: usize = 64;

/// A place in the text; both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// One value and where it stands.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

#[derive(Clone)]
pub(crate) enum Value {
    Null,
    /// `plain`: without quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// In the order of the text; no key twice.
    Map(Vec<Entry>),
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) place: Place,
    pub(crate) node: Node,
}

/// What is wrong with the text, and where.
pub(crate) struct Mistake {
    pub(crate) place: Place,
    pub(crate) message: String,
}

/// Reads one document. An empty one is null; `None`: it could not be read to its end, and the last mistake says why.
pub(crate) fn parse(text: &str) -> (Option<Node>, Vec<Mistake>) {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let read = match event {
            Ok((event, span)) => reader.event(event, place(&span.start)),
            Err(error) => {
                reader.mistake(place(error.marker()), format!("not valid YAML: {}", error.info()));
                None
            }
        };
        if read.is_none() {
            return (None, reader.mistakes);
        }
    }
    let empty = Node { value: Value::Null, place: Place { line: 1, column: 1 } };
    (Some(reader.root.unwrap_or(empty)), reader.mistakes)
}

fn place(mark: &Marker) -> Place {
    Place { line: mark.line().max(1), column: mark.col() + 1 }
}

#[derive(Default)]
struct Reader {
    mistakes: Vec<Mistake>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    copies: usize,
    root: Option<Node>,
    documents: usize,
}

/// A list or mapping whose end has not come yet.
struct Open {
    anchor: usize,
    place: Place,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(String, Place)> },
}

impl Reader {
    fn mistake(&mut self, place: Place, message: impl Into<String>) {
        self.mistakes.push(Mistake { place, message: message.into() });
    }

    /// `None`: give up on the document (a mistake has been noted).
    fn event(&mut self, event: Event<'_>, place: Place) -> Option<()> {
        if self.open.len() > MAX_DEPTH {
            self.mistake(place, format!("nested deeper than {MAX_DEPTH}"));
            return None;
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.mistake(place, "a second YAML document; expected one per file");
                    return None;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                let plain = style == ScalarStyle::Plain;
                let null = plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let value = if null && !self.expects_key() {
                    Value::Null
                } else {
                    Value::Scalar { text: text.into_owned(), plain }
                };
                self.finish(Node { value, place }, anchor);
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.open.push(Open { anchor, place, items: Items::List(Vec::new()) });
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.open.push(Open { anchor, place, items: Items::Map { entries: Vec::new(), key: None } });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { anchor, place, items } = self.open.pop()?;
                let value = match items {
                    Items::List(items) => Value::List(items),
                    Items::Map { entries, .. } => Value::Map(entries),
                };
                self.finish(Node { value, place }, anchor);
            }
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id) else {
                    self.mistake(place, "an alias that refers to itself");
                    return None;
                };
                self.copies = self.copies.saturating_add(node.size());
                if self.copies > MAX_COPIES {
                    self.mistake(place, format!("more than {MAX_COPIES} values by aliases"));
                    return None;
                }
                let copy = Node { value: node.value.clone(), place };
                self.finish(copy, 0);
            }
            _ => {}
        }
        Some(())
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, place: Place) {
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema()) {
            self.mistake(place, "YAML tags have no meaning here");
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Map { key: None, .. }, .. }))
    }

    /// A node is complete: it goes into the list or mapping around it.
    fn finish(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map { entries, key } => match key.take() {
                Some((name, at)) => match entries.iter().find(|entry| entry.key == name) {
                    Some(first) => {
                        let message = format!("duplicate key `{name}`; first on line {}", first.place.line);
                        self.mistake(at, message);
                    }
                    None => entries.push(Entry { key: name, place: at, node }),
                },
                None => match node.value {
                    Value::Scalar { text, .. } => *key = Some((text, node.place)),
                    _ => {
                        *key = Some((String::new(), node.place));
                        self.mistake(node.place, "a key must be a plain word");
                    }
                },
            },
        }
    }
}

impl Node {
    /// How many nodes there are, this one included.
    fn size(&self) -> usize {
        1 + match &self.value {
            Value::Null | Value::Scalar { .. } => 0,
            Value::List(items) => items.iter().map(Node::size).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.node.size()).sum(),
        }
    }
}
