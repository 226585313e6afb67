//! Where a text may be cut: at a character boundary, and not inside a marker.

const OPENING: &[u8] = b"[REDACTED";
/// A marker is no longer than this: a kind, and perhaps a correlation suffix.
const LONGEST_MARKER: usize = 128;

/// The largest cut, at most `limit`, that splits neither a UTF-8 character nor a `[REDACTED...]` marker.
///
/// A marker at the very beginning stays, even if it is longer than `limit`: it says more than an empty text.
pub(super) fn at(text: &[u8], limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let cut = match marker_across(text, limit) {
        Some((0, end)) => return end,
        Some((start, _)) => start,
        None => limit,
    };
    // A character has at most three continuation bytes; more of them are not UTF-8, and cut anywhere.
    let is_continuation = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (0..=3).map(|back| cut.saturating_sub(back)).find(|&at| !is_continuation(at)).unwrap_or(cut)
}

/// Start and end of the marker that stands on both sides of `cut`.
fn marker_across(text: &[u8], cut: usize) -> Option<(usize, usize)> {
    let earliest = cut.saturating_sub(LONGEST_MARKER);
    (earliest..=cut).rev().find_map(|start| {
        let rest = text.get(start..)?;
        let length = 1 + rest.iter().take(LONGEST_MARKER).position(|&byte| byte == b']')?;
        let spans_cut = start + length > cut && (start < cut || start == 0);
        (rest.starts_with(OPENING) && spans_cut).then_some((start, start + length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters_and_outside_of_markers() {
        assert_eq!(at(b"abc", 5), 3);
        assert_eq!(at(b"abcdef", 4), 4);
        assert_eq!(at("aé€".as_bytes(), 2), 1);
        assert_eq!(at("aé€".as_bytes(), 5), 3);
        let text = b"key [REDACTED:jwt] rest";
        for limit in 4..18 {
            assert_eq!(at(text, limit), 4, "limit {limit}");
        }
        assert_eq!(at(text, 18), 18);
        assert_eq!(at(b"[REDACTED:jwt] rest", 0), 14);
        assert_eq!(at(b"[REDACTED:jwt] rest", 9), 14);
        assert_eq!(at(b"[REDACTED:jwt] rest", 16), 16);
        assert_eq!(at(b"key [REDACTED never closed, so no marker", 15), 15);
        assert_eq!(at(&[0x80; 9], 6), 6);
    }
}
