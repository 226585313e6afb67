//! The keys above a value, and what they mean for it.

use std::cell::OnceCell;

use super::keys::Name;
use crate::redact::policy::{ContentAction, stronger};
use crate::redact::text::KeyPath;

/// One `KeyValue` that encloses what is being walked.
#[derive(Debug)]
pub(super) struct Frame<'p> {
    pub(super) keys: KeyPath<'p>,
    pub(super) outer: Option<&'p Frame<'p>>,
    /// What is to happen to it as a content attribute, or to one around it: the strongest.
    pub(super) content: Option<ContentAction>,
    /// It, or one around it, is secret-named. Asked for only where it matters, and once.
    pub(super) secret: OnceCell<bool>,
}

impl<'p> Frame<'p> {
    #[inline]
    pub(super) fn new(name: Name<'p>, outer: Option<&'p Self>) -> Self {
        let keys = KeyPath { key: name.key, parent: outer.map(|outer| &outer.keys) };
        let content = stronger(name.content, outer.and_then(|outer| outer.content));
        Self { keys, outer, content, secret: OnceCell::new() }
    }

    /// The action that hides this value as a whole, unless one around it is hidden anyway.
    pub(super) fn hiding(&self) -> Option<ContentAction> {
        let around = self.outer.and_then(|outer| outer.content).is_some_and(ContentAction::hides);
        self.content.filter(|action| action.hides() && !around)
    }
}

/// Copies the keys of a path, innermost first.
pub(super) fn flatten(keys: &KeyPath<'_>) -> Vec<Vec<u8>> {
    let mut flat = vec![keys.key.to_vec()];
    let mut next = keys.parent;
    while let Some(keys) = next {
        flat.push(keys.key.to_vec());
        next = keys.parent;
    }
    flat
}

/// Builds the path of these keys (innermost first) and lends it to `then`.
pub(super) fn with_path<R>(
    keys: &[Vec<u8>],
    parent: Option<&KeyPath<'_>>,
    then: &mut dyn FnMut(Option<&KeyPath<'_>>) -> R,
) -> R {
    match keys.split_last() {
        None => then(parent),
        Some((outermost, inner)) => with_path(inner, Some(&KeyPath { key: outermost, parent }), then),
    }
}
