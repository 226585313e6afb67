//! Phone numbers: calling codes and how long the number behind each is (ITU-T E.164, national numbering plans).

use super::digits;

/// Calling codes, and the least and most digits that follow.
const PLANS: [(u32, usize, usize); 83] = [
    (1, 10, 10),
    (7, 10, 10),
    (20, 8, 10),
    (27, 9, 9),
    (30, 10, 10),
    (31, 9, 9),
    (32, 8, 9),
    (33, 9, 9),
    (34, 9, 9),
    (36, 8, 9),
    (39, 8, 11),
    (40, 9, 9),
    (41, 9, 9),
    (43, 8, 12),
    (44, 9, 10),
    (45, 8, 8),
    (46, 7, 9),
    (47, 8, 8),
    (48, 9, 9),
    (49, 8, 11),
    (51, 8, 9),
    (52, 10, 10),
    (53, 8, 8),
    (54, 10, 11),
    (55, 10, 11),
    (56, 9, 9),
    (57, 10, 10),
    (58, 10, 10),
    (60, 8, 10),
    (61, 9, 9),
    (62, 9, 12),
    (63, 10, 10),
    (64, 8, 10),
    (65, 8, 8),
    (66, 8, 9),
    (81, 9, 10),
    (82, 9, 10),
    (84, 9, 10),
    (86, 10, 11),
    (90, 10, 10),
    (91, 10, 10),
    (92, 10, 10),
    (93, 9, 9),
    (94, 9, 9),
    (95, 8, 10),
    (98, 10, 10),
    (212, 9, 9),
    (213, 8, 9),
    (216, 8, 8),
    (233, 9, 9),
    (234, 8, 10),
    (254, 9, 9),
    (351, 9, 9),
    (352, 6, 9),
    (353, 7, 9),
    (354, 7, 7),
    (356, 8, 8),
    (357, 8, 8),
    (358, 7, 10),
    (359, 8, 9),
    (370, 8, 8),
    (371, 8, 8),
    (372, 7, 8),
    (373, 8, 8),
    (374, 8, 8),
    (375, 9, 9),
    (380, 9, 9),
    (381, 8, 9),
    (385, 8, 9),
    (386, 8, 8),
    (420, 9, 9),
    (421, 9, 9),
    (852, 8, 8),
    (880, 10, 10),
    (886, 8, 9),
    (961, 7, 8),
    (965, 8, 8),
    (966, 9, 9),
    (971, 8, 9),
    (972, 8, 9),
    (974, 8, 8),
    (994, 9, 9),
    (998, 9, 9),
];

/// A number with `+` and its calling code. A line of a diff that begins with a date or a count is none.
pub(super) fn is_international(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let number = |length: usize| digits.iter().take(length).fold(0, |number, digit| number * 10 + digit);
    let plan = PLANS.iter().find(|(code, _, _)| number(code.to_string().len()) == *code);
    let Some((code, least, most)) = plan else { return false };
    let length = digits.len() - code.to_string().len();
    // Area codes of North America begin with 2 to 9.
    let area = *code != 1 || digits.get(1).is_some_and(|first| *first > 1);
    // `(0)` is often written though it isn't dialled.
    let trunk = usize::from(candidate.windows(3).any(|window| window == b"(0)"));
    area && (*least + trunk..=*most + trunk).contains(&length) && !is_date(candidate)
}

/// `+2024-01-02`.
fn is_date(candidate: &[u8]) -> bool {
    let Some(rest) =
        candidate.strip_prefix(b"+").filter(|rest| rest.starts_with(b"20") || rest.starts_with(b"19"))
    else {
        return false;
    };
    let separator = |at: usize| rest.get(at).is_some_and(|b| matches!(b, b'-' | b'.' | b' '));
    separator(4) && separator(7)
}

/// Where the text says that it is a phone number, only the count of digits is left to look at.
pub(super) fn has_digits_of_one(candidate: &[u8]) -> bool {
    (7..=15).contains(&digits(candidate).len())
}
