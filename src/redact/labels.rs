//! What stands after a secret's name in forms, translations, manuals and schemas: the name again, the word for it in another
//! language, a description. Part of `values`.

use super::inert;
use super::names;
use super::wordlist::{List, one_of};
use super::wordy::{has_digit, is_identifier, is_wordy};

/// Longest value that is looked at.
const MAX_LABEL: usize = 4096;

/// Whether a value tells people what belongs there, rather than being it.
pub(super) fn is_label(name: &[u8], value: &[u8]) -> bool {
    let value = inert::trim(value);
    value.len() <= MAX_LABEL
        && (is_translation(value)
            || repeats_name(name, value)
            || is_description(name, value)
            || is_scope_of_signature(value))
}

/// `password`, as the languages that interfaces are translated to have it. Exact words only.
static TRANSLATIONS: List = List::new(
    "
    passwort kennwort passord adgangskode lösenord wachtwoord senha palavra-passe contraseña contrasenya
    pasahitza heslo hasło geslo lozinka jelszó parola parolă parole salasana parool slaptažodis fjalëkalimi
    lykilorð şifre şifrə mật-khẩu пароль пароля парола лозинка құпиясөз құпия-сөз գաղտնաբառ პაროლი κωδικός
    סיסמה סיסמא گذرواژه رمز پاس‌ورڈ پټنوم पासवर्ड पारणशब्द পাসওয়ার্ড கடவுச்சொல் పాస్వర్డ్ ಪಾಸ್‌ವರ್ಡ್ പാസ്‌വേഡ് රහස්-පදය รหัสผ่าน ລະຫັດຜ່ານ 密码 密碼 口令
    使用者密碼 用户密码 登录密码 パスワード 비밀번호 암호 kata-sandi sandi katalaluan нууц-үг",
);
/// The same in several words.
const TRANSLATED_PHRASES: [&str; 8] = [
    "mot de passe",
    "mật khẩu",
    "kata sandi",
    "kata laluan",
    "palavra passe",
    "كلمة المرور",
    "كلمة السر",
    "رمز عبور",
];

fn is_translation(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let text = text.trim_end_matches([':', '*', '.', ' ', '…', '：']);
    let lower = text.to_lowercase();
    TRANSLATIONS.has(text.as_bytes())
        || TRANSLATIONS.has(lower.as_bytes())
        || TRANSLATED_PHRASES.contains(&lower.as_str())
}

/// `apiToken: "API-Token"`, `s3_secret_access_key = 's3-secret-access-key'`, `WEAK_PASSWORD: "auth/weak-password"`: names of two
/// words and more, which nobody takes for a secret.
fn repeats_name(name: &[u8], value: &[u8]) -> bool {
    if value.iter().any(u8::is_ascii_whitespace) || names::words(name) < 2 {
        return false;
    }
    let letters = |text: &[u8]| -> Vec<u8> {
        text.iter().filter(|b| b.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
    };
    let name_letters = letters(name);
    let mut value_letters = letters(value);
    // People make a password of the word and a number.
    while value_letters.last().is_some_and(u8::is_ascii_digit) && !names::is_password(name) {
        value_letters.pop();
    }
    let whole = name_letters.ends_with(&value_letters) && names::words(value) >= 2;
    // Only words in front, and signs between them: `foo_client_secret`.
    let owned = value_letters.strip_suffix(name_letters.as_slice()).is_some_and(|before| {
        before.len() <= 24
            && !has_digit(before)
            && value.iter().any(|b| matches!(b, b'_' | b'-' | b'/' | b'.'))
    });
    whole || owned
}

/// Words that sentences are made with and passphrases hardly.
static FUNCTION_WORDS: List = List::new(
    "
    the a an your my our its their this that these those for of to in on by with from is are be was must
    should can will may if when or and not you we it which used use using specifies",
);

/// A sentence about the secret; of two words and more where a machine makes the secret, which holds no blank.
fn is_description(name: &[u8], value: &[u8]) -> bool {
    let text = without_tags(value);
    let words = || text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let count = words().count();
    if count < 2 || names::is_phrase_name(name) || !words().all(is_plain_word) {
        return false;
    }
    if names::is_machine_made(name) && words().all(|word| !has_digit(word)) {
        return true;
    }
    let function = words().any(|word| FUNCTION_WORDS.has(bare(word)));
    let about = words().any(|word| names::secret_name(bare(word)) != names::NameClass::No);
    count >= 3 && function && (about || value.ends_with(b".") || value.starts_with(b"<"))
}

/// A word of prose with what surrounds it: punctuation, markup.
fn is_plain_word(word: &[u8]) -> bool {
    let bare = bare(word);
    !bare.iter().any(|b| matches!(b, b'=' | b'+' | b'%' | b'$' | b'^' | b'~' | b'|' | b'\\' | b'@' | b'#'))
        && is_wordy(bare)
}

/// The text of markup: `<p>`, `<a href="..">` and the like off.
fn without_tags(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(open) = memchr::memchr(b'<', rest) {
        let (before, tag) = rest.split_at_checked(open).unwrap_or_default();
        let named = matches!(tag, [_, b'/' | b'a'..=b'z', ..]);
        let Some(close) = memchr::memchr(b'>', tag).filter(|_| named) else { break };
        text.extend_from_slice(before);
        rest = tag.get(close + 1..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

fn bare(word: &[u8]) -> &[u8] {
    let edge = |b: &u8| b.is_ascii_punctuation();
    let start = word.iter().position(|b| !edge(b)).unwrap_or(word.len());
    let end = word.iter().rposition(|b| !edge(b)).map_or(start, |at| at + 1);
    word.get(start..end).unwrap_or_default()
}

/// Of a signed request: which algorithm, and the scope of the key rather than the key.
fn is_scope_of_signature(value: &[u8]) -> bool {
    one_of(value, "aws4-hmac-sha256 aws4-ecdsa-p256-sha256 credential=") || value.ends_with(b"/aws4_request")
}

/// What a schema says of the members of a container: `ListAccessKeys`, `UserName`, `Id`.
pub(super) fn is_api_name(value: &[u8]) -> bool {
    let letters =
        value.first().is_some_and(u8::is_ascii_uppercase) && value.iter().all(u8::is_ascii_alphabetic);
    letters
        && (value.len() <= 2
            || (value.iter().any(u8::is_ascii_lowercase) && is_wordy(value) && names::words(value) >= 2))
}

/// `PasswordWidget`, `passwordReversed`: what is named after a password, not one.
pub(super) fn is_named_after_password(value: &[u8]) -> bool {
    !has_digit(value)
        && is_identifier(value)
        && names::words(value) >= 2
        && names::begins_with_password(value)
}

/// `bad_then_good_password`, `userPasswordInput`: a name in code with such a word in it.
pub(super) fn mentions_secret(value: &[u8]) -> bool {
    is_identifier(value) && names::words(value) >= 2 && names::mentions_secret(value)
}
