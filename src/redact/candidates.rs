//! Which rules a text is worth the regex of, and from where on. Knows neither rules nor anchors.

/// A rule whose anchor occurs in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Index of the rule.
    pub(super) rule: usize,
    /// Where its first anchor begins.
    pub(super) first: usize,
    /// Where its last anchor begins.
    pub(super) last: usize,
}

/// The candidates of one text, each rule once. Empty, it allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    found: Vec<Candidate>,
    /// For each rule its place in `found`, counted from one: since a long text has many hits of many rules.
    places: Vec<u32>,
}

/// So many are found faster by looking at each.
const FEW: usize = 16;

impl Candidates {
    /// None.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// An anchor of the rule begins at `at`.
    pub(super) fn add(&mut self, rule: usize, at: usize) {
        self.spread(rule, at, at);
    }

    /// Whether the rule is a candidate from before `at` on; then it reaches there.
    pub(super) fn reaches(&mut self, rule: usize, at: usize) -> bool {
        let known = self.known(rule).filter(|known| known.first <= at);
        known.is_some_and(|known| {
            known.last = known.last.max(at);
            true
        })
    }

    /// The rule may match anywhere in a text of so many bytes.
    pub(super) fn add_everywhere(&mut self, rule: usize, len: usize) {
        self.spread(rule, 0, len);
    }

    fn spread(&mut self, rule: usize, first: usize, last: usize) {
        if let Some(known) = self.known(rule) {
            known.first = known.first.min(first);
            known.last = known.last.max(last);
            return;
        }
        self.found.push(Candidate { rule, first, last });
        let count = self.found.len();
        let unplaced = if count == FEW + 1 { 0 } else { count - 1 };
        if count > FEW {
            (unplaced..count).for_each(|at| self.set_place(at));
        }
    }

    fn known(&mut self, rule: usize) -> Option<&mut Candidate> {
        if self.found.len() <= FEW {
            return self.found.iter_mut().find(|candidate| candidate.rule == rule);
        }
        let place = self.places.get(rule)?.checked_sub(1)?;
        self.found.get_mut(place as usize)
    }

    fn set_place(&mut self, at: usize) {
        let Some(rule) = self.found.get(at).map(|candidate| candidate.rule) else { return };
        if self.places.len() <= rule {
            self.places.resize(rule + 1, 0);
        }
        if let Some((slot, place)) = self.places.get_mut(rule).zip(u32::try_from(at + 1).ok()) {
            *slot = place;
        }
    }
}

impl IntoIterator for Candidates {
    type Item = Candidate;
    type IntoIter = std::vec::IntoIter<Candidate>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}
