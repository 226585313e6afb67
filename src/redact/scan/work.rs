//! The bound of what one value may cost.

/// Work allowed for each byte of the value: views of views are larger than their source only by this much.
const PER_BYTE: usize = 64;
/// Work allowed for any value.
const AT_LEAST: usize = 1 << 20;

/// Counts bytes looked at.
#[derive(Debug)]
pub(super) struct Work {
    allowed: usize,
    spent: usize,
    noted: usize,
    given_up: bool,
}

impl Work {
    /// What a value of so many bytes may cost.
    pub(super) fn for_value(len: usize) -> Self {
        Self {
            allowed: len.saturating_mul(PER_BYTE).saturating_add(AT_LEAST),
            spent: 0,
            noted: 0,
            given_up: false,
        }
    }

    /// Whether so many more bytes may be looked at.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        self.spent = self.spent.saturating_add(bytes);
        self.given_up |= self.spent > self.allowed;
        !self.given_up
    }

    /// Counts bytes that one rule's regex reads: bounded by the number of rules, so no part of what is allowed.
    pub(super) fn note(&mut self, bytes: usize) {
        self.noted = self.noted.saturating_add(bytes);
    }

    /// The value can't be scanned to the end.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Whether something was left out.
    pub(super) fn is_exhausted(&self) -> bool {
        self.given_up
    }

    /// Bytes looked at.
    pub(super) fn looked_at(&self) -> usize {
        self.spent.saturating_add(self.noted)
    }
}
