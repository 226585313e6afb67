//! Lists of words, each list one text with blanks between: the tables of `names` and `values` read as prose and allocate
//! nothing.

/// Whether `word` is in the list, without ASCII case.
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
