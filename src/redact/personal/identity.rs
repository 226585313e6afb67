//! Numbers that states give to people, by their published checks. A number without a check is told by its form alone, and
//! only where the form is a rare one.

use super::{digits, remainder, satisfies_luhn};

/// Sum of digits times weights.
fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The digits as a number: two of them, from a place.
fn pair(digits: &[u32], at: usize) -> Option<u32> {
    digits.get(at..at + 2)?.iter().copied().reduce(|tens, ones| tens * 10 + ones)
}

fn is_date(month: Option<u32>, day: Option<u32>) -> bool {
    month.is_some_and(|month| (1..=12).contains(&month)) && day.is_some_and(|day| (1..=31).contains(&day))
}

/// United States: area not 000, 666 or 9xx, group and serial not zero (SSA, POMS RM 10201.035).
pub(super) fn us_ssn(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let part = |range: std::ops::Range<usize>| {
        digits.get(range).map(|part| part.iter().fold(0, |number, digit| number * 10 + digit))
    };
    let (area, group, serial) = (part(0..3), part(3..5), part(5..9));
    digits.len() == 9
        && area.is_some_and(|area| area != 0 && area != 666 && area < 900)
        && group.is_some_and(|group| group != 0)
        && serial.is_some_and(|serial| serial != 0)
}

/// United Kingdom: some prefixes are never given (HMRC, NIM39110). `QQ` is that of examples.
pub(super) fn uk_nino(candidate: &[u8]) -> bool {
    let prefix = candidate.get(..2).unwrap_or_default();
    ![b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"].iter().any(|never| *never == prefix)
}

/// Germany: one digit twice or three times among the first ten, ISO 7064 MOD 11,10.
pub(super) fn de_steuer_id(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let Some((check, first)) = digits.split_last().filter(|(_, first)| first.len() == 10) else {
        return false;
    };
    let count = |digit: u32| first.iter().filter(|d| **d == digit).count();
    let counts: Vec<usize> = (0..10).map(count).collect();
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let product = first.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    first.first() != Some(&0)
        && repeated == 1
        && counts.iter().all(|count| *count <= 3)
        && (11 - product) % 10 == *check
}

/// France: 97 less the number modulo 97; `2A` and `2B` stand for 19 and 18.
pub(super) fn fr_nir(candidate: &[u8]) -> bool {
    let text: Vec<u8> = candidate.iter().copied().filter(|b| *b != b' ').collect();
    let corsica =
        text.get(5..7).filter(|department| department.starts_with(b"2")).and_then(|d| d.get(1).copied());
    let as_digits: Vec<u8> = match corsica {
        Some(letter @ (b'A' | b'B')) => {
            let department: &[u8] = if letter == b'A' { b"19" } else { b"18" };
            [text.get(..5).unwrap_or_default(), department, text.get(7..).unwrap_or_default()].concat()
        }
        _ => text,
    };
    let digits = digits(&as_digits);
    let Some((number, key)) = digits.split_at_checked(13) else { return false };
    key.len() == 2 && pair(key, 0) == Some(97 - remainder(number.iter().copied(), 97))
}

/// Spain: the letter is the number modulo 23; `X`, `Y`, `Z` of foreigners stand for 0, 1, 2.
pub(super) fn es_dni(candidate: &[u8]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let Some((letter, rest)) = candidate.split_last() else { return false };
    let (first, rest) = match rest.split_first() {
        Some((b'X', rest)) => (Some(0), rest),
        Some((b'Y', rest)) => (Some(1), rest),
        Some((b'Z', rest)) => (Some(2), rest),
        _ => (None, rest),
    };
    let number: Vec<u32> = first.into_iter().chain(digits(rest)).collect();
    number.len() == 8
        && LETTERS.get(remainder(number, 23) as usize).is_some_and(|expected| expected == letter)
}

/// Italy: the last letter checks the others, with values of their own on odd places (D.M. 23/12/1976).
pub(super) fn it_codice_fiscale(candidate: &[u8]) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let Some((check, rest)) = candidate.split_last().filter(|(_, rest)| rest.len() == 15) else {
        return false;
    };
    let sum = rest.iter().enumerate().try_fold(0, |sum, (at, byte)| {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A',
            _ => return None,
        };
        Some(sum + if at % 2 == 0 { *ODD.get(usize::from(value))? } else { u32::from(value) })
    });
    sum.is_some_and(|sum: u32| sum % 26 + u32::from(b'A') == u32::from(*check))
}

/// The Netherlands: the test of eleven, with minus one for the last digit.
pub(super) fn nl_bsn(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let Some((last, first)) = digits.split_last().filter(|(_, first)| first.len() == 8) else { return false };
    let sum = weighted(first, &[9, 8, 7, 6, 5, 4, 3, 2]);
    sum != 0 && sum % 11 == *last
}

/// Poland: a date whose month tells the century, and a weighted sum. Births before 1900 and after 2099 are left out.
pub(super) fn pl_pesel(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let month = pair(&digits, 2).map(|month| if month > 20 { month - 20 } else { month });
    digits.len() == 11
        && is_date(month, pair(&digits, 4))
        && weighted(&digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
}

/// Sweden: a date (the day plus 60 for a coordination number) and Luhn over the last ten digits.
pub(super) fn se_personnummer(candidate: &[u8]) -> bool {
    let all = digits(candidate);
    let digits = all.get(all.len().saturating_sub(10)..).unwrap_or_default();
    let day = pair(digits, 4).map(|day| if day > 60 { day - 60 } else { day });
    matches!(all.len(), 10 | 12) && is_date(pair(digits, 2), day) && satisfies_luhn(digits)
}

/// Finland: the letter is the nine digits modulo 31.
pub(super) fn fi_hetu(candidate: &[u8]) -> bool {
    const LETTERS: &[u8; 31] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    let Some((check, rest)) = candidate.split_last() else { return false };
    let digits = digits(rest);
    digits.len() == 9
        && is_date(pair(&digits, 2), pair(&digits, 0))
        && LETTERS.get(remainder(digits, 31) as usize).is_some_and(|expected| expected == check)
}

/// Belgium: 97 less the nine digits modulo 97, with a 2 in front for births from 2000 on.
pub(super) fn be_rijksregister(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let Some((number, key)) = digits.split_at_checked(9).filter(|(_, key)| key.len() == 2) else {
        return false;
    };
    let key = pair(key, 0);
    let check = |century: Option<u32>| 97 - remainder(century.into_iter().chain(number.iter().copied()), 97);
    is_date(pair(number, 2), pair(number, 4)) && (key == Some(check(None)) || key == Some(check(Some(2))))
}

/// Brazil: two check digits, each a weighted sum modulo 11. Numbers of one digit throughout satisfy them and are none.
pub(super) fn br_cpf(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let check = |upto: usize, weights: &[u32]| {
        let rest = weighted(digits.get(..upto).unwrap_or_default(), weights) * 10 % 11;
        Some(rest % 10) == digits.get(upto).copied()
    };
    digits.len() == 11
        && digits.windows(2).any(|pair| pair.first() != pair.last())
        && check(9, &[10, 9, 8, 7, 6, 5, 4, 3, 2])
        && check(10, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
}

/// Switzerland: 756 and the check of EAN-13.
pub(super) fn ch_ahv(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    digits.len() == 13
        && digits.starts_with(&[7, 5, 6])
        && weighted(&digits, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
}

/// China: a date in the middle and ISO 7064 MOD 11-2; `X` is ten (GB 11643).
pub(super) fn cn_id(candidate: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let Some((check, rest)) = candidate.split_last() else { return false };
    let digits = digits(rest);
    let check = match check {
        b'0'..=b'9' => u32::from(check - b'0'),
        b'X' | b'x' => 10,
        _ => return false,
    };
    digits.len() == 17
        && is_date(pair(&digits, 10), pair(&digits, 12))
        && (12 - weighted(&digits, &WEIGHTS) % 11) % 11 == check
}

/// India: the check of Verhoeff, over the dihedral group of ten.
pub(super) fn in_aadhaar(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let check =
        digits.iter().rev().enumerate().fold(0, |sum, (at, digit)| dihedral(sum, permuted(at, *digit)));
    digits.len() == 12 && digits.first().is_some_and(|first| *first > 1) && check == 0
}

/// The product of two elements of the dihedral group of order ten: rotations 0 to 4, reflections 5 to 9.
fn dihedral(one: u32, other: u32) -> u32 {
    match (one < 5, other < 5) {
        (true, true) => (one + other) % 5,
        (true, false) => (one + other) % 5 + 5,
        (false, true) => (one + 5 - other) % 5 + 5,
        (false, false) => (one + 5 - other) % 5,
    }
}

/// Verhoeff's permutation, applied `times` times.
fn permuted(times: usize, digit: u32) -> u32 {
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    (0..times % 8).fold(digit, |digit, _| PERMUTATION.get(digit as usize).copied().unwrap_or(digit))
}
