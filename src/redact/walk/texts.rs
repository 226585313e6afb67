//! One text: whether it is in scope, what the scrubber says about it, and what is written in its place.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::context::Frame;
use super::{Outer, Scrub, UNSCANNED, Walk, cut};
use crate::otlp::wire::Record;
use crate::redact::apply::Clean;
use crate::redact::policy::{ContentAction, Scope};
use crate::redact::report::Unscanned;
use crate::redact::text::KeyPath;

impl<'a, S: Scrub> Walk<'a, S> {
    /// A text field, or bytes that may be text.
    pub(super) fn text(&mut self, record: Record<'a>, text: &[u8], outer: Outer<'_>) {
        if let Some(clean) = self.scrub(outer, text) {
            self.edits.replace(record, clean);
        }
    }

    /// The key of the `KeyValue` that `frame` is: a bare text, and in scope if what is around the attribute is.
    pub(super) fn key(&mut self, record: Record<'a>, key: &[u8], frame: Outer<'_>) {
        if self.is_in_scope(frame.and_then(|frame| frame.outer))
            && let Some(clean) = self.ask(None, key)
        {
            self.edits.replace(record, clean);
        }
    }

    /// What stands in place of this text, by scope, scrubber and policy. `None`: it stays.
    pub(super) fn scrub(&mut self, outer: Outer<'_>, text: &[u8]) -> Option<Vec<u8>> {
        if !self.is_in_scope(outer) {
            return None;
        }
        let keys = outer.map(|frame| &frame.keys);
        let clean = match outer.and_then(|frame| self.secret_keys(frame.outer)) {
            Some(secret) => self.ask_twice(secret, keys, text),
            None => self.ask(keys, text),
        };
        match outer.and_then(|frame| frame.content) {
            Some(ContentAction::Truncate(limit)) => self.truncate(keys, text, clean, limit),
            _ => clean,
        }
    }

    /// Cuts a scrubbed text. What is left of it is scrubbed again: a cut can make a new shape.
    pub(super) fn truncate(
        &mut self,
        keys: Option<&KeyPath<'_>>,
        text: &[u8],
        clean: Option<Vec<u8>>,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let scrubbed = clean.as_deref().unwrap_or(text);
        if cut::at(scrubbed, limit) == scrubbed.len() {
            return clean;
        }
        self.report.count(&self.kinds.truncated);
        let mut rest = clean.unwrap_or_else(|| text.to_vec());
        // Each round shortens the text or replaces something, so few are enough in practice.
        for _ in 0..8 {
            rest.truncate(cut::at(&rest, limit));
            match self.ask(keys, &rest) {
                Some(clean) => rest = clean,
                None => return Some(rest),
            }
        }
        self.report.count_unscanned(Unscanned::Work);
        Some(UNSCANNED.to_vec())
    }

    /// Asks about a text that has a key of its own below a secret-named one: first as a value of the latter.
    fn ask_twice(
        &mut self,
        secret: &KeyPath<'_>,
        keys: Option<&KeyPath<'_>>,
        text: &[u8],
    ) -> Option<Vec<u8>> {
        let clean = self.ask(Some(secret), text);
        self.ask(keys, clean.as_deref().unwrap_or(text)).or(clean)
    }

    /// Asks the scrubber. If it panics, the value is not passed on.
    pub(super) fn ask(&mut self, keys: Option<&KeyPath<'_>>, text: &[u8]) -> Option<Vec<u8>> {
        if text.is_empty() {
            return None;
        }
        let (scrubber, report) = (self.scrubber, &mut self.report);
        // The scrubber only counts into the report, so a half-made count is the worst that a panic leaves behind.
        let clean = catch_unwind(AssertUnwindSafe(|| scrubber.scrub(keys, text, report)));
        match clean {
            Ok(clean) => {
                let Clean { text: clean, drop } = clean?;
                self.doomed |= drop;
                (clean != text).then_some(clean)
            }
            Err(_) if text == UNSCANNED => None,
            Err(_) => {
                self.report.count_unscanned(Unscanned::Panic);
                Some(UNSCANNED.to_vec())
            }
        }
    }

    pub(super) fn is_in_scope(&self, outer: Outer<'_>) -> bool {
        self.policy.scope == Scope::Everywhere || outer.is_some_and(|frame| frame.content.is_some())
    }

    /// Whether a key around this place is secret-named.
    pub(super) fn is_secret(&self, outer: Outer<'_>) -> bool {
        outer.is_some_and(|frame| self.is_secret_frame(frame))
    }

    fn is_secret_frame(&self, frame: &Frame<'_>) -> bool {
        *frame.secret.get_or_init(|| self.is_secret(frame.outer) || self.is_secret_key(&frame.keys))
    }

    /// The path of the outermost secret-named key around a place: what is nested in a secret is secret.
    pub(super) fn secret_keys<'p>(&self, outer: Outer<'p>) -> Option<&'p KeyPath<'p>> {
        let mut frame = outer.filter(|frame| self.is_secret_frame(frame))?;
        while let Some(above) = frame.outer.filter(|above| self.is_secret_frame(above)) {
            frame = above;
        }
        Some(&frame.keys)
    }

    /// Asks the scrubber about a key. If it panics, the key counts as secret.
    pub(super) fn is_secret_key(&self, keys: &KeyPath<'_>) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.scrubber.is_secret_key(keys))).unwrap_or(true)
    }
}
