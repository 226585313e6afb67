//! The redacting walk over an encoded OTLP request: finds every text by the schema table, never decodes into structs.
//!
//! Step one collects edits, step two (`edits`) copies once; without an edit nothing is copied. Here: which field is
//! what. `texts` asks the scrubber about one text, `keys` finds out what a `KeyValue` is called, `hidden` replaces whole
//! values and removes attributes, `profiles` resolves indices into the string table, `service` reads who sent it. Bytes are read by `otlp::wire` only.

mod context;
mod cut;
mod edits;
mod hidden;
mod keys;
mod profiles;
mod service;
mod texts;

use std::sync::Arc;

use self::context::Frame;
use self::edits::Edits;
use self::profiles::StringTable;
use super::Service;
use super::action::{self, Action};
use super::apply::Clean;
use super::policy::Policy;
use super::report::{Report, Unscanned};
use super::text::{KeyPath, TextScrubber};
use crate::otlp::schema::{Field, Kind, Message, Role};
use crate::otlp::wire::{Malformed, Reader, Record, Value, check_packed};

/// Decides what of a text is secret. One type in production; the tests of the walk bring their own.
pub trait Scrub {
    /// As [`TextScrubber::scrub`].
    fn scrub(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Clean>;

    /// As [`TextScrubber::is_secret_key`].
    fn is_secret_key(&self, keys: &KeyPath<'_>) -> bool;

    /// As [`TextScrubber::integer`].
    fn integer(&self, _value: i64, _report: &mut Report) -> Option<Clean> {
        None
    }

    /// As [`TextScrubber::pair_action`].
    fn pair_action(&self) -> Action {
        Action::Marker
    }

    /// As [`TextScrubber::mark`].
    fn mark(&self, action: Action, kind: &str, value: &[u8]) -> Vec<u8> {
        action::mark(action, kind, value, None)
    }
}

impl Scrub for TextScrubber {
    fn scrub(&self, keys: Option<&KeyPath<'_>>, text: &[u8], report: &mut Report) -> Option<Clean> {
        self.clean(keys, text, report)
    }

    fn is_secret_key(&self, keys: &KeyPath<'_>) -> bool {
        Self::is_secret_key(self, keys)
    }

    fn integer(&self, value: i64, report: &mut Report) -> Option<Clean> {
        Self::integer(self, value, report)
    }

    fn pair_action(&self) -> Action {
        Self::pair_action(self)
    }

    fn mark(&self, action: Action, kind: &str, value: &[u8]) -> Vec<u8> {
        Self::mark(self, action, kind, value)
    }
}

/// The kinds that the walk itself counts.
#[derive(Debug)]
pub(super) struct Kinds {
    secret: Arc<str>,
    masked: Arc<str>,
    dropped: Arc<str>,
    truncated: Arc<str>,
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            secret: Arc::from("secret"),
            masked: Arc::from("masked"),
            dropped: Arc::from("dropped"),
            truncated: Arc::from("truncated"),
        }
    }
}

const UNSCANNED: &[u8] = b"[REDACTED:unscanned]";

/// Redacts one encoded request. `None`: nothing to change.
///
/// # Errors
///
/// [`Malformed`] if `body` is not valid protobuf.
pub(super) fn redact<S: Scrub>(
    scrubber: &S,
    services: &[Service<S>],
    policy: &Policy,
    kinds: &Kinds,
    request: &'static Message,
    body: &[u8],
) -> Result<(Option<Vec<u8>>, Report), Malformed> {
    let reader = Reader::new(body);
    let mut walk = Walk {
        scrubber,
        services,
        policy,
        kinds,
        by_key: policy.looks_at_keys(),
        strings: StringTable::collect(request, reader)?,
        edits: Edits::default(),
        report: Report::default(),
        doomed: false,
    };
    if !walk.strings.is_empty() {
        walk.resolve_indices(request, reader, None)?;
    }
    walk.message(request, reader, None)?;
    let body = if walk.edits.is_empty() { None } else { Some(walk.edits.apply(body)) };
    Ok((body, walk.report))
}

struct Walk<'a, S> {
    scrubber: &'a S,
    services: &'a [Service<S>],
    policy: &'a Policy,
    kinds: &'a Kinds,
    /// Whether the policy depends on attribute keys.
    by_key: bool,
    strings: StringTable<'a>,
    edits: Edits,
    report: Report,
    /// An action wants the attribute removed that the walk is in.
    doomed: bool,
}

type Outer<'p> = Option<&'p Frame<'p>>;

impl<'a, S: Scrub> Walk<'a, S> {
    fn message(
        &mut self,
        schema: &'static Message,
        mut reader: Reader<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        if schema.role == Role::Item {
            self.report.items += 1;
        }
        while let Some(record) = reader.next_field()? {
            match schema.field(record.number).filter(|field| record.is_a(field)) {
                Some(field) => self.field(schema, field, reader, record, outer)?,
                None => self.unknown(schema.role, &mut reader, record, outer)?,
            }
        }
        Ok(())
    }

    /// A field that the schema knows, with a fitting wire type. `reader` has just read `record`.
    #[inline]
    fn field(
        &mut self,
        schema: &'static Message,
        field: &'static Field,
        reader: Reader<'a>,
        record: Record<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        let Value::Delimited(content) = record.value else {
            if schema.role == Role::AnyValue {
                self.scalar_value(field.kind, record, outer);
            }
            return Ok(());
        };
        match field.kind {
            Kind::Message(inner) => self.sub_message(schema.role, inner, reader, record, outer)?,
            Kind::Text if schema.role == Role::KeyValue => self.key(record, content, outer),
            Kind::Text if schema.role == Role::ProfilesDictionary => self.table_entry(record, content),
            Kind::Text | Kind::Bytes => self.text(record, content, outer),
            Kind::Id(length) if content.len() == length || content.is_empty() => {}
            Kind::Id(_) => self.text(record, content, outer),
            Kind::Payload => self.payload(record, content, outer),
            // Whatever is left and delimited is packed numbers.
            _ => check_packed(field.wire_type, content)?,
        }
        Ok(())
    }

    fn sub_message(
        &mut self,
        parent: Role,
        schema: &'static Message,
        reader: Reader<'a>,
        record: Record<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        let Value::Delimited(content) = record.value else { return Ok(()) };
        let inside = reader.enter(record)?;
        let before = self.edits.open(record, content);
        let hiding = match schema.role {
            Role::KeyValue | Role::KeyValueAndUnit => {
                let frame = Frame::new(self.name(schema, inside, outer)?, outer);
                let around = std::mem::take(&mut self.doomed);
                self.message(schema, inside, Some(&frame))?;
                // An entry of a table keeps its place: its value has said so.
                if std::mem::replace(&mut self.doomed, around) && schema.role == Role::KeyValue {
                    self.edits.close();
                    self.edits.rollback(before);
                    self.edits.splice(record.start, record.end, Vec::new());
                    return Ok(());
                }
                frame.hiding()
            }
            Role::AnyValue => {
                self.message(schema, inside, outer)?;
                let is_whole_value = matches!(parent, Role::KeyValue | Role::KeyValueAndUnit);
                outer.filter(|_| is_whole_value).and_then(Frame::hiding)
            }
            Role::OfResource => {
                let of_service = self.scrubber_for(schema, inside)?;
                let of_all = std::mem::replace(&mut self.scrubber, of_service);
                let walked = self.message(schema, inside, outer);
                self.scrubber = of_all;
                walked?;
                None
            }
            _ => {
                self.message(schema, inside, outer)?;
                None
            }
        };
        self.edits.close();
        if let Some(action) = hiding {
            self.hide_value(action, parent, schema.role, record, content, before);
        }
        Ok(())
    }

    /// Bytes that this build has no field for: scanned, and dropped where there is a finding.
    fn unknown(
        &mut self,
        role: Role,
        reader: &mut Reader<'a>,
        record: Record<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        let drop = match record.value {
            Value::StartGroup => return self.unknown_group(role, reader, record, outer),
            Value::Delimited(content) => self.scrub(outer, content).is_some(),
            // A value of a type to come, under a secret-named key.
            _ => role == Role::AnyValue && self.is_in_scope(outer) && self.is_secret(outer),
        };
        if drop {
            self.report.dropped_fields += 1;
            self.edits.splice(record.start, record.end, Vec::new());
        }
        Ok(())
    }

    fn unknown_group(
        &mut self,
        role: Role,
        reader: &mut Reader<'a>,
        start: Record<'a>,
        outer: Outer<'_>,
    ) -> Result<(), Malformed> {
        let mut inside = reader.enter_group()?;
        while let Some(record) = inside.next_in_group(start.number)? {
            self.unknown(role, &mut inside, record, outer)?;
        }
        reader.leave_group(&inside);
        Ok(())
    }

    /// A number, boolean or index in an `AnyValue`: a number under a secret-named key is masked, a boolean is not.
    fn scalar_value(&mut self, kind: Kind, record: Record<'a>, outer: Outer<'_>) {
        let is_number = match (kind, record.value) {
            (Kind::Bool, _) => false,
            // The string table has been scrubbed for what points into it; an index into nothing is a number.
            (Kind::StringIndex, Value::Varint(index)) => self.strings.get(index).is_none(),
            _ => true,
        };
        if is_number && self.is_in_scope(outer) && self.is_secret(outer) {
            self.report.count(&self.kinds.secret);
            let marker = self.secret_number(record.value);
            self.edits.splice(record.start, record.end, hidden::string_value(&marker));
        } else if let (Kind::Int64, Value::Varint(value)) = (kind, record.value)
            && self.is_in_scope(outer)
            && let Some(clean) = self.scrubber.integer(value.cast_signed(), &mut self.report)
        {
            self.doomed |= clean.drop;
            self.edits.splice(record.start, record.end, hidden::string_value(&clean.text));
        }
    }

    fn payload(&mut self, record: Record<'a>, content: &'a [u8], outer: Outer<'_>) {
        if !self.is_in_scope(outer) {
            return;
        }
        if std::str::from_utf8(content).is_ok() {
            self.text(record, content, outer);
        } else {
            self.report.count_unscanned(Unscanned::Foreign);
            // Emptied rather than removed: an earlier occurrence must not become the valid one.
            self.edits.replace(record, Vec::new());
        }
    }
}
