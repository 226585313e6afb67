//! Lists of words, each list one text with blanks between: the tables of `names` and `values` read as prose.

use std::sync::OnceLock;

/// A long list, looked up for every key of every span: sorted into words of each length on first use.
pub(super) struct List {
    text: &'static str,
    by_length: OnceLock<Vec<Vec<&'static str>>>,
}

impl List {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, by_length: OnceLock::new() }
    }

    /// Whether `word` is in the list, without ASCII case.
    pub(super) fn has(&self, word: &[u8]) -> bool {
        let lists = self.by_length.get_or_init(|| {
            let longest = self.text.split_ascii_whitespace().map(str::len).max().unwrap_or(0);
            let of_length = |n: usize| self.text.split_ascii_whitespace().filter(|w| w.len() == n).collect();
            (0..=longest).map(of_length).collect()
        });
        let same = lists.get(word.len()).map(Vec::as_slice).unwrap_or_default();
        let Some(first) = word.first().map(u8::to_ascii_lowercase) else { return false };
        // Most entries differ in their first byte.
        same.iter().any(|entry| {
            entry.as_bytes().first().map(u8::to_ascii_lowercase) == Some(first)
                && word.eq_ignore_ascii_case(entry.as_bytes())
        })
    }
}

/// Words that a text may begin with, in lower case and sorted.
#[derive(Debug)]
pub(super) struct Words {
    sorted: Vec<String>,
    longest: usize,
}

impl Words {
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut sorted: Vec<String> = words.map(str::to_ascii_lowercase).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let longest = sorted.iter().map(String::len).max().unwrap_or(0);
        Self { sorted, longest }
    }

    /// Bytes of the longest.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.sorted.iter().map(String::as_str)
    }

    /// Whether `word` is one of them, without ASCII case.
    pub(super) fn has(&self, word: &[u8]) -> bool {
        word.len() <= self.longest && self.prefixes(word).any(|len| len == word.len())
    }

    /// The lengths of the words that `text` begins with, without ASCII case.
    pub(super) fn prefixes<'s>(&'s self, text: &'s [u8]) -> impl Iterator<Item = usize> + 's {
        let mut left = self.sorted.as_slice();
        (0..=text.len().min(self.longest))
            .map_while(move |len| {
                if let Some(last) = len.checked_sub(1) {
                    let byte = text.get(last)?.to_ascii_lowercase();
                    let at = |word: &String| word.as_bytes().get(last).copied();
                    let start = left.partition_point(|word| at(word) < Some(byte));
                    let end = left.partition_point(|word| at(word) <= Some(byte));
                    left = left.get(start..end).filter(|left| !left.is_empty())?;
                }
                Some(left.first().is_some_and(|word| word.len() == len).then_some(len))
            })
            .flatten()
    }
}

/// Whether `word` is in a short list, without ASCII case.
pub(super) fn one_of(word: &[u8], list: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| word.eq_ignore_ascii_case(entry.as_bytes()))
}

/// Whether `text` begins with an entry of the list, without ASCII case.
pub(super) fn starts_with_any(text: &[u8], list: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| {
        text.get(..entry.len()).is_some_and(|start| start.eq_ignore_ascii_case(entry.as_bytes()))
    })
}

/// What stands before `end`, if `text` ends in it, without ASCII case.
pub(super) fn strip_end<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let (before, tail) = text.len().checked_sub(end.len()).and_then(|at| text.split_at_checked(at))?;
    tail.eq_ignore_ascii_case(end).then_some(before)
}

/// Whether `text` ends in an entry of the list, without ASCII case.
pub(super) fn ends_with_any(text: &[u8], list: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| strip_end(text, entry.as_bytes()).is_some())
}
