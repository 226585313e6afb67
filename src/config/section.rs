//! One mapping of the configuration, read key by key: types, defaults, unknown keys, and what is effective.
//!
//! Each getter notes its key as known and writes what counts into the *effective* tree, with the place it came from or
//! `Origin::Default`. Secrets are masked on the way in, so that nothing printed from that tree can show one.
//! [`Section::finish`] reports the keys that no getter asked for.

use std::time::Duration;

use super::duration;
use super::node::{Map, Node, Scalar, Source, Value};
use super::problem::{Origin, Sink};
use super::yaml;

/// What stands in place of a secret wherever configuration is printed.
pub(crate) const MASK: &str = "[masked]";

/// The longest value that a problem quotes, in characters.
const MAX_QUOTED: usize = 40;

/// `a.b` out of `a` and `b`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A value together with where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// A mapping that is being read.
pub(crate) struct Section<'a> {
    path: String,
    /// Where the mapping starts.
    pub(crate) origin: Origin,
    entries: Map,
    known: Vec<String>,
    effective: Map,
    sink: &'a Sink,
}

impl<'a> Section<'a> {
    /// Opens the mapping in `node`; null and nothing are the empty one.
    pub(crate) fn open(node: Option<&Node>, path: impl Into<String>, above: &Origin, sink: &'a Sink) -> Self {
        let path = path.into();
        let (entries, origin) = match node {
            None => (Map::default(), above.clone()),
            Some(node) => {
                let node = structured(node, sink);
                let entries = match node.value {
                    Value::Map(map) => map,
                    Value::Null => Map::default(),
                    _ => {
                        sink.add(&node.origin, path.as_str(), "expected a mapping (key: value)");
                        Map::default()
                    }
                };
                (entries, node.origin)
            }
        };
        Self { path, origin, entries, known: Vec::new(), effective: Map::default(), sink }
    }

    /// The full path of one of its keys.
    pub(crate) fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Notes a problem with one of its keys.
    pub(crate) fn problem(&self, origin: &Origin, key: &str, message: impl Into<String>) {
        self.sink.add(origin, self.path_of(key), message);
    }

    /// The keys that are present, in the order of the document.
    pub(crate) fn keys(&self) -> Vec<Located<String>> {
        self.entries.0.iter().map(|e| Located { value: e.key.clone(), origin: e.origin.clone() }).collect()
    }

    /// Whether a key is present, also with null.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.get(key).is_some()
    }

    /// Where a key is written.
    pub(crate) fn origin_of(&self, key: &str) -> Origin {
        self.entries.get(key).map_or_else(|| self.origin.clone(), |e| e.origin.clone())
    }

    /// The node of a key, which so becomes a known one.
    pub(crate) fn node(&mut self, key: &str) -> Option<Node> {
        self.known.push(key.to_owned());
        self.entries.get(key).map(|e| e.node.clone())
    }

    /// The node of a key, as it is typed by what it holds, without making the key a known one.
    pub(crate) fn peek(&self, key: &str) -> Option<Node> {
        self.entries.get(key).map(|e| structured(&e.node, self.sink))
    }

    /// The nodes of a list of mappings; nothing where it is not given.
    pub(crate) fn nodes(&mut self, key: &str) -> Vec<Node> {
        let Some(node) = self.node(key).map(|node| structured(&node, self.sink)) else { return Vec::new() };
        match node.value {
            Value::Null => Vec::new(),
            Value::List(items) => items,
            _ => {
                self.problem(&node.origin, key, "expected a list");
                Vec::new()
            }
        }
    }

    /// Opens the mapping that is an entry of the list of one of its keys.
    pub(crate) fn item(&self, key: &str, index: usize, node: &Node) -> Section<'a> {
        Section::open(Some(node), format!("{}[{index}]", self.path_of(key)), &node.origin, self.sink)
    }

    /// Writes into the effective tree.
    pub(crate) fn show(&mut self, key: &str, node: Node) {
        self.effective.set(key, node);
    }

    /// Opens the mapping of one of its keys.
    pub(crate) fn child(&mut self, key: &str) -> Section<'a> {
        let node = self.node(key);
        let above = if node.is_some() { self.origin_of(key) } else { Origin::Default };
        let mut child = Section::open(node.as_ref(), self.path_of(key), &above, self.sink);
        // What is missing in a mapping is told where its name stands: in block style the mapping begins below.
        child.origin = above;
        child
    }

    /// A scalar. Null counts as not given.
    fn scalar(&mut self, key: &str) -> Option<Located<Scalar>> {
        let node = self.node(key)?;
        match node.value {
            Value::Null => None,
            Value::Scalar(value) => Some(Located { value, origin: node.origin }),
            _ => {
                self.problem(&node.origin, key, "expected a single value");
                None
            }
        }
    }

    /// A value read by `read`, or the default. `show` gives its canonical form.
    pub(crate) fn value<T>(
        &mut self,
        key: &str,
        default: T,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
        show: impl Fn(&T) -> String,
    ) -> T {
        let found = self.scalar(key);
        let (value, origin) = match found {
            None => (default, Origin::Default),
            Some(Located { value, origin }) => match read(&value.text) {
                Some(read) => (read, origin),
                None => {
                    let message = format!("expected {expected}{}", quoted(&value));
                    self.problem(&origin, key, message);
                    (default, origin)
                }
            },
        };
        self.show(key, Node::literal(show(&value), origin));
        value
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&mut self, key: &str, default: bool) -> bool {
        let read = |text: &str| match text {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        };
        self.value(key, default, "true or false", read, bool::to_string)
    }

    /// A duration of at least `least`.
    pub(crate) fn duration(&mut self, key: &str, default: Duration, least: Duration) -> Duration {
        let expected = if least.is_zero() {
            duration::EXPECTED.to_owned()
        } else {
            format!("{} of at least {}", duration::EXPECTED, duration::show(least))
        };
        let read = |text: &str| duration::parse(text).filter(|d| *d >= least);
        self.value(key, default, &expected, read, |d| duration::show(*d))
    }

    /// A whole number of at least 1 and at most `most`.
    pub(crate) fn count(&mut self, key: &str, default: usize, most: usize) -> usize {
        let expected = format!("a whole number from 1 to {most}");
        let read = |text: &str| text.parse().ok().filter(|n| (1..=most).contains(n));
        self.value(key, default, &expected, read, usize::to_string)
    }

    /// A number from `least` to `most`.
    pub(crate) fn number(&mut self, key: &str, default: f64, least: f64, most: f64) -> f64 {
        let expected = format!("a number from {least} to {most}");
        let read = |text: &str| text.parse().ok().filter(|n| (least..=most).contains(n));
        self.value(key, default, &expected, read, f64::to_string)
    }

    /// One of several words. The first of a value's words is the canonical one.
    pub(crate) fn choice<T: Copy + PartialEq>(&mut self, key: &str, default: T, words: &[(&str, T)]) -> T {
        let mut names: Vec<&str> = words.iter().map(|(w, _)| *w).filter(|w| !w.is_empty()).collect();
        let last = names.pop().unwrap_or_default();
        let expected =
            if names.is_empty() { last.to_owned() } else { format!("{} or {last}", names.join(", ")) };
        let read = |text: &str| words.iter().find(|(w, _)| w.eq_ignore_ascii_case(text)).map(|(_, v)| *v);
        let show = |value: &T| {
            words.iter().find(|(_, v)| v == value).map_or(String::new(), |(w, _)| (*w).to_owned())
        };
        self.value(key, default, &expected, read, show)
    }

    /// Text that is not empty, where it is given. The caller shows it, if it may be shown.
    pub(crate) fn text(&mut self, key: &str) -> Option<Located<Scalar>> {
        let found = self.scalar(key)?;
        if found.value.text.is_empty() {
            self.problem(&found.origin, key, "is empty");
            return None;
        }
        Some(found)
    }

    /// Text that is not secret, such as a path or a host, where it is given.
    pub(crate) fn plain_text(&mut self, key: &str) -> Option<Located<String>> {
        let Located { value, origin } = self.text(key)?;
        self.show(key, Node::literal(shown(&value), origin.clone()));
        Some(Located { value: value.text, origin })
    }

    /// A list of texts as it stands in the document. `None`: not given. A single scalar is a list of one, as in the
    /// Collector.
    pub(crate) fn texts(&mut self, key: &str) -> Option<Vec<Located<Scalar>>> {
        let node = structured(&self.node(key)?, self.sink);
        let items = match node.value {
            Value::Null => return None,
            Value::List(items) => items,
            Value::Scalar(_) => vec![node],
            Value::Map(_) => {
                self.problem(&node.origin, key, "expected a list");
                return Some(Vec::new());
            }
        };
        let mut out = Vec::new();
        for item in items {
            match item.value {
                Value::Scalar(value) if !value.text.is_empty() => {
                    out.push(Located { value, origin: item.origin })
                }
                Value::Scalar(_) | Value::Null => {
                    self.problem(&item.origin, key, "an entry of the list is empty")
                }
                _ => self.problem(&item.origin, key, "expected a list of single values"),
            }
        }
        Some(out)
    }

    /// A list of texts that are not secret, with a default.
    pub(crate) fn list(&mut self, key: &str, default: &[&str]) -> Vec<Located<String>> {
        let found = self.texts(key);
        let origin = if found.is_some() { self.origin_of(key) } else { Origin::Default };
        let items: Vec<Located<Scalar>> = found.unwrap_or_else(|| {
            let literal = |t: &&str| Scalar { text: (*t).to_owned(), source: Source::Literal };
            default.iter().map(|t| Located { value: literal(t), origin: Origin::Default }).collect()
        });
        let nodes = items.iter().map(|i| Node::literal(shown(&i.value), i.origin.clone())).collect();
        self.show(key, Node { value: Value::List(nodes), origin });
        items.into_iter().map(|i| Located { value: i.value.text, origin: i.origin }).collect()
    }

    /// Makes keys known that are asked for only where they are present.
    pub(crate) fn expect(&mut self, keys: &[&str]) {
        self.known.extend(keys.iter().map(|k| (*k).to_owned()));
    }

    /// Accepts every key that has not been asked for (settings of a component that has no effect here).
    pub(crate) fn ignore_the_rest(&mut self) {
        self.known = self.entries.0.iter().map(|e| e.key.clone()).collect();
    }

    /// Reports unknown keys, and gives the effective mapping.
    pub(crate) fn finish(self) -> Node {
        for entry in &self.entries.0 {
            if !self.known.contains(&entry.key) {
                let message = unknown("key", &entry.key, self.known.iter().map(String::as_str));
                self.sink.add(&entry.origin, join(&self.path, &entry.key), message);
            }
        }
        Node { value: Value::Map(self.effective), origin: self.origin }
    }
}

/// `unknown key; did you mean ...?`, or what there is.
pub(crate) fn unknown<'k>(what: &str, found: &str, known: impl Iterator<Item = &'k str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let nearest = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(k, &found.to_lowercase()), *k))
        .min()
        .filter(|(distance, k)| *distance <= 1 + k.len() / 4);
    match nearest {
        Some((_, k)) => format!("unknown {what}; did you mean `{k}`?"),
        None if known.is_empty() => format!("unknown {what}; none is expected here"),
        None => format!("unknown {what}; expected one of: {}", known.join(", ")),
    }
}

/// A scalar that was expanded may hold a list or a mapping (`${env:HEADERS}`): it is read as YAML once one is expected.
fn structured(node: &Node, sink: &Sink) -> Node {
    match &node.value {
        Value::Scalar(scalar) if scalar.source >= Source::Literal => {
            let text = scalar.text.trim_start();
            let flow = text.starts_with(['[', '{']);
            let block = scalar.source > Source::Literal && text.contains('\n');
            if !(flow || block) {
                return node.clone();
            }
            match yaml::parse_value(&scalar.text, scalar.source, sink, &node.origin) {
                Some(parsed) => parsed,
                None => node.clone(),
            }
        }
        _ => node.clone(),
    }
}

/// A value as print-config may show it: what came from a file is taken for a credential.
pub(crate) fn shown(scalar: &Scalar) -> String {
    if scalar.source == Source::File { MASK.to_owned() } else { scalar.text.clone() }
}

/// `, found ...` for a problem; silent about what may be secret.
pub(crate) fn quoted(scalar: &Scalar) -> String {
    match scalar.source {
        Source::Document | Source::Literal if scalar.text.chars().count() <= MAX_QUOTED => {
            format!(", found `{}`", scalar.text.escape_debug())
        }
        Source::Document | Source::Literal => ", found a longer text".to_owned(),
        Source::Environment => ", found something else in an environment variable".to_owned(),
        Source::File => ", found something else in a file".to_owned(),
    }
}
