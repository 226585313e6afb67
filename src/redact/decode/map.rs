//! Views, and the way from a view back to the source.

use std::ops::Range;

/// Decoded text with its map to what it was decoded from.
#[derive(Debug, Default)]
pub(in crate::redact) struct View {
    /// The decoded text.
    pub(in crate::redact) bytes: Vec<u8>,
    segments: Vec<Segment>,
}

/// A piece of a view.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Where it begins in the view.
    view: usize,
    /// Where it begins in the source.
    source: usize,
    /// `Some`: so many bytes of the source stand for the whole piece, as one unit. `None`: byte for byte.
    unit: Option<usize>,
}

impl View {
    /// Appends bytes of the source as they are. `at` is where they stand in it.
    pub(super) fn copy(&mut self, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.segments.push(Segment { view: self.bytes.len(), source: at, unit: None });
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes that all of `source` stands for.
    pub(super) fn unit(&mut self, source: Range<usize>, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.segments.push(Segment {
            view: self.bytes.len(),
            source: source.start,
            unit: Some(source.len()),
        });
        self.bytes.extend_from_slice(bytes);
    }

    /// A view that is one unit.
    pub(super) fn of_unit(source: Range<usize>, bytes: Vec<u8>) -> Self {
        let segments = vec![Segment { view: 0, source: source.start, unit: Some(source.len()) }];
        Self { bytes, segments }
    }

    /// The same view of a text that stands `by` bytes further on in its source.
    pub(in crate::redact) fn shifted(mut self, by: usize) -> Self {
        for segment in &mut self.segments {
            segment.source += by;
        }
        self
    }

    /// The range of the source that stands for a range of the view.
    fn source(&self, range: &Range<usize>) -> Range<usize> {
        let Some(last) = range.end.checked_sub(1) else { return 0..0 };
        let start = self.segment(range.start).map_or(0, |s| match s.unit {
            Some(_) => s.source,
            None => s.source + (range.start - s.view),
        });
        let end = self.segment(last).map_or(0, |s| match s.unit {
            Some(len) => s.source + len,
            None => s.source + (last - s.view) + 1,
        });
        start..end
    }

    /// Whether a range of the view stands in the source byte for byte, in one piece.
    pub(super) fn is_verbatim(&self, range: &Range<usize>) -> bool {
        let index = self.segments.partition_point(|s| s.view <= range.start);
        let next = self.segments.get(index).map_or(self.bytes.len(), |s| s.view);
        range.end <= next
            && index.checked_sub(1).and_then(|at| self.segments.get(at)).is_some_and(|s| s.unit.is_none())
    }

    fn segment(&self, at: usize) -> Option<&Segment> {
        let index = self.segments.partition_point(|s| s.view <= at);
        index.checked_sub(1).and_then(|index| self.segments.get(index))
    }
}

/// Where a text stands: the views between it and the source text.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::redact) struct Place<'v> {
    view: Option<&'v View>,
    outer: Option<&'v Place<'v>>,
    /// Character levels taken off since the last run.
    pub(in crate::redact) chars: u8,
    /// Runs decoded.
    pub(in crate::redact) runs: u8,
}

impl<'v> Place<'v> {
    /// The place of `view`, which was decoded from the text at `self`, one character level deeper.
    pub(in crate::redact) fn in_chars(&'v self, view: &'v View) -> Self {
        Self { view: Some(view), outer: Some(self), chars: self.chars + 1, runs: self.runs }
    }

    /// The place of a decoded run: a text of its own.
    pub(in crate::redact) fn in_run(&'v self, view: &'v View) -> Self {
        Self { view: Some(view), outer: Some(self), chars: 0, runs: self.runs + 1 }
    }

    /// The range of the source text that stands for a range of the text at this place.
    pub(in crate::redact) fn source(&self, range: Range<usize>) -> Range<usize> {
        let mut range = range;
        let mut place = Some(self);
        while let Some(at) = place {
            if let Some(view) = at.view {
                range = view.source(&range);
            }
            place = at.outer;
        }
        range
    }

    /// Whether a range stands byte for byte in the text that this one was decoded from.
    pub(in crate::redact) fn is_verbatim(&self, range: &Range<usize>) -> bool {
        self.view.is_some_and(|view| view.is_verbatim(range))
    }
}
