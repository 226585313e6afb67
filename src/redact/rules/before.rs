//! `preceded_by`: a rule that counts only behind one of many words, a few letters, blanks and signs apart. One rule for all the
//! words, so that their number costs nothing.

use std::sync::Arc;

use super::edge::is_word_start;
use crate::redact::vendors;
use crate::redact::wordlist::Words;

/// What has to stand before a match.
#[derive(Debug, Clone)]
pub struct Before {
    words: Arc<Words>,
    gap: usize,
}

/// What may stand between the word and the match, besides letters and digits.
const GAP_SIGNS: &str = " \t_.[]\"'`*-";

impl Before {
    /// Behind a service's name.
    pub(super) fn vendors(gap: usize) -> Self {
        Self { words: Arc::clone(vendors::rare()), gap }
    }

    /// Behind one of these words.
    pub(super) fn listed(words: &[String], gap: usize) -> Self {
        Self { words: Arc::new(Words::new(words.iter().map(String::as_str))), gap }
    }

    /// Whether `before`, the text up to a match, ends in a word and what may stand between. `word_start`: the word must begin one.
    pub(super) fn stands_before(&self, before: &[u8], word_start: bool) -> bool {
        let between = before.iter().rev().take(self.gap).take_while(|b| is_of_gap(**b)).count();
        let first = before.len().saturating_sub(self.gap + self.words.longest());
        (first..before.len()).any(|start| {
            let (above, text) = before.split_at_checked(start).unwrap_or_default();
            (!word_start || is_word_start(above))
                && self.words.prefixes(text).any(|len| len + between >= text.len())
        })
    }

    /// The same as a pattern.
    pub(super) fn pattern(&self) -> String {
        let words = self.words.all().collect::<Vec<_>>().join("|");
        let signs = regex_syntax::escape(GAP_SIGNS).replace('\t', r"\t");
        format!("(?:{words})[0-9A-Za-z{signs}]{{0,{}}}", self.gap)
    }
}

fn is_of_gap(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || GAP_SIGNS.as_bytes().contains(&byte)
}

/// Whether a word means itself in a pattern.
pub(super) fn is_plain(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}
