//! The models of names and values, as tables.

use blackbar::redact::names::{NameClass, inherits, is_password, is_weak, may_be_key, secret_name};
use blackbar::redact::values::Form::{Env, Line, Prose, Query, Quoted, Structured};
use blackbar::redact::values::{Form, is_inert, is_token_shaped, looks_secret};

const SECRET_NAMES: &str = r#"
    password db_password DB_PASSWORD dbPassword dbpassword PGPASSWORD MYSQL_PWD passwd pwd userpwd
    spring.datasource.password passphrase password2 password_confirmation new_password encrypted_password
    password_hash DB_PASS smtp-pass dbpass sshpass apiKey api_key apikey APIKey api-key API_KEY_1 X-Api-Key
    xi-api-key x-goog-api-key Ocp-Apim-Subscription-Key x-functions-key OPENAI_API_KEY OPENAI_KEY
    openai.api_key API_KEY_PROD client_secret clientSecret clientsecret secret secret_key secretKey
    SECRET_KEY_BASE AWS_SECRET_ACCESS_KEY aws_secret_access_key awsSecretAccessKey SecretAccessKey
    SecretString webhook_secret jwt_secret my_secret secret_value GITHUB_TOKEN token access_token
    accessToken accesstoken auth-token authToken refresh_token session_token id_token bot_token
    X-Vault-Token PRIVATE-TOKEN X-Amz-Security-Token csrf_token authorization Authorization
    Proxy-Authorization http.request.header.authorization http.request.header.x_api_key cookie set-cookie
    Set-Cookie http.response.header.set-cookie session_cookie private_key privateKey private_key_pem
    ssh_private_key signing_key encryption_key accountKey AccountKey sharedAccessKey SharedAccessKey
    shared_key master_key client-key-data license_key connection_string connectionString ConnectionString
    AZURE_STORAGE_CONNECTION_STRING bearer jwt seed_phrase github_pat _auth basic_auth credential --api-key
    "api_key" env.API_KEY headers/Authorization account_token access_key hmac_key session_key sessionKey
    deploy_key"#;

const OTHER_NAMES: &str = r#"
    key keys keyboard keyword Key primary_key foreign_key sort_key partition_key cache_key s3_key object_key
    public_key publicKey ssh_public_key public_api_key publishable_key idempotency_key routing_key hostkey
    monkey key_id AWS_ACCESS_KEY_ID api_key_id kms_key_arn key_name author authors auth auth_method
    authenticated authentication auth_type authorizer max_tokens maxTokens max_completion_tokens
    input_tokens gen_ai.usage.input_tokens gen_ai.usage.output_tokens llm.token_count.prompt token_type
    token_count tokens tokens_per_second total_tokens next_page_token pageToken nextToken eos_token
    pad_token stop_token tokenizer tokenize token_endpoint token_url token_expiry secret_name secretName
    secret_arn secretRef secretKeyRef secretary passwordPolicy password_length password_reset_url
    has_password password_field hasPassword use_token requires_api_key no_password password_changed_at
    password_policy pass passed passes passenger bypass compass first_pass test_pass_rate passport PWD
    OLDPWD cwd cookie_consent cookie_name session.id session_id sessionId csrf csrf_protection
    credential_type credentials_path connection connection_id connection_strings_count constructor pattern
    path PATH patch second section seconds security imagePullSecrets bearer_format jwt_algorithm hash
    content_hash user gen_ai.token.type model authority url.authority secrets_manager string data"#;

const CONTAINERS: &str = r#"
    secrets credentials aws_credentials passwords api_keys apiKeys private_keys access_tokens cookies
    GOOGLE_APPLICATION_CREDENTIALS"#;

/// One a line.
const INERT: &str = r##"""
None
null
nil
undefined
true
False
n/a
[REDACTED:secret]
[REDACTED]
Bearer [REDACTED:bearer-token]
"##;

/// One a line.
const REAL: &str = r##"hunter2
swordfish
S3cr3t-pw
correct horse battery staple
p@ssw0rd
$ecret123
${VAR:-realpassword1}
admin
password
your3password9
0
12345678
a***b!@#c
Tr0ub4dor&3
[REDACTED] hunter22
[REDACTED:secret] and abcdef123456
[REDACTED:UPPER]
[REDACTED:hunter22]
[REDACTED:my-pass-9f8e7d]
[REDACTED:
aGVsbG8gd29ybGQhIQ==
/ab+cd/ef==
env123abc456def
xX9
<p4ss/w=rd>
test123
secret
e3b0c44298fc1c149afbf4c8
AKIAIOSFODNN7EXAMPLE
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
"##;

#[test]
fn names_have_their_class() {
    for (names, class) in
        [(SECRET_NAMES, NameClass::Secret), (OTHER_NAMES, NameClass::No), (CONTAINERS, NameClass::Container)]
    {
        for name in names.split_ascii_whitespace() {
            assert_eq!(secret_name(name.as_bytes()), class, "{name}");
        }
    }
    assert_eq!(secret_name(b"user password"), NameClass::Secret);
    assert_eq!(secret_name(b""), NameClass::No);
}

#[test]
fn passwords_are_told_from_tokens_and_bare_tokens_from_others() {
    for name in ["password", "DB_PASSWORD", "dbpassword", "smtp_pass", "pwd"] {
        assert!(is_password(name.as_bytes()), "{name}");
    }
    for name in ["token", "api_key", "secret", "authorization"] {
        assert!(!is_password(name.as_bytes()), "{name}");
    }
    assert!(is_weak(b"token") && is_weak(b"Token") && is_weak(b"jira_key") && is_weak(b"asana_pat"));
    assert!(!is_weak(b"access_token") && !is_weak(b"secret") && !is_weak(b"password"));
}

#[test]
fn keys_of_nobody_knows_what_are_told_from_those_of_maps() {
    for name in ["zorblax_key", "fooKey", "my.service.zorblax_key"] {
        assert!(may_be_key(name.as_bytes()) && secret_name(name.as_bytes()) == NameClass::No, "{name}");
    }
    for name in ["key", "cache_key", "sortKey", "zorblax_key_id", "public_key", "has_zorblax_key", "monkey"] {
        assert!(!may_be_key(name.as_bytes()), "{name}");
    }
}

#[test]
fn labels_do_not_inherit() {
    assert!(inherits(b"github") && inherits(b"a") && inherits(b"prod"));
    assert!(!inherits(b"name") && !inherits(b"created_at") && !inherits(b"userName"));
}

#[test]
fn any_bytes_may_be_a_name() {
    for name in [&b"\xff\xfe"[..], b"___", b"1234", &[b'p'; 100_000], b"pas", b"\xffpassword\xff"] {
        let _ = (secret_name(name), is_password(name), is_weak(name), inherits(name));
    }
}

#[test]
fn tells_nothing_and_references_from_real_values() {
    for value in INERT.lines() {
        assert!(is_inert(value.as_bytes()), "{value}");
    }
    for value in REAL.lines() {
        assert!(!is_inert(value.as_bytes()), "{value}");
    }
}

#[test]
fn any_bytes_may_be_inert() {
    for value in [
        &b"\xff"[..],
        b"$",
        b"%",
        b"%%",
        b"<",
        b"<>",
        b"{",
        b"${",
        b"$(",
        b"[REDACTED",
        b"@@",
        b"____",
        b"\\",
        b"${:-",
    ] {
        let _ = is_inert(value);
    }
}

const SECRETS: &[(&str, &str, Form)] = &[
    ("password", "x", Structured),
    ("authorization", "anything at all", Structured),
    ("token", "a1b2c3d4e5f6a7b8", Structured),
    ("DB_PASSWORD", "swordfish", Env),
    ("DB_PASSWORD", "12345678", Env),
    ("DB_PASSWORD", "mypassword", Env),
    ("JWT_SECRET", "supersecret", Env),
    ("password", "mypassword", Quoted),
    ("password", "swordfish", Quoted),
    ("password", "swordfish", Line),
    ("password", "swordfish", Query),
    ("password", "hunter2!", Prose),
    ("password", "S3cr3t-pw", Prose),
    ("password", "correcthorse9", Prose),
    ("password", "hunter22,", Prose),
    ("password", "correct-horse-battery-staple", Line),
    ("passphrase", "correct horse battery staple", Quoted),
    ("PGPASSWORD", "p@ss/w0rd+1", Env),
    ("api_key", "0123456789abcdef0123456789abcdef", Prose),
    ("api_key", "A8f3Kq92LmZx01Pv", Prose),
    ("apiKey", "dGhpc0lzQVNlY3JldEtleQ", Quoted),
    ("API_KEY", "abc123def", Env),
    ("token", "3fa85f64-5717-4562-b3fc-2c963f66afa6", Quoted),
    ("token", "3fa85f64-5717-4562-b3fc-2c963f66afa6", Line),
    ("access_token", "a9f8e7d6c5b4a3928170", Query),
    ("client_secret", "zXcVbNmAsDfGhJkLqWeRtYuIoP", Prose),
    ("cookie", "sid=a9f8e7d6c5b4; theme=dark", Line),
    ("authorization", "Token a9f8e7d6c5b4a392", Line),
    ("secret", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKEY", Env),
];

const OTHERS: &[(&str, &str, Form)] = &[
    ("password", "", Structured),
    ("password", "${DB_PASSWORD}", Structured),
    ("token", "page2", Structured),
    ("token", " the", Structured),
    ("token", "page2", Query),
    ("token", "refresh", Query),
    ("password", "required", Prose),
    ("password", "required", Line),
    ("password", "is", Prose),
    ("password", "swordfish", Prose),
    ("password", "String,", Line),
    ("password", "SecretString", Line),
    ("password", "new_password", Line),
    ("password", "string", Quoted),
    ("password", "password", Quoted),
    ("password", "Enter your password", Quoted),
    ("password", "Must be at least 8 characters", Quoted),
    ("password", "get_password()", Env),
    ("password", "getpass.getpass(", Prose),
    ("password", "settings.DB_PASSWORD", Prose),
    ("password", "user.password1", Prose),
    ("password", "password2", Prose),
    ("password", "args[0]", Prose),
    ("password", "Option<String>", Line),
    ("password", "&str", Prose),
    ("password", "*password", Prose),
    ("token", "access_token", Line),
    ("token", "next_page", Prose),
    ("token", "string", Line),
    ("token", "2024-05-01T10:00:00Z", Line),
    ("token", "2024-05-01", Quoted),
    ("token", "42", Line),
    ("token", "1234567", Line),
    ("api_key", "/etc/keys/api", Line),
    ("api_key", "https://example.com/keys", Quoted),
    ("api_key", "sha256", Quoted),
    ("secret", "my_module.get_secret", Prose),
    ("secret", "ExternalSecretStore", Line),
    ("token", "next_page_of_results", Quoted),
    ("token", "IdentifierToken", Quoted),
    ("token", "TokenKind::Identifier", Prose),
    ("private_key", "RSAPrivateKeyWithSerialization", Prose),
    ("authorization", "Bearer", Line),
    ("cookie", "This site uses cookies to remember you", Line),
    ("credentials", "same-origin", Quoted),
    ("password", "LPWSTR,", Line),
    ("token", "0x8004400a,", Line),
    ("MLKEM1024P384PrivateKey", "rust_openssl.hpke.MLKEM1024P384PrivateKey", Line),
    ("password", "Incomplete", Line),
    ("password", ":****", Quoted),
    ("token", "D3D10_SB_RESOURCE_RETURN_TYPE,", Line),
    ("secret", "Chacha20Poly1305", Prose),
    ("private_key", "x25519_generate_private_key,", Line),
    ("encryption_key", "X509HardwareKeyUsageFlags", Prose),
    ("traffic_secret", "CLIENT_TRAFFIC_SECRET_0", Quoted),
    ("key_password", "None,", Env),
    ("password", "password,", Env),
    ("password", "pw)", Env),
    ("passwd", "$(getent", Env),
    ("password", "SecretBytes(b", Env),
    ("user_pass", "%s:%s", Quoted),
    ("change_password", "arn:aws:iam::aws:policy/IAMUserChangePassword", Quoted),
    ("app_key", "serverlessrepo:applicationId", Quoted),
];

#[test]
fn values_are_weighed_by_name_and_form() {
    for (name, value, form) in SECRETS {
        assert!(looks_secret(name.as_bytes(), value.as_bytes(), *form), "{name} {value} {form:?}");
    }
    for (name, value, form) in OTHERS {
        assert!(!looks_secret(name.as_bytes(), value.as_bytes(), *form), "{name} {value} {form:?}");
    }
}

#[test]
fn a_token_after_its_scheme_is_told_from_a_word() {
    for token in [
        "not-a-real-token-123",
        "abc.def-1",
        "mF_9.B5f-4.1JqM",
        "ZXhhbXBsZVRva2VuVmFsdWU",
        "qwrtzplkjhgfdsxcvbnm",
    ] {
        assert!(is_token_shaped(token.as_bytes()), "{token}");
    }
    for word in [
        "authentication",
        "tokens",
        "auth0",
        "authentication-required",
        "<token>",
        "YOUR_TOKEN_HERE",
        "$TOKEN_1",
        "AuthenticationScheme",
        "https://tools.ietf.org/html/rfc6750",
    ] {
        assert!(!is_token_shaped(word.as_bytes()), "{word}");
    }
}

#[test]
fn any_bytes_may_be_a_value() {
    for value in [
        &b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"[..],
        b"((((((((",
        b"://",
        b"C:\\",
        b".",
        b"::",
        b"          ",
        &[b'a'; 70_000],
    ] {
        for form in [Structured, Quoted, Env, Line, Query, Prose] {
            let _ = (
                looks_secret(b"password", value, form),
                looks_secret(b"token", value, form),
                is_token_shaped(value),
            );
        }
    }
}
