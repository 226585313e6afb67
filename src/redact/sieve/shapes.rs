//! What the matches of rules begin with: which places of an anchor can belong to a match.

use super::exact::{Ends, Exact};
use super::shape::{self, ByteSet};
use crate::redact::pattern::CompileError;
use crate::redact::rules::Rule;

/// Farther from the start of a match an anchor says nothing about it, in bytes.
const FARTHEST: usize = 64;

/// What the matches of one rule begin with. Without a set, every anchor counts.
#[derive(Debug)]
pub(super) struct Shape {
    /// Most bytes from the start of a match to an anchor in it.
    reach: usize,
    /// For each of the first bytes of every match, the number of its set in [`Shapes`].
    sets: Vec<u16>,
}

/// The shapes of all rules.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    sets: Vec<ByteSet>,
    exact: Vec<Exact>,
}

impl Shapes {
    /// The shapes of these rules.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if a pattern cannot be compiled.
    pub(super) fn new(rules: &[Rule]) -> Result<Self, CompileError> {
        let mut shapes = Self { exact: rules.iter().map(Exact::new).collect(), ..Self::default() };
        for rule in rules {
            let longest = rule.anchors.iter().map(String::len).max().unwrap_or(0);
            let shortest = rule.anchors.iter().map(String::len).min().unwrap_or(0);
            // A cut match may hold a shorter anchor a little further on than a whole one.
            let cut = rule.cut.as_ref().map_or(0, |cut| cut.before_anchor);
            let reach = rule.before_anchor.max(cut).saturating_add(longest - shortest);
            if reach > FARTHEST {
                shapes.shapes.push(Shape { reach: 0, sets: Vec::new() });
                continue;
            }
            let failed = |why| CompileError::Pattern { rule: rule.id.to_string(), why };
            let mut sets = shape::of(&rule.pattern, 0).map_err(failed)?;
            if let Some(cut) = &rule.cut {
                let cut = shape::of(&cut.pattern, cut.floor.min(cut.random)).map_err(failed)?;
                sets.truncate(cut.len());
                sets.iter_mut().zip(cut).for_each(|(set, cut)| set.extend(&cut));
            }
            let sets = sets.into_iter().map(|set| shapes.number(set)).collect();
            shapes.shapes.push(Shape { reach, sets });
        }
        Ok(shapes)
    }

    fn number(&mut self, set: ByteSet) -> u16 {
        let known = self.sets.iter().position(|known| *known == set);
        let number = known.unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// How many bytes every match of a rule begins with that are all in `class`, if an anchor is among them.
    pub(super) fn run(&self, rule: usize, longest_anchor: usize, class: impl Fn(u8) -> bool) -> usize {
        let Some(shape) = self.shapes.get(rule) else { return 0 };
        let inside =
            |number: &&u16| self.sets.get(usize::from(**number)).is_some_and(|set| set.is_within(&class));
        let run = shape.sets.iter().take_while(inside).count();
        if shape.reach + longest_anchor <= run { run } else { 0 }
    }

    /// How far before an anchor a match of the rule may begin, in bytes.
    pub(super) fn reach(&self, rule: usize) -> usize {
        self.shapes.get(rule).map_or(0, |shape| shape.reach)
    }

    /// Whether a match of the rule may hold the anchor that stands at `at`. `ends`: also one that is cut off, where.
    pub(super) fn may_match(&self, rule: usize, text: &[u8], at: usize, ends: Option<&Ends>) -> bool {
        let Some(shape) = self.shapes.get(rule) else { return true };
        // Without a set the regex alone would have to look far.
        let exact = self.exact.get(rule).filter(|_| !shape.sets.is_empty());
        (at.saturating_sub(shape.reach)..=at).any(|start| {
            self.begins(shape, text.get(start..).unwrap_or_default())
                && exact.is_none_or(|exact| exact.may_match(text, start, at, ends))
        })
    }

    fn begins(&self, shape: &Shape, text: &[u8]) -> bool {
        shape.sets.len() <= text.len()
            && shape.sets.iter().zip(text).all(|(number, byte)| {
                // A number too large for the table says nothing.
                self.sets.get(usize::from(*number)).is_none_or(|set| set.holds(*byte))
            })
    }
}
