//! Where a word begins, in text that may be escaped.

/// Whether a new word begins after `before`: its last byte is no ASCII letter or digit, or ends an escape.
pub(super) fn is_word_start(before: &[u8]) -> bool {
    match before.last() {
        None => true,
        Some(b'+' | b'/' | b'-' | b'_') => !ends_in_base64(before),
        Some(byte) if !byte.is_ascii_alphanumeric() => true,
        Some(_) => ends_in_escape(before),
    }
}

/// `\n`, `\t`, `\r`, `\b`, `\f`, `\v`, `\0`; `\xHH`; `\uHHHH`; `%HH`; `ESC[...m` written any way. Never looks back over
/// more than 8 bytes.
fn ends_in_escape(before: &[u8]) -> bool {
    let back = |n: usize| before.len().checked_sub(n).and_then(|at| before.get(at)).copied();
    let hex_run = |n: usize| (1..=n).all(|i| back(i).is_some_and(|b| b.is_ascii_hexdigit()));
    let letter = matches!(back(1), Some(b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'0'));
    (letter && back(2) == Some(b'\\'))
        || (hex_run(2) && (back(3) == Some(b'%') || (back(3) == Some(b'x') && back(4) == Some(b'\\'))))
        || (hex_run(4) && back(5) == Some(b'u') && back(6) == Some(b'\\'))
        || (back(1) == Some(b'm') && ends_in_colour(before))
}

/// Whether a long run of random base64 ends here, in which any short prefix occurs: a picture, compiled code, a hash.
fn ends_in_base64(before: &[u8]) -> bool {
    const RUN: usize = 64;
    let Some(run) = before.len().checked_sub(RUN).and_then(|at| before.get(at..)) else { return false };
    let count = |class: fn(&u8) -> bool| run.iter().filter(|b| class(b)).count();
    let signs = count(|b| matches!(b, b'+' | b'/')).max(count(|b| matches!(b, b'-' | b'_')));
    let letters = [count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit)];
    letters.iter().sum::<usize>() + signs == RUN
        && letters.iter().zip([12, 6, 0]).all(|(n, least)| *n >= least)
        && signs <= RUN / 8
}

/// `[` then digits and `;`, then the `m` that is already known: a colour, whatever stands for the escape byte.
fn ends_in_colour(before: &[u8]) -> bool {
    let parameters =
        before.iter().rev().skip(1).take(7).take_while(|b| b.is_ascii_digit() || **b == b';').count();
    before.len().checked_sub(parameters + 2).and_then(|at| before.get(at)) == Some(&b'[')
}
