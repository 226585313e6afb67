//! What is never a secret, whatever its name: nothing, markers, references to where the secret is kept, placeholders, public
//! keys and ciphertext. Part of `values`, which says what of the rest looks like a secret.

use super::marker;
use super::wordlist::{ends_with_any, one_of, starts_with_any};

/// Longest placeholder or reference; anything longer is judged by its looks.
const MAX_INERT: usize = 256;

/// Whether a value is no secret whatever its name: empty, a marker of ours, a reference (`${VAR}`, `os.environ["X"]`),
/// a placeholder (`<your-key>`, `***`, `changeme`), null or a boolean, a public key, ciphertext.
pub fn is_inert(value: &[u8]) -> bool {
    // Manual pages set in italics what the reader has to fill in.
    if value.starts_with(b"\\fI") && value.len() <= MAX_INERT {
        return true;
    }
    let value = trim(value);
    if value.is_empty() {
        return true;
    }
    if is_marked(value) || is_public_or_sealed(value) {
        return true;
    }
    value.len() <= MAX_INERT
        && (is_nothing(value)
            || is_masked(value)
            || is_version(value)
            || is_reference(value)
            || is_placeholder(value)
            || is_file(value))
}

/// Without blanks and quotes around it.
pub(super) fn trim(value: &[u8]) -> &[u8] {
    let is_edge = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let mut value = value;
    loop {
        let Some(start) = value.iter().position(|b| !is_edge(b)) else { return &[] };
        let end = value.iter().rposition(|b| !is_edge(b)).map_or(0, |at| at + 1);
        let inside = value.get(start..end).unwrap_or_default();
        // The fonts of manual pages: `\fBpassword\fR`.
        let (before, after) = (value.get(..start).unwrap_or_default(), inside);
        let opens = before.ends_with(b"\\") && matches!(after, [b'f', b'B' | b'I' | b'R' | b'P', ..]);
        let closes = matches!(inside, [.., b'\\', b'f', b'B' | b'I' | b'R' | b'P']);
        value = match inside {
            [_, _, rest @ ..] if opens => rest,
            [rest @ .., _, _, _] if closes => rest,
            _ => match unescaped(inside) {
                Some(rest) => rest,
                None => return inside,
            },
        };
    }
}

/// Without an escaped quote of HTML at one end.
fn unescaped(value: &[u8]) -> Option<&[u8]> {
    const QUOTES: [&[u8]; 4] = [b"&quot;", b"&#34;", b"&#39;", b"&apos;"];
    QUOTES.iter().find_map(|quote| value.strip_prefix(*quote).or_else(|| value.strip_suffix(*quote)))
}

/// Our markers, and around them nothing that could be a secret: `Bearer [REDACTED:jwt]`, `sid=[REDACTED:secret]; Path=/`.
fn is_marked(value: &[u8]) -> bool {
    marker::is_only(value, is_bland)
}

/// No word of 6 characters or more with a digit in it, and none over 24.
fn is_bland(text: &[u8]) -> bool {
    text.split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+')))
        .all(|word| word.len() <= 24 && (word.len() < 6 || !word.iter().any(u8::is_ascii_digit)))
}

const NOTHING: &str = "none null nil undefined true false yes no on off n/a na nan unset empty void () {} [] nothing <nil> \
    <none> (null) (none) [secure] tbd todo ? latest";

fn is_nothing(value: &[u8]) -> bool {
    one_of(value, NOTHING)
}

/// What a package manager writes after the name of a package, some of which are called `cookie` or `password`: `^0.7.1`, `>=1.2 <2`,
/// `1.0.0-beta.2`.
fn is_version(value: &[u8]) -> bool {
    let one = |spec: &[u8]| {
        let number = trim_signs(spec, b"^~<>=!v");
        let (number, suffix) = match number.iter().position(|b| matches!(b, b'-' | b'+')) {
            Some(at) => number.split_at(at),
            None => (number, &[][..]),
        };
        let dotted = number.contains(&b'.')
            && number.split(|b| *b == b'.').all(|part| {
                matches!(part, b"*" | b"x")
                    || (!part.is_empty() && part.len() <= 6 && part.iter().all(u8::is_ascii_digit))
            });
        let release = suffix.len() <= 16
            && suffix.split(|b| !b.is_ascii_alphanumeric()).all(|part| {
                part.len() <= 9
                    && (part.iter().all(u8::is_ascii_digit) || part.iter().all(u8::is_ascii_alphabetic))
            });
        dotted && release
    };
    value
        .first()
        .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'^' | b'~' | b'<' | b'>' | b'=' | b'!' | b'v'))
        && value
            .split(|b| matches!(b, b' ' | b'|' | b','))
            .filter(|spec| {
                !spec.is_empty() && *spec != b"-" && !spec.iter().all(|b| matches!(b, b'<' | b'>' | b'='))
            })
            .all(one)
}

const HIDDEN: &str =
    "redacted masked hidden filtered censored scrubbed removed sensitive obfuscated truncated";

/// Hidden already: `***`, `xxxxx`, `sk-...abcd`, `[FILTERED]`.
fn is_masked(value: &[u8]) -> bool {
    let text = trim_signs(value, b"[]<>(){}*#_- ");
    if one_of(text, HIDDEN) || text.is_empty() {
        return true;
    }
    if value.len() >= 3 && value.iter().all(|b| matches!(b, b'x' | b'X' | b'-' | b'_' | b'.')) {
        return true;
    }
    // The first and last few characters may show, as vendors' consoles do.
    let is_mask = |b: &u8| matches!(b, b'*' | b'#' | b'.' | b':') || *b >= 0x80;
    let shown = value.iter().filter(|b| !is_mask(b)).count();
    let plain = value.iter().all(|b| is_mask(b) || b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let runs = [&b"***"[..], b"###", b"...", "•••".as_bytes(), "…".as_bytes()];
    plain && shown <= 12 && shown <= (value.len() - shown) * 4 && runs.iter().any(|run| contains(value, run))
}

/// Says where the secret is kept instead of what it is.
fn is_reference(value: &[u8]) -> bool {
    is_bracketed_reference(value) || is_named_reference(value) || is_code_reference(value)
}

fn is_bracketed_reference(value: &[u8]) -> bool {
    let between = |open: &[u8], close: &[u8]| {
        value
            .strip_prefix(open)
            .and_then(|v| v.strip_suffix(close))
            .is_some_and(|inside| !inside.is_empty() && !contains(inside, close))
    };
    between(b"{{", b"}}")
        || between(b"<<", b">>")
        || value.strip_prefix(b"&lt;").is_some_and(|inside| {
            inside.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b' ' | b'_' | b'-' | b'&' | b';'))
        })
        || between(b"#{", b"}")
        || between(b"<%", b"%>")
        || (between(b"<", b">") && !value.iter().any(|b| matches!(b, b'=' | b'+' | b'/')))
        || (between(b"{", b"}")
            && value
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'{' | b'}' | b'_' | b'.' | b'!')))
        || (between(b"%", b"%") && is_name(value.get(1..value.len() - 1).unwrap_or_default()))
        || (between(b"__", b"__") && is_name(value))
        || (between(b"@", b"@") && is_name(value.get(1..value.len() - 1).unwrap_or_default()))
        || is_dollar_reference(value)
}

/// `${VAR}`, `$(cmd)`, `$VAR`, `$$VAR`, `$env:VAR`. A name with a digit and lower-case letters after the `$` may be a password.
fn is_dollar_reference(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"$") else { return false };
    let rest = rest.strip_prefix(b"$").unwrap_or(rest);
    let wrapped = |open: u8, close: u8| rest.first() == Some(&open) && rest.last() == Some(&close);
    // `${VAR:-real}` gives the secret away as the default.
    let default = memchr::memmem::find(rest, b":-").or_else(|| memchr::memmem::find(rest, b":="));
    let harmless_default = default.is_none_or(|at| {
        let given = rest.get(at + 2..rest.len() - 1).unwrap_or_default();
        given.len() < 6 || is_inert(given)
    });
    if wrapped(b'{', b'}') || wrapped(b'(', b')') {
        return harmless_default;
    }
    let name = rest.strip_prefix(b"env:").or_else(|| rest.strip_prefix(b"Env:")).unwrap_or(rest);
    let variable = name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let lower = name.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-' | b'>'));
    is_start_of_name(name) && (variable || lower)
}

/// Stores of secrets by their own prefix.
const STORES: &str = "
    op:// vault: vault:// ref+ arn:aws:secretsmanager: arn:aws:ssm: arn:aws:kms: awssm:// ssm: ssm://
    gcpsm:// gsm:// azurekv:// keyvault: @microsoft.keyvault( secret:// secrets:// env: env:// file://
    keyring: keychain: sops: doppler:// infisical:// bws:// akv:// sm:// aws-sm: k8s: kubernetes:
    secretref: secret:";

fn is_named_reference(value: &[u8]) -> bool {
    let store = starts_with_any(value, STORES);
    store
        && value.iter().all(|b| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b':' | b'/'
                        | b'.'
                        | b'_'
                        | b'-'
                        | b'@'
                        | b'('
                        | b')'
                        | b'#'
                        | b'+'
                        | b'?'
                        | b'='
                        | b'{'
                        | b'}'
                )
        })
}

/// Where code looks a secret up, in any language.
const LOOKUPS: &str = "
    os.environ os.getenv environ[ environ.get process.env import.meta.env getenv( system.getenv env[
    env. env( env::var std::env os.lookupenv deno.env bun.env secrets. vars. secrets[ config[ config.get
    settings. st.secrets rails.application.credentials viper.get getpass input( keyring.get var. local.
    module. data. dotenv app.config self. this. args. options. opts. params. request. req. context. ctx.
    values. credentials. steps. inputs. github.token needs. userdata. localstorage.";

fn is_code_reference(value: &[u8]) -> bool {
    if !starts_with_any(value, LOOKUPS) || contains(value, b"||") {
        return false;
    }
    // Within brackets anything may stand; a bare path of names must be one.
    let call = value.iter().any(|b| matches!(b, b'(' | b'['));
    let names = value.iter().all(|b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'!' | b'?' | b':' | b'$' | b';' | b',' | b')')
    });
    call || (names && value.iter().filter(|b| b.is_ascii_digit()).count() <= 4)
}

const PLACEHOLDERS: &str =
    "changeme change_me change-me changeit change-it placeholder replaceme replace_me replace-me
    example dummy sample foo bar foobar secret_here xxx abc test-key string_value user-id user_id";
const PLACEHOLDER_STARTS: &str =
    "your my- my_ insert replace change enter put_ put- add-your add_your paste fill some-
    some_ a-secret todo example placeholder dummy fake- fake_ redacted sk-your sk-xxx";

/// What a manual puts where the secret goes. Only whole phrases of letters and signs: a digit makes it a real value.
fn is_placeholder(value: &[u8]) -> bool {
    let text = trim_signs(value, b"<>[](){}\"'.,");
    if one_of(text, PLACEHOLDERS) {
        return true;
    }
    let sign = |b: &u8| matches!(b, b'_' | b'-' | b' ');
    let phrase = text.len() <= 64
        && text.iter().all(|b| b.is_ascii_alphabetic() || sign(b) || matches!(b, b'.' | b'/' | b'\''));
    let ends = ends_with_any(text, "here placeholder") && text.iter().any(sign);
    phrase && (starts_with_any(text, PLACEHOLDER_STARTS) || ends)
}

/// A path to where the key lies: `/run/secrets/db.key`, `certs/server.pem`.
fn is_file(value: &[u8]) -> bool {
    let separated = value.starts_with(b"/run/secrets/")
        || value.starts_with(b"/var/run/secrets/")
        || ((value.contains(&b'/') || value.contains(&b'\\')) && has_file_extension(value));
    separated
        && value.iter().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'/' | b'\\' | b'.' | b'_' | b'-' | b'~' | b':')
        })
}

/// Ends in `.` and the extension of a file that holds keys, configuration or text.
pub(super) fn has_file_extension(value: &[u8]) -> bool {
    let extension =
        value.iter().rposition(|b| *b == b'.').and_then(|dot| value.get(dot + 1..)).unwrap_or_default();
    one_of(
        extension,
        "key pem crt cer der p12 pfx jks json yaml yml toml ini env txt cfg conf pub asc gpg properties xml py js ts rs go java rb php md html sh",
    )
}

const PUBLIC: &str = "ssh-rsa ssh-ed25519 ssh-dss ecdsa-sha2-";
const SEALED: &str = "enc[ enc( {cipher} $ansible_vault vault:v";

/// Meant to be seen (public keys, certificates), or of no use without another key (ciphertext).
fn is_public_or_sealed(value: &[u8]) -> bool {
    let armoured = value.strip_prefix(b"-----BEGIN ").is_some_and(|rest| {
        starts_with_any(rest, "public certificate")
            || rest.starts_with(b"RSA PUBLIC")
            || rest.starts_with(b"PGP PUBLIC")
    });
    let ssh = starts_with_any(value, PUBLIC) && contains(value, b" AAAA");
    armoured || ssh || starts_with_any(value, SEALED)
}

fn is_name(text: &[u8]) -> bool {
    is_start_of_name(text)
        && text.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

fn is_start_of_name(text: &[u8]) -> bool {
    text.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
}

fn trim_signs<'a>(value: &'a [u8], signs: &[u8]) -> &'a [u8] {
    let Some(start) = value.iter().position(|b| !signs.contains(b)) else { return &[] };
    let end = value.iter().rposition(|b| !signs.contains(b)).map_or(0, |at| at + 1);
    value.get(start..end).unwrap_or_default()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
