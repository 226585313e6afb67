//! Words and names against random characters: what people call things has words in it, what machines make has none. Part of
//! `values`.

use super::wordlist::one_of;

/// Names (no digits but at the end of a name) joined by `.`, `:`, `-`, `>`, `?`, `!`, `&`.
pub(super) fn is_path_of_names(text: &[u8]) -> bool {
    text.split(|b| matches!(b, b'.' | b':' | b'-' | b'>' | b'?' | b'!' | b'&' | b'*'))
        .all(|name| name.is_empty() || is_identifier(name))
}

/// Words joined by `_` or humps, each with at most three digits at its end: what people call things.
pub(super) fn is_identifier(text: &[u8]) -> bool {
    let first_is_letter = text.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'$');
    first_is_letter
        && text.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
        && is_wordy(text)
}

/// Whether every piece between signs is a word, a number, or words with a few short numbers among them (`sha256`, `page2`,
/// `Chacha20Poly1305`), and none is a random run of letters.
pub(super) fn is_wordy(text: &[u8]) -> bool {
    text.split(|b| !b.is_ascii_alphanumeric()).all(is_wordy_piece)
}

fn is_wordy_piece(piece: &[u8]) -> bool {
    let mut rest = piece;
    let mut numbers = 0;
    while !rest.is_empty() {
        let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let (word, after) = rest.split_at(letters);
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, next) = after.split_at(digits);
        // After a number: a new word in capitals or a capital, or a syllable (`sha256sum`).
        let continues = numbers == 0
            || word.is_empty()
            || (word.len() >= 3 && word.first().is_some_and(u8::is_ascii_uppercase))
            || (word.len() <= 6 && numbers == 1 && word.iter().all(u8::is_ascii_lowercase));
        let short = digits <= 4 || number == b"25519";
        if is_random_letters(word) || !continues || (!short && numbers + letters > 0) {
            return false;
        }
        // `abc123def`: a syllable after a number of three digits is no word any more.
        if digits > 2 && next.first().is_some_and(u8::is_ascii_lowercase) && !is_known_number(number) {
            return false;
        }
        numbers += usize::from(digits > 0);
        rest = next;
    }
    numbers <= 2
}

/// Numbers that names hold.
fn is_known_number(number: &[u8]) -> bool {
    one_of(number, "128 192 224 256 384 512 1024 2048 4096 25519 509 100 200 404 500")
}

/// A run of letters that is no word or camelCase name: long without a break, or changing case all the time.
pub(super) fn is_random_letters(run: &[u8]) -> bool {
    let letters = run.iter().filter(|b| b.is_ascii_alphabetic()).count();
    if letters < 10 {
        return false;
    }
    let pairs = run
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let humps = pairs.count() + 1;
    let uppers = run.iter().filter(|b| b.is_ascii_uppercase()).count();
    let single_case = uppers == 0 || uppers == letters;
    if single_case {
        letters >= 26 || vowels(run) * 6 < letters
    } else {
        letters < humps * 3 || letters > humps * 24
    }
}

fn vowels(run: &[u8]) -> usize {
    run.iter().filter(|b| matches!(b.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y')).count()
}

pub(super) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}
