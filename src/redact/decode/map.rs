//! Views, and the way from a view back to the source.

use std::ops::Range;

/// Decoded text with its map to what it was decoded from.
#[derive(Debug, Default)]
pub(in crate::redact) struct View {
    /// The decoded text.
    pub(in crate::redact) bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// The pieces stay apart in the source: what stands between them is no part of a finding.
    apart: bool,
    /// A quote in the source, to be put around a marker: in the place of numbers of JSON stands a string.
    quote: Option<Range<usize>>,
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
        Self { bytes, segments, ..Self::default() }
    }

    /// The same view, and a quote in its source.
    pub(super) fn quoted(self, quote: Option<Range<usize>>) -> Self {
        Self { quote, ..self }
    }

    /// A view of pieces between which the source holds what must stay.
    pub(super) fn apart() -> Self {
        Self { apart: true, ..Self::default() }
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

    /// The ranges of the source that stand for a range of the view, piece by piece.
    fn each_piece(&self, range: &Range<usize>, mut on: impl FnMut(Range<usize>)) {
        let first = self.segments.partition_point(|s| s.view <= range.start).saturating_sub(1);
        let segments = self.segments.get(first..).unwrap_or_default();
        for (at, segment) in segments.iter().enumerate() {
            let end = segments.get(at + 1).map_or(self.bytes.len(), |next| next.view);
            let piece = range.start.max(segment.view)..range.end.min(end);
            if piece.start < piece.end {
                on(self.source(&piece));
            }
            if end >= range.end {
                break;
            }
        }
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
    /// It was put together of pieces.
    pub(in crate::redact) streamed: bool,
    /// It is a chain of pieces: what stands around them was read before, they were not.
    pub(in crate::redact) joined: bool,
}

impl<'v> Place<'v> {
    /// The place of `view`, which was decoded from the text at `self`, one character level deeper.
    pub(in crate::redact) fn in_chars(&'v self, view: &'v View) -> Self {
        Self { view: Some(view), outer: Some(self), chars: self.chars + 1, joined: false, ..*self }
    }

    /// The place of `view`, a chain of pieces of the text at `self`.
    pub(in crate::redact) fn in_chain(&'v self, view: &'v View) -> Self {
        Self { joined: true, ..self.in_chars(view) }
    }

    /// The place of `view`, put together of pieces of the text at `self`.
    pub(in crate::redact) fn in_stream(&'v self, view: &'v View) -> Self {
        Self { view: Some(view), outer: Some(self), streamed: true, joined: false, ..*self }
    }

    /// The place of a decoded run: a text of its own.
    pub(in crate::redact) fn in_run(&'v self, view: &'v View) -> Self {
        Self { view: Some(view), outer: Some(self), runs: self.runs + 1, ..Self::default() }
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

    /// Calls `on` with each range of the source text that stands for a range of the text at this place, and whether it
    /// continues the one before: there is more than one where a view's pieces stand apart.
    pub(in crate::redact) fn each_source(&self, range: Range<usize>, on: &mut dyn FnMut(Range<usize>, bool)) {
        let Some(view) = self.view else { return on(range, false) };
        let outer = self.outer.copied().unwrap_or_default();
        if !view.apart {
            return outer.each_source(view.source(&range), on);
        }
        let mut continues = false;
        view.each_piece(&range, |piece| {
            outer.each_source(piece, &mut |range, inner| on(range, continues || inner));
            continues = true;
        });
    }

    /// Where a quote stands in the source text that a marker must be put in.
    pub(in crate::redact) fn quote(&self) -> Option<Range<usize>> {
        let outer = self.outer?;
        match self.view.and_then(|view| view.quote.clone()) {
            Some(quote) => Some(outer.source(quote)),
            None => outer.quote(),
        }
    }

    /// Whether a range stands byte for byte in the text that this one was decoded from.
    pub(in crate::redact) fn is_verbatim(&self, range: &Range<usize>) -> bool {
        self.view.is_some_and(|view| view.is_verbatim(range))
    }
}
