//! Durations as Go writes them: `10s`, `1m30s`, `500ms`, `1.5h`.

use std::time::Duration;

/// Units of Go's `time.ParseDuration`, in nanoseconds. Longer spellings come first where one is the prefix of another.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// What a duration should look like, for problems.
pub(crate) const EXPECTED: &str = "a duration such as 10s, 1m30s or 500ms";

/// Reads a duration that is not negative. `None`: it is not one, or it does not fit.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut total = 0u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let (unit, scale) = UNITS.into_iter().find(|(unit, _)| {
            after.strip_prefix(unit).is_some_and(|next| !next.starts_with(|c: char| c.is_alphabetic()))
        })?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(scale)?)?;
        // Digit by digit, so that 0.1s is exactly 100 ms.
        let mut place = scale;
        for digit in fraction.chars() {
            place /= 10;
            total = total.checked_add(u64::from(digit.to_digit(10)?).checked_mul(place)?)?;
        }
        rest = after.strip_prefix(unit)?;
    }
    Some(Duration::from_nanos(total))
}

/// Writes a duration so that [`parse`] reads the same one.
pub(crate) fn show(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    for unit in ["h", "m", "s", "ms", "us", "ns"] {
        let scale = UNITS.into_iter().find(|(name, _)| *name == unit).map_or(1, |(_, scale)| scale);
        if rest >= scale {
            out.push_str(&format!("{}{unit}", rest / scale));
            rest %= scale;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_writes() {
        for (text, ms) in [
            ("0", 0),
            ("0s", 0),
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("500ms", 500),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("1h0m0.25s", 3_600_250),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(parse("3µs"), Some(Duration::from_micros(3)));
        for text in ["", "10", "s", "-1s", "1 s", "1sec", "1d", "..s", "99999999999h", "1.2.3s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn writes_what_it_reads(nanos in 0u64..) {
            let duration = Duration::from_nanos(nanos);
            proptest::prop_assert_eq!(parse(&show(duration)), Some(duration));
        }
    }
}
