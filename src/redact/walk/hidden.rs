//! Whole values: what the policy wants hidden or removed, and numbers of secret-named keys.

use std::borrow::Cow;

use super::edits::Mark;
use super::{Scrub, Walk};
use crate::otlp::schema::Role;
use crate::otlp::wire::{Reader, Record, Value, put_field};
use crate::redact::action::{Action, MASKED_KIND};
use crate::redact::marker;
use crate::redact::policy::ContentAction;
use crate::redact::rules::NAMED_PAIR_KIND;

/// Fields of `AnyValue`: what a number or a whole value is replaced by, and what tags are made of.
const STRING_VALUE: u32 = 1;
const INT_VALUE: u32 = 3;
const BYTES_VALUE: u32 = 7;

impl<'a, S: Scrub> Walk<'a, S> {
    /// Hides an attribute, or its value, which has been walked since `before`.
    pub(super) fn hide_value(
        &mut self,
        action: ContentAction,
        parent: Role,
        role: Role,
        record: Record<'a>,
        content: &[u8],
        before: Mark,
    ) {
        match (action, role) {
            // The attribute goes; a profile's attribute table is indexed, so there only the value goes.
            (ContentAction::Drop, Role::AnyValue) if parent != Role::KeyValueAndUnit => {}
            (ContentAction::Drop, Role::KeyValue | Role::AnyValue) => {
                self.edits.rollback(before);
                self.report.count(&self.kinds.dropped);
                self.edits.splice(record.start, record.end, Vec::new());
            }
            (_, Role::AnyValue) if !content.is_empty() => {
                let value = plain(content);
                let is_text = content == string_value(&value);
                if let Some(marker) = self.hidden(action, &value, is_text) {
                    self.edits.rollback(before);
                    self.edits.replace(record, string_value(&marker));
                }
            }
            _ => {}
        }
    }

    /// What stands in place of a text of the string table that is hidden.
    pub(super) fn hide_text(&mut self, action: ContentAction, text: &[u8]) -> Option<Vec<u8>> {
        if text.is_empty() { None } else { self.hidden(action, text, true) }
    }

    /// The marker of a hidden value. `None`: it is one already.
    fn hidden(&mut self, action: ContentAction, value: &[u8], is_text: bool) -> Option<Vec<u8>> {
        let action = action.mark().unwrap_or(Action::Mask);
        let plain = marker::marker(MASKED_KIND);
        // A mask says less than a tag does, so it takes another hop's tag away.
        let already = value == plain || (action != Action::Mask && marker::is_of(MASKED_KIND, value));
        if is_text && already {
            return None;
        }
        self.report.count(&self.kinds.masked);
        Some(self.scrubber.mark(action, MASKED_KIND, value))
    }

    /// The marker of a number of a secret-named key.
    pub(super) fn secret_number(&mut self, number: Value<'_>) -> Vec<u8> {
        let action = self.scrubber.pair_action();
        self.doomed |= action == Action::Drop;
        match number {
            Value::Varint(number) => {
                let digits = number.cast_signed().to_string();
                self.scrubber.mark(action, NAMED_PAIR_KIND, digits.as_bytes())
            }
            // A double can be written in many ways, so that its tag would say nothing.
            _ if action == Action::Hmac => marker::marker(NAMED_PAIR_KIND),
            _ => self.scrubber.mark(action, NAMED_PAIR_KIND, b""),
        }
    }
}

/// The text, the bytes or the decimal digits of an encoded `AnyValue`; its encoding where it is anything else.
fn plain(content: &[u8]) -> Cow<'_, [u8]> {
    let mut reader = Reader::new(content);
    let (first, second) = (reader.next_field(), reader.next_field());
    match (first, second) {
        (
            Ok(Some(Record { number: STRING_VALUE | BYTES_VALUE, value: Value::Delimited(text), .. })),
            Ok(None),
        ) => Cow::Borrowed(text),
        (Ok(Some(Record { number: INT_VALUE, value: Value::Varint(number), .. })), Ok(None)) => {
            Cow::Owned(number.cast_signed().to_string().into_bytes())
        }
        _ => Cow::Borrowed(content),
    }
}

/// An encoded `AnyValue` that holds this text.
pub(super) fn string_value(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    put_field(&mut out, STRING_VALUE, text);
    out
}
