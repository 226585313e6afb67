//! What the redactor did to one request: counts only, no text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::canary;

/// Why a value became `[REDACTED:unscanned]` or a field was dropped unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unscanned {
    /// The scanner panicked.
    Panic,
    /// The value needed more work than a value may cost.
    Work,
    /// Bytes in a foreign format (a profile's `original_payload`).
    Foreign,
}

impl Unscanned {
    /// The metrics label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Work => "work",
            Self::Foreign => "foreign",
        }
    }
}

/// Counts of what was found and done in one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Spans, log records, data points or profiles.
    pub items: u64,
    /// Redactions by kind (`github-token`, `secret`...).
    pub redactions: BTreeMap<Arc<str>, u64>,
    /// Findings of rules in `mode: audit`, by kind: counted, nothing changed.
    pub audited: BTreeMap<Arc<str>, u64>,
    /// Values that were not scanned and so not passed on, by reason.
    pub unscanned: BTreeMap<Unscanned, u64>,
    /// Unknown fields dropped because they held a finding.
    pub dropped_fields: u64,
    /// The self-canary's redactions: changes, but in no metric.
    pub canaries: u64,
}

impl Report {
    /// Counts one redaction of this kind.
    pub fn count(&mut self, kind: &Arc<str>) {
        if **kind == *canary::KIND {
            self.canaries += 1;
            return;
        }
        *self.redactions.entry(Arc::clone(kind)).or_default() += 1;
    }

    /// Counts one value that was not scanned.
    pub fn count_unscanned(&mut self, reason: Unscanned) {
        *self.unscanned.entry(reason).or_default() += 1;
    }

    /// Adds another report's counts.
    pub fn add(&mut self, other: Self) {
        self.items += other.items;
        self.dropped_fields += other.dropped_fields;
        self.canaries += other.canaries;
        merge(&mut self.redactions, other.redactions);
        merge(&mut self.audited, other.audited);
        merge(&mut self.unscanned, other.unscanned);
    }

    /// Whether anything was changed.
    pub fn is_unchanged(&self) -> bool {
        self.redactions.is_empty()
            && self.unscanned.is_empty()
            && self.dropped_fields == 0
            && self.canaries == 0
    }

    /// All redactions, of every kind.
    pub fn total(&self) -> u64 {
        self.redactions.values().sum()
    }
}

fn merge<K: Ord>(counts: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, count) in more {
        *counts.entry(key).or_default() += count;
    }
}
