//! Runs of at least so many bytes of a class, from the masks of one block after the other.

use std::ops::Range;

use super::blocks::BLOCK;

/// Finds runs of at least `LEAST` bytes.
#[derive(Debug, Default)]
pub(super) struct Runs<const LEAST: usize> {
    /// How long the run is that reaches the end of the block before.
    tail: usize,
}

impl<const LEAST: usize> Runs<LEAST> {
    /// Takes the mask of the block at `at`; calls `on` with each run that ends in it.
    #[inline]
    pub(super) fn block(&mut self, at: usize, mask: u64, mut on: impl FnMut(Range<usize>)) {
        const { assert!(LEAST > 1 && LEAST <= BLOCK) };
        let head = mask.trailing_ones() as usize;
        if head == BLOCK {
            self.tail += BLOCK;
            return;
        }
        if head + self.tail >= LEAST {
            on(at - self.tail..at + head);
        }
        let mask = mask & u64::MAX << head;
        self.tail = mask.leading_ones() as usize;
        // What reaches the end of the block is not over yet.
        let over = mask & u64::MAX >> self.tail;
        let mut starts = over;
        let mut have = 1;
        while have < LEAST {
            let more = have.min(LEAST - have);
            starts &= starts >> more;
            have += more;
        }
        while starts != 0 {
            let start = starts.trailing_zeros() as usize;
            let end = start + (over >> start).trailing_ones() as usize;
            on(at + start..at + end);
            starts &= u64::MAX << end;
        }
    }

    /// The text ends at `len`.
    pub(super) fn end(&mut self, len: usize, mut on: impl FnMut(Range<usize>)) {
        if self.tail >= LEAST {
            on(len - self.tail..len);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &[bool]) -> Vec<Range<usize>> {
        let mut runs = Runs::<12>::default();
        let mut all = Vec::new();
        for (nth, block) in text.chunks(BLOCK).enumerate() {
            let mask = block.iter().enumerate().fold(0, |mask, (bit, set)| mask | u64::from(*set) << bit);
            runs.block(nth * BLOCK, mask, |run| all.push(run));
        }
        runs.end(text.len(), |run| all.push(run));
        all
    }

    fn expected(text: &[bool]) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        let mut start = None;
        for (at, set) in text.iter().copied().chain([false]).enumerate() {
            match start {
                None if set => start = Some(at),
                Some(from) if !set => {
                    all.extend((at - from >= 12).then_some(from..at));
                    start = None;
                }
                _ => {}
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn are_those_of_a_simple_search(lengths in proptest::collection::vec((0..30_usize, 0..30_usize, any::<bool>()), 0..30)) {
            let mut text = Vec::new();
            for (set, unset, far) in lengths {
                text.extend(std::iter::repeat_n(true, if far { set * 9 } else { set }));
                text.extend(std::iter::repeat_n(false, unset));
            }
            prop_assert_eq!(found(&text), expected(&text));
        }
    }
}
