//! `headers` and `forward_headers` of an exporter. The values are credentials as often as not: masked wherever they are
//! shown, and no problem quotes one.

use http::{HeaderName, HeaderValue};
use secrecy::SecretString;

use super::components::Context;
use super::node::{Entry, Map, Node, Scalar, Value};
use super::problem::Origin;
use super::section::{Located, MASK, Section};
use crate::forward::headers::{may_pass, may_set};
use crate::forward::settings::ForwardHeaders;

/// Reads `headers`: a mapping, or the Collector's list of `name` and `value`.
pub(crate) fn read(section: &mut Section<'_>) -> Vec<(HeaderName, SecretString)> {
    let mut out: Vec<(HeaderName, SecretString)> = Vec::new();
    let mut shown = Map::default();
    for header in pairs(section) {
        let Some(name) = name(section, &header) else { continue };
        if !may_set(&name) {
            let key = format!("headers.{}", header.name);
            section.problem(&header.origin, &key, "can't be set: it is about the form of the message");
            continue;
        }
        // An unset value is a header with no value, as in the Collector.
        let text = header.value.map(|s| s.text).unwrap_or_default();
        if HeaderValue::from_str(&text).is_err() {
            let key = format!("headers.{}", header.name);
            section.problem(&header.origin, &key, "the value can't be sent as a header (control characters)");
            continue;
        }
        if out.iter().any(|(n, _)| *n == name) {
            let key = format!("headers.{}", header.name);
            section.problem(&header.origin, &key, "this header is given twice");
            continue;
        }
        shown.set(header.name, Node::literal(MASK, header.origin));
        out.push((name, SecretString::from(text)));
    }
    let origin = if section.has("headers") { section.origin_of("headers") } else { Origin::Default };
    section.show("headers", Node { value: Value::Map(shown), origin });
    out
}

struct Header {
    name: String,
    value: Option<Scalar>,
    origin: Origin,
}

fn pairs(section: &mut Section<'_>) -> Vec<Header> {
    let Some(Node { value: Value::List(items), .. }) = section.peek("headers") else {
        let mut map = section.child("headers");
        let keys = map.keys();
        return keys
            .into_iter()
            .filter_map(|Located { value: name, origin }| {
                Some(Header { value: value(&mut map, &name)?, name, origin })
            })
            .collect();
    };
    section.node("headers");
    let mut out = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let mut pair = section.item("headers", i, item);
        let origin = pair.origin.clone();
        match pair.text("name") {
            Some(name) => {
                if let Some(value) = value(&mut pair, "value") {
                    out.push(Header { name: name.value.text, value, origin: name.origin });
                }
            }
            None => pair.problem(&origin, "name", "is missing; expected the header's name"),
        }
        pair.finish();
    }
    out
}

/// `None`: it is no single value, and a problem says so.
fn value(section: &mut Section<'_>, key: &str) -> Option<Option<Scalar>> {
    match section.node(key) {
        None | Some(Node { value: Value::Null, .. }) => Some(None),
        Some(Node { value: Value::Scalar(scalar), .. }) => Some(Some(scalar)),
        Some(node) => {
            section.problem(&node.origin, key, "expected a single value");
            None
        }
    }
}

fn name(section: &Section<'_>, header: &Header) -> Option<HeaderName> {
    let name = HeaderName::try_from(header.name.as_str()).ok();
    if name.is_none() {
        section.problem(&header.origin, "headers", "a key is not a valid header name");
    }
    name
}

/// Reads `forward_headers`. `"*"` stands for every custom header, which is the default without a file.
pub(crate) fn forwarded(section: &mut Section<'_>, context: &Context<'_>) -> ForwardHeaders {
    let default: &[&str] = if context.with_file { &[] } else { &["*"] };
    let listed = section.list("forward_headers", default);
    if listed.iter().any(|name| name.value == "*") {
        return ForwardHeaders::All;
    }
    let mut names = Vec::new();
    for Located { value, origin } in listed {
        match HeaderName::try_from(value.as_str()) {
            Ok(name) if !may_pass(&name) => {
                section.problem(&origin, "forward_headers", format!("{name} is never forwarded"));
            }
            Ok(name) => names.push(name),
            Err(_) => section.problem(&origin, "forward_headers", "not a valid header name"),
        }
    }
    ForwardHeaders::Named(names)
}

/// One entry of the list form, for the sources that are not files.
pub(crate) fn entry(name: &str, value: &str, origin: &Origin) -> Entry {
    Entry { key: name.to_owned(), origin: origin.clone(), node: Node::literal(value, origin.clone()) }
}
