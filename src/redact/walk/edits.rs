//! What to change in an encoded message: collected in wire order during the walk, applied in one copy pass.
//!
//! The sub-messages that the walk is in are kept on a stack. Their lengths become edits when the first edit inside of
//! them is made, so that a request without a finding costs no edit and no copy.

use crate::otlp::wire::{Record, put_delimited, put_varint, varint_len};

/// The edits of one request.
#[derive(Debug, Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    /// Bytes gained so far (negative: lost).
    gained: isize,
    /// The sub-messages that the walk is in, outermost first.
    open: Vec<Open>,
    /// So many of them, from the outermost on, have a slot in the list.
    slotted: usize,
}

/// A sub-message that the walk is in.
#[derive(Debug)]
struct Open {
    /// Offsets of its length.
    start: usize,
    end: usize,
    length: usize,
    /// Once it has a slot: which, and the bytes gained before it.
    slot: Mark,
}

#[derive(Debug)]
struct Edit {
    /// Offsets into the body: what is replaced.
    start: usize,
    end: usize,
    with: With,
}

#[derive(Debug)]
enum With {
    /// The length of a sub-message.
    Length(usize),
    /// A length and as many bytes.
    Delimited(Vec<u8>),
    /// These bytes.
    Raw(Vec<u8>),
}

/// A point in the list to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    edits: usize,
    gained: isize,
}

impl Edits {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { edits: self.list.len(), gained: self.gained }
    }

    /// Forgets every edit made since the mark.
    pub(super) fn rollback(&mut self, mark: Mark) {
        self.list.truncate(mark.edits);
        self.gained = mark.gained;
        while self.slotted > 0
            && self.open.get(self.slotted - 1).is_some_and(|open| open.slot.edits >= mark.edits)
        {
            self.slotted -= 1;
        }
    }

    /// Goes into a sub-message with this content.
    #[inline]
    pub(super) fn open(&mut self, record: Record<'_>, content: &[u8]) -> Mark {
        let mark = self.mark();
        let end = record.end.saturating_sub(content.len());
        self.open.push(Open { start: record.after_tag, end, length: content.len(), slot: mark });
        mark
    }

    /// Leaves the sub-message that was entered last, and corrects its length if something inside has changed.
    #[inline]
    pub(super) fn close(&mut self) {
        let closed = self.open.pop();
        if self.slotted > self.open.len() {
            self.slotted = self.open.len();
            if let Some(closed) = closed {
                self.correct(&closed);
            }
        }
    }

    fn correct(&mut self, closed: &Open) {
        let length = closed.length.saturating_add_signed(self.gained - closed.slot.gained);
        if let Some(edit) = self.list.get_mut(closed.slot.edits) {
            edit.with = With::Length(length);
            self.gained += difference(varint_len(length), closed.end - closed.start);
        }
    }

    /// Replaces the content of a delimited record.
    pub(super) fn replace(&mut self, record: Record<'_>, content: Vec<u8>) {
        self.push(record.after_tag, record.end, With::Delimited(content));
    }

    /// Replaces whole records, tag included, by other encoded records; by none to remove them.
    pub(super) fn splice(&mut self, start: usize, end: usize, records: Vec<u8>) {
        self.push(start, end, With::Raw(records));
    }

    fn push(&mut self, start: usize, end: usize, with: With) {
        for open in self.open.iter_mut().skip(self.slotted) {
            open.slot = Mark { edits: self.list.len(), gained: self.gained };
            self.list.push(Edit { start: open.start, end: open.end, with: With::Length(open.length) });
        }
        self.slotted = self.open.len();
        let length = match &with {
            With::Length(length) => varint_len(*length),
            With::Delimited(content) => varint_len(content.len()) + content.len(),
            With::Raw(records) => records.len(),
        };
        self.gained += difference(length, end - start);
        self.list.push(Edit { start, end, with });
    }

    /// The body with all edits made.
    pub(super) fn apply(&self, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(body.len().saturating_add_signed(self.gained));
        let mut copied = 0;
        for edit in &self.list {
            // Edits are in order and inside the body: the walk makes them as it reads.
            out.extend_from_slice(body.get(copied..edit.start).unwrap_or_default());
            match &edit.with {
                With::Length(length) => put_varint(&mut out, *length as u64),
                With::Delimited(content) => put_delimited(&mut out, content),
                With::Raw(records) => out.extend_from_slice(records),
            }
            copied = edit.end;
        }
        out.extend_from_slice(body.get(copied..).unwrap_or_default());
        out
    }
}

fn difference(new: usize, old: usize) -> isize {
    new.wrapping_sub(old).cast_signed()
}
