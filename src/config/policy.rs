//! Of a `scrub` processor: how far it reaches, and what happens to listed attributes.

use super::node::{Node, Value};
use super::problem::Origin;
use super::section::Section;
use crate::redact::policy::{AttributeAction, CONTENT_ATTRIBUTES, ContentAction, Policy, Scope};

/// How many bytes of a listed attribute `truncate` leaves, unless told.
const MAX_CONTENT: usize = 4096;

const ACTIONS: [(&str, ContentAction); 6] = [
    ("scrub", ContentAction::Scrub),
    ("mask", ContentAction::Mask),
    ("hmac", ContentAction::Hmac),
    ("keep_last_4", ContentAction::KeepLast4),
    ("drop", ContentAction::Drop),
    ("truncate", ContentAction::Truncate(MAX_CONTENT)),
];

/// Reads the keys about places.
pub(crate) fn read(section: &mut Section<'_>) -> Policy {
    let scope = section.choice(
        "scope",
        Scope::default(),
        &[("everywhere", Scope::Everywhere), ("listed", Scope::Listed)],
    );
    let content_attributes =
        section.list("content_attributes", CONTENT_ATTRIBUTES).into_iter().map(|a| a.value).collect();
    let content_action = action(section, "content_action", "content_max_bytes");
    Policy { scope, content_attributes, content_action, attribute_actions: attribute_actions(section) }
}

/// An action, and the bytes that `truncate` leaves.
fn action(section: &mut Section<'_>, key: &str, max_bytes: &str) -> ContentAction {
    let action = section.choice(key, ContentAction::default(), &ACTIONS);
    section.expect(&[max_bytes]);
    match action {
        ContentAction::Truncate(_) => ContentAction::Truncate(section.count(max_bytes, MAX_CONTENT, 1 << 30)),
        other if section.has(max_bytes) => {
            let origin = section.origin_of(max_bytes);
            section.problem(&origin, max_bytes, format!("only counts with `{key}: truncate`"));
            other
        }
        other => other,
    }
}

fn attribute_actions(section: &mut Section<'_>) -> Vec<AttributeAction> {
    const KEY: &str = "attribute_actions";
    let items = section.nodes(KEY);
    let origin = if section.has(KEY) { section.origin_of(KEY) } else { Origin::Default };
    let mut lists = Vec::new();
    let mut shown = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let mut item = section.item(KEY, index, node);
        let keys: Vec<String> = item.list("keys", &[]).into_iter().map(|key| key.value).collect();
        for needed in ["keys", "action"] {
            if !item.has(needed) {
                let origin = item.origin.clone();
                item.problem(&origin, needed, "is missing");
            }
        }
        lists.push(AttributeAction { keys, action: action(&mut item, "action", "max_bytes") });
        shown.push(item.finish());
    }
    section.show(KEY, Node { value: Value::List(shown), origin });
    lists
}
