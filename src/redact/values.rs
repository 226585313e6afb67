//! A model of values: what stands after a secret's name and is a secret, or a placeholder, a reference, prose.
//!
//! [`is_inert`] knows what is never a secret. [`looks_secret`] weighs the rest by what the name promises (people choose
//! passwords, machines make tokens) and by how name and value stand together.

use super::inert;
use super::labels;
use super::names;
use super::wordlist::{List, one_of, strip_end};
use super::wordy::{has_digit, is_identifier, is_path_of_names, is_random_letters, is_wordy};

pub use super::inert::is_inert;

/// How name and value stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A value of its own: an attribute, a kvlist entry, a member of parsed JSON. Anything that is not inert is a secret,
    /// but under a bare `token`, which also names words, it must look like one.
    Structured,
    /// A quoted string: `password = "x"`, `'password': 'x'`, `"password":"x"` of cut JSON, an XML attribute.
    Quoted,
    /// `NAME=value` without blanks around `=`, outside of a call's parentheses, or a command-line flag (`--password x`).
    Env,
    /// `name: value` or `name = value` that fills its line: YAML, INI, TOML, a header.
    Line,
    /// `name=value` of a URL's query or a form body.
    Query,
    /// In running text or code: `the password: x`, `connect(password=x)`, `password = x;`.
    Prose,
}

/// Whether the value of the secret-named pair `name`, `value` is a secret. `value` comes without its quotes.
pub fn looks_secret(name: &[u8], value: &[u8], form: Form) -> bool {
    if is_inert(value) || labels::is_label(name, value) {
        return false;
    }
    if form == Form::Structured && !names::is_weak(name) {
        return true;
    }
    let value = without_scheme(inert::trim(value));
    // A comma or semicolon after it: a line of code, not of a configuration.
    let form =
        if form == Form::Line && matches!(value.last(), Some(b',' | b';')) { Form::Prose } else { form };
    let value = match form {
        Form::Line | Form::Prose => trim_end(value, b",;."),
        // `connect(password=pw, ...`: an argument, whatever stands before it.
        Form::Env => match trim_end(value, b",;)") {
            argument
                if argument.len() < value.len() && (is_inert(argument) || is_path_of_names(argument)) =>
            {
                return false;
            }
            argument => argument,
        },
        _ => value,
    };
    if value.iter().any(u8::is_ascii_whitespace) {
        return holds_secret_word(name, value, form);
    }
    if is_code(value, form) || is_plain_thing(value) || is_member_of_that_name(name, value) {
        return false;
    }
    if form != Form::Env && form != Form::Structured && labels::is_named_after_password(value) {
        return false;
    }
    if names::is_password(name) {
        return is_password_like(value, form);
    }
    // `JWT_SECRET=swordfish`: a variable of the environment is given a value by hand.
    let given = form == Form::Env && value.len() >= 8 && !name.iter().any(u8::is_ascii_lowercase);
    is_token_like(name, value, form) || (given && !is_status_or_type(value) && !is_name_again(value, form))
}

/// Whether the value of a member of a container of secrets is one, whatever the member's name.
pub fn is_member_secret(value: &[u8]) -> bool {
    let label = value.iter().all(u8::is_ascii_alphabetic) && !names::inherits(value);
    !is_inert(value) && !labels::is_api_name(value) && !label
}

/// Whether this is a token rather than a word of prose, where a scheme such as `Bearer` already says that a token follows:
/// at least 8 characters with a digit among them, or a long or mixed run that is no word.
pub fn is_token_shaped(value: &[u8]) -> bool {
    if value.len() < 8 || is_inert(value) || contains(value, b"://") {
        return false;
    }
    value.iter().any(u8::is_ascii_digit) || value.split(|b| !b.is_ascii_alphanumeric()).any(is_random_letters)
}

/// Whether nothing but a machine-made token looks like this, whatever it stands under: 20 characters or more with letters of both
/// cases and digits among them, no words, no hash, no UUID.
pub fn is_opaque(value: &[u8]) -> bool {
    const LEAST: usize = 20;
    let has = |test: fn(&u8) -> bool| value.iter().filter(|b| test(b)).count() >= 2;
    value.len() >= LEAST
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && !value.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-')
        && is_random(value)
        && value.split(|b| !b.is_ascii_alphanumeric()).any(|piece| piece.len() >= 12 && !is_wordy(piece))
}

/// Whether a machine made this where something already says that a key follows: 14 characters or more of letters and digits, no
/// words. A hash or a UUID is random too.
pub fn is_random(value: &[u8]) -> bool {
    const MOST: usize = 512;
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    (LEAST_RANDOM..=MOST).contains(&value.len())
        && value.iter().all(|b| is_of_random(*b))
        && digits >= LEAST_DIGITS
        && digits < value.len()
        && (!is_wordy(value) || is_grouped(value))
        && !is_plain_thing(value)
        && !is_inert(value)
}

/// Groups of letters and digits as in license keys: `AB12CD-34EF56-GH78IJ`.
fn is_grouped(value: &[u8]) -> bool {
    let mixed = |group: &[u8]| {
        group.len() >= 4
            && has_digit(group)
            && group.iter().any(u8::is_ascii_uppercase)
            && !group.iter().any(u8::is_ascii_lowercase)
    };
    value.iter().filter(|b| **b == b'-').count() >= 2 && value.split(|b| *b == b'-').all(mixed)
}

/// Signs of many kinds among letters and digits: what a generator of secrets gives, and no code.
fn is_noise(value: &[u8]) -> bool {
    const LEAST: usize = 20;
    let signs = b"!@#$%^&*()_+-=[]{};:'\",<>/?|~`\\";
    let kinds = signs.iter().filter(|sign| value.contains(sign)).count();
    value.len() >= LEAST
        && kinds >= 6
        && has_digit(value)
        && value.iter().any(u8::is_ascii_lowercase)
        && value.iter().all(u8::is_ascii_graphic)
}

/// Whether a word stands out of prose and code as only a password does: letters and digits that are no name, or with signs.
pub fn stands_out(value: &[u8]) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let odd = value
        .iter()
        .any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'^' | b'&' | b'*' | b'+' | b'=' | b'?' | b'~'));
    letters
        && has_digit(value)
        && (odd || !is_wordy(value))
        && !value.starts_with(b"$")
        && !is_pattern(value)
        && looks_secret(b"password", value, Form::Prose)
}

/// The pattern of a search: `.*`, `[^ ]+`, `(\\S+)`.
fn is_pattern(value: &[u8]) -> bool {
    const STARTS: [&[u8]; 10] = [b".*", b".+", b"[^", b"(?", b"(.*", b"(.+", b"(\\", b"\\S", b"\\w", b"[\\w"];
    STARTS.iter().any(|start| value.starts_with(start))
}

/// A type of JSON, as schemas have them.
pub(super) fn is_json_type(value: &[u8]) -> bool {
    one_of(value, "string null integer number object array boolean")
}

/// Fewest bytes of a random value.
pub(super) const LEAST_RANDOM: usize = 14;
/// Fewest digits of one.
pub(super) const LEAST_DIGITS: usize = 2;

/// What a random value is made of.
pub(super) fn is_of_random(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b':')
}

/// `Authorization: Token abc`: what follows the scheme.
fn without_scheme(value: &[u8]) -> &[u8] {
    let Some(blank) = value.iter().position(|b| *b == b' ') else { return value };
    let (scheme, rest) = value.split_at(blank);
    let known = [
        &b"bearer"[..],
        b"basic",
        b"token",
        b"digest",
        b"apikey",
        b"api-key",
        b"negotiate",
        b"key",
        b"ssws",
        b"bot",
    ];
    if known.iter().any(|k| scheme.eq_ignore_ascii_case(k)) { rest.trim_ascii() } else { value }
}

/// A value of several words is a secret where one of them is: a cookie's `sid=...`, never a sentence.
fn holds_secret_word(name: &[u8], value: &[u8], form: Form) -> bool {
    let mut words =
        value.split(|b| b.is_ascii_whitespace() || matches!(b, b';' | b',' | b'=' | b'&' | b'"' | b'\''));
    if form == Form::Quoted && is_word_list(name, value) {
        return true;
    }
    words.any(|word| {
        if names::is_password(name) && stands_out(word) {
            return true;
        }
        !is_inert(word)
            && !is_code(word, Form::Prose)
            && !is_plain_thing(word)
            && is_token_like(name, word, Form::Prose)
    })
}

/// A pass phrase or mnemonic: four words or more under such a name.
fn is_word_list(name: &[u8], value: &[u8]) -> bool {
    let phrase =
        name.to_ascii_lowercase().ends_with(b"phrase") || name.to_ascii_lowercase().ends_with(b"mnemonic");
    phrase
        && value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() >= 4
        && value.iter().all(|b| b.is_ascii_lowercase() || *b == b' ')
}

/// An expression, a type, a reference to another name: `get_password()`, `self.token`, `Option<String>`, `args[0]`.
fn is_code(value: &[u8], form: Form) -> bool {
    if form == Form::Quoted || form == Form::Structured {
        return false;
    }
    let opening = value.iter().position(|b| matches!(b, b'(' | b'[' | b'<' | b'{'));
    // `name(`, `a.b[`, `Vec<`: an identifier up to the bracket, and the bracket closed at the end if at all.
    if let Some(at) = opening {
        let head = value.get(..at).unwrap_or_default();
        let tail = value.get(at..).unwrap_or_default();
        // `PASSWORD=[x]y9z`: a value that begins with a bracket and goes on behind it.
        let close = tail.iter().position(|b| matches!(b, b')' | b']' | b'>' | b'}'));
        let behind = close.and_then(|close| tail.get(close + 1..)).unwrap_or_default();
        if form == Form::Env && head.is_empty() && stands_out(behind) {
            return false;
        }
        let closes = tail.iter().any(|b| matches!(b, b')' | b']' | b'>' | b'}'));
        if is_path_of_names(head) && (closes || form == Form::Prose || tail.len() == 1 || !has_digit(value)) {
            return true;
        }
    }
    // `a.B=a.C=void`, `password= next=`: an assignment follows.
    let mut names = value.split(|b| *b == b'=');
    let assigned = |name: &[u8]| {
        !name.is_empty() && is_path_of_names(name) && (!has_digit(name) || name.contains(&b'.'))
    };
    if names.next().is_some_and(assigned)
        && value.contains(&b'=')
        && names.all(|name| name.is_empty() || assigned(name))
    {
        return true;
    }
    // `D3D10_SB_RETURN_TYPE`: a constant.
    let capitals = value.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    if capitals
        && value.split(|b| *b == b'_').filter(|word| word.len() > 2 && !has_digit(word)).count() > 0
        && value.contains(&b'_')
    {
        return true;
    }
    if is_number(value) || (matches!(form, Form::Line | Form::Prose) && labels::mentions_secret(value)) {
        return true;
    }
    // `settings.DB_PASSWORD`, `Foo::Bar`, `obj->field`: names joined by the signs of code.
    let joined = value.contains(&b'.') || contains(value, b"::") || contains(value, b"->");
    if joined && is_path_of_names(value) && form != Form::Env {
        return true;
    }
    // A sigil: `&str`, `*password`, `@password`, `:password` with a name behind it.
    let sigil =
        value.strip_prefix(b"&").or_else(|| value.strip_prefix(b"*")).or_else(|| value.strip_prefix(b"@"));
    sigil.or_else(|| value.strip_prefix(b":")).is_some_and(|rest| is_path_of_names(rest) && !has_digit(rest))
}

/// `-2147212282i32`, `256u32`, `100UL`: a number that has a type.
fn is_number(value: &[u8]) -> bool {
    let number = value.strip_prefix(b"-").unwrap_or(value);
    let digits = number.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let (_, suffix) = number.split_at_checked(digits).unwrap_or_default();
    digits > 0 && one_of(suffix, "i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 ul ull ll")
}

/// `API_KEY = settings.API_KEY`, `key: Keys::Key`.
fn is_member_of_that_name(name: &[u8], value: &[u8]) -> bool {
    strip_end(value, name).is_some_and(|owner| owner.ends_with(b".") || owner.ends_with(b"::"))
}

/// What a glance tells from a secret: a date, a version, a URL without a password, a path, an ARN, a format string.
fn is_plain_thing(value: &[u8]) -> bool {
    is_url(value)
        || is_pattern(value)
        || is_path(value)
        || is_date_or_version(value)
        || is_format(value)
        || value.starts_with(b"arn:")
        || value.starts_with(b"urn:")
        || is_template(value)
}

/// Nothing but the slots of a format string and signs: `%s:%s`, `{}:{}`.
fn is_format(value: &[u8]) -> bool {
    let mut previous = 0;
    value.iter().all(|b| {
        let slot = previous == b'%' && matches!(b, b's' | b'd' | b'r' | b'v');
        previous = *b;
        slot || b.is_ascii_punctuation()
    }) && (value.contains(&b'%') || contains(value, b"{}"))
}

/// `$username:$password`: what a program puts values into, and nothing of its own but signs; or what begins with a slot.
fn is_template(value: &[u8]) -> bool {
    let slot = matches!(value, [b'%', b's' | b'v' | b'd' | b'q', next, ..] if !next.is_ascii_alphanumeric());
    let sign = |b: &u8| matches!(b, b':' | b'/' | b'@' | b'-' | b'_' | b'.');
    let named = value.starts_with(b"$")
        && value.iter().filter(|b| **b == b'$').count() > 1
        && value.split(|b| *b == b'$').skip(1).all(|piece| {
            let name = piece.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
            name > 0 && piece.iter().skip(name).all(sign)
        });
    slot || named || is_path_below_variable(value)
}

/// `${issuer}/oauth2/authorize?display=page`: a path of words below what a variable holds.
fn is_path_below_variable(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"${") else { return false };
    let Some(close) = rest.iter().position(|b| *b == b'}') else { return false };
    let (name, path) = rest.split_at(close);
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    name.iter().all(is_name) && path.starts_with(b"}/") && is_wordy(path)
}

/// A URL of words, without credentials.
pub(super) fn is_plain_url(value: &[u8]) -> bool {
    is_url(value) && is_wordy(value)
}

/// The name of a user, say.
pub(super) fn is_word(value: &[u8]) -> bool {
    !has_digit(value) && is_identifier(value)
}

fn is_url(value: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(value, b"://") else { return false };
    let authority = value.get(at + 3..).unwrap_or_default();
    let authority = authority.split(|b| matches!(b, b'/' | b'?' | b'#')).next().unwrap_or_default();
    // Credentials in a URL are rules of their own; a token in its query is a pair of its own. `//:password@host` holds none.
    let user = authority.split(|b| *b == b'@').next().unwrap_or_default();
    let placeholder = user.split(|b| *b == b':').nth(1).is_some_and(is_name_of_secret);
    value.iter().take(at).all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
        && (placeholder || !authority.contains(&b'@'))
}

/// `/etc/ssl/x.key`, `./x`, `~/x`, `C:\x`, `certs/server.pem`: pieces that are words.
fn is_path(value: &[u8]) -> bool {
    let rooted = value.starts_with(b"/")
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/");
    let drive = matches!(value, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let file = inert::has_file_extension(value);
    let separated = value.contains(&b'/') || value.contains(&b'\\');
    let bad = value.iter().any(|b| matches!(b, b'+' | b'=' | b'@' | b'!' | b'#' | b'%'));
    separated
        && !bad
        && (rooted || drive || file)
        && is_wordy(value.get(usize::from(drive) * 2..).unwrap_or_default())
        || (file && is_wordy(value))
}

/// Digits with the signs of dates, times, versions and amounts among them, or a `v` before them; a constant in hexadecimal.
fn is_date_or_version(value: &[u8]) -> bool {
    if let Some(hex) = value.strip_prefix(b"0x").or_else(|| value.strip_prefix(b"0X")) {
        return hex.len() <= 16 && hex.iter().all(u8::is_ascii_hexdigit);
    }
    let value = value.strip_prefix(b"v").unwrap_or(value);
    let signs =
        value.iter().filter(|b| matches!(b, b'-' | b':' | b'.' | b'/' | b'T' | b'Z' | b'+' | b'%')).count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    digits > 0 && signs > 0 && signs + digits == value.len() && value.len() < 36
}

/// Whether a word that is no code can be a password where it stands.
fn is_password_like(value: &[u8], form: Form) -> bool {
    if is_status_or_type(value) || is_name_again(value, form) {
        return false;
    }
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let odd = value.iter().any(|b| {
        matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'?' | b'~')
    });
    match form {
        Form::Structured | Form::Quoted | Form::Env | Form::Query => value.len() >= 3,
        // YAML `password: swordfish` goes, a type (`password: SecretString`) or a name (`password: new_password`) stays.
        Form::Line => {
            value.len() >= 4 && !(is_type_name(value) || is_snake_case(value) || is_bare_code(value))
        }
        Form::Prose => {
            let numbered = letters && has_digit(value) && !is_snake_case(value);
            let odd = odd && !is_address(value);
            value.len() >= 6 && (numbered || (odd && (letters || has_digit(value)))) && !is_bare_code(value)
        }
    }
}

/// `user@domain`, `user@example.com`: where mail goes.
fn is_address(value: &[u8]) -> bool {
    let mut parts = value.split(|b| *b == b'@');
    let name = |part: Option<&[u8]>| part.is_some_and(|part| is_path_of_names(part) && !part.is_empty());
    name(parts.next()) && name(parts.next()) && parts.next().is_none()
}

fn is_snake_case(value: &[u8]) -> bool {
    value.contains(&b'_') && is_identifier(value)
}

/// Whether a word that is no code can be a token where it stands.
fn is_token_like(name: &[u8], value: &[u8], form: Form) -> bool {
    if is_status_or_type(value) || is_name_again(value, form) || value.len() < 6 {
        return false;
    }
    let alphabet = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'-' | b'_'
                    | b'.'
                    | b'~'
                    | b'+'
                    | b'/'
                    | b'='
                    | b'%'
                    | b':'
                    | b'|'
                    | b'!'
                    | b'*'
                    | b'$'
                    | b'@'
                    | b'#'
                    | b'^'
                    | b'&'
            )
    };
    if !value.iter().all(alphabet) {
        return form == Form::Quoted && is_noise(value);
    }
    if value.iter().all(u8::is_ascii_digit) {
        return value.len() >= if matches!(form, Form::Env | Form::Quoted) { 20 } else { 24 };
    }
    let random = !is_wordy(value) && !is_wordy_in_url(value);
    match form {
        // `token: "keyword.$0"`: a bare `token` also names those of parsers.
        Form::Quoted if names::is_weak(name) => random,
        // A value with a digit in it, or a long one: nobody writes an identifier there by habit.
        Form::Env | Form::Structured | Form::Quoted => {
            random || (has_digit(value) && value.len() >= 10 && !is_wordy_in_url(value))
        }
        Form::Line | Form::Query => random && value.len() >= 8 || (has_digit(value) && value.len() >= 16),
        Form::Prose => random && value.len() >= 10 && (has_digit(value) || value.len() >= 16),
    }
}

/// `My%20Token%20Name`: words with escaped signs between them.
fn is_wordy_in_url(value: &[u8]) -> bool {
    let mut pieces = value.split(|b| *b == b'%');
    value.contains(&b'%')
        && pieces.next().is_some_and(is_wordy)
        && pieces.all(|piece| {
            piece.get(2..).is_some_and(|rest| matches!(piece.first(), Some(b'2' | b'3')) && is_wordy(rest))
        })
}

/// What stands for a state or a type in schemas, manuals and messages. Exact words only, so that no real secret hides here.
static STATUS_AND_TYPES: List = List::new("
    incomplete alias string str text bytes byte int integer number bool boolean object array list dict any char varchar
    uuid password passwd required optional missing invalid incorrect expired revoked valid empty wrong
    unknown unset default error failed denied forbidden unauthorized authentication authorization basic
    bearer digest header cookie query body value self this env secretstr secretstring securestring
    optional[str] provided generated encrypted hashed hidden plain plaintext yes true false none null
    scram-sha-1 scram-sha-256 scram-sha-512 md5 sha1 sha256 sha512 rot13 bcrypt base64 latin1 utf8 utf8mb4
    requires may option include same-origin omit inherit auto manual prompt ask stdin file keyring vault data input output
    function const let var return await async new not and or if else the is as in for from with must
    should can will");

fn is_status_or_type(value: &[u8]) -> bool {
    STATUS_AND_TYPES.has(value)
}

/// The value is the name of a secret; in code it may have a number (`password2`).
fn is_name_again(value: &[u8], form: Form) -> bool {
    let name = match value {
        [name @ .., b'_', digit] if digit.is_ascii_digit() => name,
        [name @ .., digit] if digit.is_ascii_digit() && matches!(form, Form::Prose | Form::Line) => name,
        _ => value,
    };
    let code = matches!(form, Form::Prose | Form::Line);
    is_name_of_secret(name) || (code && !has_digit(name) && names::secret_name(name) != names::NameClass::No)
}

/// Whether a value is itself the name of a secret: `password`, `access_token`, `dbPassword`. A word that only ends like one
/// (`mypassword`) may be a secret.
pub fn is_name_of_secret(value: &[u8]) -> bool {
    let words = value.iter().any(|b| b.is_ascii_uppercase() || matches!(b, b'_' | b'-' | b'.'));
    NAMES.has(value)
        || (words
            && (!has_digit(value) || value.contains(&b'.'))
            && is_path_of_names(value)
            && names::secret_name(value) != names::NameClass::No)
}

static NAMES: List = List::new(
    "pw pass pwd key tok tkn auth password passwd passphrase secret token apikey credential credentials
    authorization cookie accesstoken authtoken passw passwo passwor",
);

/// `SecretString`, `String`: a capital, then letters with a lower-case one among them.
fn is_type_name(value: &[u8]) -> bool {
    value.first().is_some_and(u8::is_ascii_uppercase)
        && value.iter().all(u8::is_ascii_alphabetic)
        && value.iter().any(u8::is_ascii_lowercase)
        && value.iter().filter(|b| b.is_ascii_uppercase()).count() >= 2
}

/// Signs that only code has: brackets, quotes, back-quotes, `=>`.
fn is_bare_code(value: &[u8]) -> bool {
    value.iter().any(|b| {
        matches!(b, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b',')
    })
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

fn trim_end<'a>(value: &'a [u8], signs: &[u8]) -> &'a [u8] {
    let end = value.iter().rposition(|b| !signs.contains(b)).map_or(0, |at| at + 1);
    value.get(..end).unwrap_or_default()
}
