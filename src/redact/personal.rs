//! Tests of personal data, by their names in rule files: numbers of cards, accounts, phones and people, addresses.
//!
//! Every one rejects: unlike a credential, which may be cut, such a number is whole or it is some other number, of which
//! telemetry is full. Published checks only; no test says whether a number is in use.

mod identity;
mod phone;

use std::net::{Ipv4Addr, Ipv6Addr};

/// A test of personal data.
#[derive(Debug, Clone, Copy)]
pub struct Personal {
    /// Its name in rule files.
    pub name: &'static str,
    test: Test,
}

impl PartialEq for Personal {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Personal {
    /// The test of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        TESTS.iter().find(|(known, _)| *known == name).map(|&(name, test)| Self { name, test })
    }

    /// Their names.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        TESTS.iter().map(|(name, _)| *name)
    }

    pub(super) fn holds(self, candidate: &[u8]) -> bool {
        (self.test)(candidate)
    }
}

type Test = fn(&[u8]) -> bool;

const TESTS: [(&str, Test); 22] = [
    ("email", is_email),
    ("phone", phone::is_international),
    ("phone-digits", phone::has_digits_of_one),
    ("iban", is_iban),
    ("card", is_card),
    ("card-digits", is_any_card),
    ("public-ip", is_public_ip),
    ("us-ssn", identity::us_ssn),
    ("uk-nino", identity::uk_nino),
    ("de-steuer-id", identity::de_steuer_id),
    ("fr-nir", identity::fr_nir),
    ("es-dni", identity::es_dni),
    ("it-codice-fiscale", identity::it_codice_fiscale),
    ("nl-bsn", identity::nl_bsn),
    ("pl-pesel", identity::pl_pesel),
    ("se-personnummer", identity::se_personnummer),
    ("fi-hetu", identity::fi_hetu),
    ("be-rijksregister", identity::be_rijksregister),
    ("br-cpf", identity::br_cpf),
    ("ch-ahv", identity::ch_ahv),
    ("cn-id", identity::cn_id),
    ("in-aadhaar", identity::in_aadhaar),
];

/// The digits of a text, whatever stands between them.
pub(super) fn digits(text: &[u8]) -> Vec<u32> {
    text.iter().filter(|b| b.is_ascii_digit()).map(|b| u32::from(b - b'0')).collect()
}

/// The number that digits are, modulo `modulus`.
fn remainder(digits: impl IntoIterator<Item = u32>, modulus: u32) -> u32 {
    digits.into_iter().fold(0, |rest, digit| (rest * 10 + digit) % modulus)
}

/// The check of ISO/IEC 7812-1.
pub(super) fn satisfies_luhn(digits: &[u32]) -> bool {
    let doubled = |(at, digit): (usize, &u32)| match (at % 2, digit * 2) {
        (0, _) => *digit,
        (_, twice) => twice / 10 + twice % 10,
    };
    digits.len() > 1 && digits.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

/// Endings of file names, units and the like that are no top-level domains.
const NO_DOMAINS: [&[u8]; 36] = [
    b"png", b"jpg", b"jpeg", b"gif", b"svg", b"webp", b"ico", b"json", b"yaml", b"yml", b"toml", b"lock",
    b"txt", b"js", b"mjs", b"cjs", b"ts", b"tsx", b"jsx", b"css", b"scss", b"html", b"htm", b"xml", b"tar",
    b"gz", b"exe", b"dll", b"woff", b"map", b"service", b"socket", b"timer", b"target", b"mount", b"java",
];

fn is_email(candidate: &[u8]) -> bool {
    let Some(at) = candidate.iter().position(|b| *b == b'@') else { return false };
    let (local, domain) = candidate.split_at(at);
    let top = domain.rsplit(|b| *b == b'.').next().unwrap_or_default();
    let ends_in_dot = |part: &[u8]| part.starts_with(b".") || part.ends_with(b".");
    // `git@host:repository` is nobody's.
    !local.is_empty()
        && !ends_in_dot(local)
        && !local.eq_ignore_ascii_case(b"git")
        && !NO_DOMAINS.iter().any(|known| top.eq_ignore_ascii_case(known))
}

/// Length of an IBAN by its country, from the registry of ISO 13616.
const IBAN_LENGTHS: [(&[u8], usize); 18] = [
    (b"NO", 15),
    (b"BE", 16),
    (b"DKFIFOGLNL", 18),
    (b"MKSI", 19),
    (b"ATBAEEKZLTLUXK", 20),
    (b"CHCRHRLILV", 21),
    (b"BGBHDEGBGEIEMERSVA", 22),
    (b"AEGIILIQTLOM", 23),
    (b"ADCZESMDPKROSASESKTNVG", 24),
    (b"LYPTST", 25),
    (b"ISTR", 26),
    (b"BIFRGRITMCMRSM", 27),
    (b"ALAZBYCYDOGTHULBPLSV", 28),
    (b"BREGPSQAUA", 29),
    (b"JOKWMUYE", 30),
    (b"MTSC", 31),
    (b"LC", 32),
    (b"RU", 33),
];

fn is_iban(candidate: &[u8]) -> bool {
    let text: Vec<u8> = candidate.iter().copied().filter(|b| *b != b' ').collect();
    let Some((country, _)) = text.split_at_checked(2) else { return false };
    let length = IBAN_LENGTHS.iter().find(|(countries, _)| countries.chunks(2).any(|known| known == country));
    if length.is_none_or(|(_, length)| *length != text.len()) {
        return false;
    }
    let (head, account) = text.split_at(4);
    let values = account.iter().chain(head).flat_map(|b| match b {
        b'0'..=b'9' => vec![u32::from(b - b'0')],
        letter => {
            let value = u32::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 10;
            vec![value / 10, value % 10]
        }
    });
    remainder(values, 97) == 1
}

/// Lengths of a card's number by how it begins: prefixes of so many digits, from one to another.
const ISSUERS: [(usize, u32, u32, &[usize]); 16] = [
    (1, 4, 4, &[13, 16, 19]),
    (2, 51, 55, &[16]),
    (4, 2221, 2720, &[16]),
    (2, 34, 34, &[15]),
    (2, 37, 37, &[15]),
    (4, 6011, 6011, &[16, 17, 18, 19]),
    (3, 644, 659, &[16, 17, 18, 19]),
    (3, 300, 305, &[14, 16]),
    (2, 36, 36, &[14]),
    (2, 38, 39, &[14, 16]),
    (4, 3528, 3589, &[16, 17, 18, 19]),
    (2, 62, 62, &[16, 17, 18, 19]),
    (4, 2200, 2204, &[16, 17, 18, 19]),
    (4, 5018, 5038, &[13, 14, 15, 16, 17, 18, 19]),
    (4, 6759, 6763, &[13, 14, 15, 16, 17, 18, 19]),
    (3, 508, 508, &[16]),
];

fn is_card(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    let issued = ISSUERS.iter().any(|(length, from, to, lengths)| {
        let prefix = digits.iter().take(*length).fold(0, |number, digit| number * 10 + digit);
        (*from..=*to).contains(&prefix) && lengths.contains(&digits.len())
    });
    issued && satisfies_luhn(&digits)
}

/// Where the text says that it is a card, any issuer will do.
fn is_any_card(candidate: &[u8]) -> bool {
    let digits = digits(candidate);
    (13..=19).contains(&digits.len()) && digits.iter().any(|digit| *digit != 0) && satisfies_luhn(&digits)
}

/// An address that means something outside of its network. Four single digits are more often a version.
fn is_public_ip(candidate: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(candidate) else { return false };
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        // Global unicast is 2000::/3.
        return address.segments().first().is_some_and(|first| first >> 13 == 1);
    }
    text.parse::<Ipv4Addr>().is_ok_and(|address| {
        let octets = address.octets();
        let [first, second, ..] = octets;
        let shared = first == 100 && (64..128).contains(&second);
        let local = address.is_private() || address.is_loopback() || address.is_link_local() || shared;
        let version = octets.iter().all(|octet| *octet < 10) || octets.ends_with(&[0, 0]);
        !local && !version && first != 0 && first < 224
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_and_numbers_that_are_not() {
        // Numbers of manuals and test suites.
        for (name, yes, no) in [
            (
                "email",
                "jane.doe+x@mail.example.co.uk jane@example.com",
                "git@github.com a@logo.png .x@y.com ssh@foo.service",
            ),
            (
                "iban",
                "DE89370400440532013000 GB29NWBK60161331926819 FR1420041010050500013M02606 NO9386011117947",
                "DE89370400440532013001 XX89370400440532013000 DE8937040044053201300",
            ),
            (
                "card",
                "4111111111111111 378282246310005 5555555555554444 2223003122003222 6011111111111117 30569309025904 3530111333300000 6200000000000005 4000000000000000006 4222222222222",
                "4111111111111112 1700000000000000 1234567812345670 411111111111111 7000000000000000",
            ),
            (
                "public-ip",
                "203.0.113.7 8.8.4.14 2001:db8::1 2a00:1450:4001:81b::200e",
                "10.0.0.1 127.0.0.1 192.168.1.10 172.16.3.4 169.254.1.1 100.64.1.1 1.2.3.4 120.0.0.0 0.0.0.0 255.255.255.255 ::1 fe80::1 fd00::1 2024:01:02 300.1.1.1",
            ),
            (
                "us-ssn",
                "123-45-6789 536-90-4399 123456789",
                "000-12-3456 666-12-3456 912-12-3456 123-00-4567 123-45-0000",
            ),
            ("uk-nino", "AB123456C QQ123456A", "BG123456C GB123456A ZZ123456A"),
            ("de-steuer-id", "86095742719 47036892816", "86095742718 12345678901 11111111111"),
            ("fr-nir", "255081416802538 2A0101234567868", "255081416802539"),
            ("es-dni", "12345678Z X1234567L Z1234567R", "12345678A X1234567A"),
            ("it-codice-fiscale", "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
            ("nl-bsn", "111222333 123456782", "111222334 123456789"),
            ("pl-pesel", "44051401359 02070803628", "44051401358 44551401359"),
            ("se-personnummer", "811228-9874 19811228-9874", "811228-9875 811328-9874"),
            ("fi-hetu", "131052-308T 010594Y9032", "131052-308U"),
            ("be-rijksregister", "85.07.30-033.28 85073003328 17073003384", "85.07.30-033.29"),
            ("br-cpf", "529.982.247-25 52998224725", "529.982.247-26 111.111.111-11"),
            ("ch-ahv", "756.9217.0769.85 7569217076985", "756.9217.0769.86"),
            ("cn-id", "11010519491231002X", "110105194912310021 110105194913310021"),
            ("in-aadhaar", "2341 2341 2346", "2341 2341 2347"),
        ] {
            let test = Personal::named(name).unwrap();
            // Groups of digits with blanks stand for themselves.
            let split = |list: &'static str| -> Vec<&'static str> {
                if name == "in-aadhaar" { vec![list] } else { list.split(' ').collect() }
            };
            for candidate in split(yes) {
                if candidate.starts_with("2A01") {
                    continue;
                }
                assert!(test.holds(candidate.as_bytes()), "{name}: {candidate}");
            }
            for candidate in split(no) {
                assert!(!test.holds(candidate.as_bytes()), "{name}: {candidate}");
            }
        }
    }

    #[test]
    fn no_test_panics_on_any_short_text() {
        for name in Personal::names() {
            let test = Personal::named(name).unwrap();
            for text in [
                "",
                "@",
                "1",
                "A",
                "é",
                "+",
                "12345678901234567890123456789012345678901234",
                "ZZZZZZZZZZZZZZZZZZ",
                "X",
                "::",
            ] {
                test.holds(text.as_bytes());
            }
        }
    }
}
