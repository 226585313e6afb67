//! A configuration document as a tree in which every node knows where it was written, and how such trees are layered.
//!
//! The layering is ours and not the `config` crate's: that crate keeps one origin string per value without line
//! numbers, folds keys to lower case, and takes dots in keys for paths, so it can name neither the place of a mistake
//! nor a component such as `otlp_http/eu.west`. Types are not decided here: a scalar stays text until `section` knows
//! what is expected, so that a header value `0123` or `yes` stays what it was.

use std::fmt;

use super::problem::Origin;

/// One value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

/// A scalar, not yet typed.
#[derive(Clone)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// How a scalar came to its text: decides whether `${...}` is expanded and whether problems may quote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Written out in a document; `${...}` in it is still to be expanded.
    Document,
    /// Taken as it is: variables, flags, defaults, and documents after expansion.
    Literal,
    /// Part of it came from the environment.
    Environment,
    /// Part of it came from a file.
    File,
}

// By hand: a scalar may be a credential.
impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scalar({} B, {:?})", self.text.len(), self.source)
    }
}

/// The entries of a mapping, in the order of the document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map(pub(crate) Vec<Entry>);

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) origin: Origin,
    pub(crate) node: Node,
}

impl Map {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|e| e.key == key)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|e| e.key == key)
    }

    /// Adds an entry, or replaces the one of this key.
    pub(crate) fn set(&mut self, key: impl Into<String>, node: Node) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(entry) => entry.node = node,
            None => self.0.push(Entry { key, origin: node.origin.clone(), node }),
        }
    }
}

impl Node {
    pub(crate) fn null(origin: Origin) -> Self {
        Self { value: Value::Null, origin }
    }

    pub(crate) fn map(origin: Origin) -> Self {
        Self { value: Value::Map(Map::default()), origin }
    }

    /// A scalar that is not expanded.
    pub(crate) fn literal(text: impl Into<String>, origin: Origin) -> Self {
        Self { value: Value::Scalar(Scalar { text: text.into(), source: Source::Literal }), origin }
    }

    /// A list of scalars that are not expanded.
    pub(crate) fn list<T: Into<String>>(items: impl IntoIterator<Item = T>, origin: &Origin) -> Self {
        let items = items.into_iter().map(|t| Self::literal(t, origin.clone())).collect();
        Self { value: Value::List(items), origin: origin.clone() }
    }

    pub(crate) fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The node at a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.as_map()?.get(key).map(|e| &e.node))
    }

    /// Sets the node at a path of keys. What stands in the way and is no mapping is replaced by one.
    pub(crate) fn set_at(&mut self, path: &[&str], node: Node) {
        let nested = path.iter().rev().fold(node, |inner, key| {
            let mut outer = Node::map(inner.origin.clone());
            if let Value::Map(map) = &mut outer.value {
                map.set(*key, inner);
            }
            outer
        });
        self.overlay(nested);
    }

    /// Lays `over` on top, as the Collector does: mappings are merged key by key, everything else is replaced.
    pub(crate) fn overlay(&mut self, over: Node) {
        match (&mut self.value, over.value) {
            (Value::Map(under), Value::Map(over)) => {
                for entry in over.0 {
                    match under.get_mut(&entry.key) {
                        Some(existing) => existing.node.overlay(entry.node),
                        None => under.0.push(entry),
                    }
                }
            }
            (_, value) => *self = Node { value, origin: over.origin },
        }
    }
}
