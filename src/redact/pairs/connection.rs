//! Connection strings and URLs under a name that promises them: of those only the credentials are secret.

use std::ops::Range;

use crate::redact::names::{NameClass, is_connection, secret_name};
use crate::redact::values;

/// What of a secret value is to be hidden: the credentials of a connection string, else all of it. `None`: it has none.
pub(super) fn secret_part(text: &[u8], name: &[u8], value: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.get(value.clone()).filter(|_| is_connection(name));
    match bytes.and_then(credentials) {
        Some(part) if part.is_empty() => None,
        Some(part) => Some(value.start + part.start..value.start + part.end),
        None => Some(value),
    }
}

/// The credentials of a connection string, empty if it holds none. `None`: it is of no form that is known here.
fn credentials(text: &[u8]) -> Option<Range<usize>> {
    match memchr::memmem::find(text, b"://") {
        Some(scheme)
            if text
                .iter()
                .take(scheme)
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-' | b':')) =>
        {
            in_url(text, scheme + 3)
        }
        _ => in_pairs(text),
    }
}

fn in_url(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    // A query may hold more; it and a user alone (a token?) are left to the whole.
    if rest.contains(&b'?') && in_query(rest) {
        return None;
    }
    let query = memchr::memchr(b'?', rest)
        .filter(|query| memchr::memchr(b'@', rest.get(*query..).unwrap_or_default()).is_none());
    let authority = rest.get(..query.unwrap_or(rest.len()))?;
    let Some(at) = memchr::memrchr(b'@', authority) else {
        let harmless =
            rest.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'/' | b'_'))
                && values::is_plain_url(text);
        return harmless.then_some(0..0);
    };
    let user = authority.get(..at)?;
    let Some(colon) = memchr::memchr(b':', user) else {
        // A word is a user, anything else may be a token.
        return values::is_word(user).then_some(0..0);
    };
    let secret = start + colon + 1..start + at;
    (!text.get(secret.clone())?.is_empty()).then_some(secret)
}

/// Whether a query names a secret.
fn in_query(url: &[u8]) -> bool {
    let names = url.split(|b| matches!(b, b'?' | b'&' | b';')).skip(1);
    names.filter_map(|pair| pair.split(|b| *b == b'=').next()).any(|name| secret_name(name) != NameClass::No)
}

/// `Server=x;Password=y;...`: from the first secret value to the end of the last.
fn in_pairs(text: &[u8]) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    let mut start = 0;
    let mut pairs = 0;
    for pair in text.split(|b| *b == b';') {
        let end = start + pair.len();
        let sign = memchr::memchr(b'=', pair);
        match sign {
            Some(sign) => {
                pairs += 1;
                if secret_name(pair.get(..sign)?) != NameClass::No && sign + 1 < pair.len() {
                    found = Some(found.map_or(start + sign + 1, |found| found.start)..end);
                }
            }
            // A piece of a value that holds a semicolon: nobody knows whose.
            None if !pair.trim_ascii().is_empty() => return None,
            None => {}
        }
        start = end + 1;
    }
    found.filter(|_| pairs > 1)
}
