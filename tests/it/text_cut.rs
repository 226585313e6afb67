//! Every built-in rule's examples, cut off by the end of the value: gone from 12 characters of the secret on, its prefix not
//! counted.

use std::collections::BTreeMap;
use std::ops::Range;

use blackbar::redact::Report;
use blackbar::redact::rules::{Mode, Rule, RuleSet};

use crate::text::builtin;

/// Characters of a secret's body that must be there.
const BODY: usize = 12;

/// Lines around a key, and what all URLs of a kind hold: no part of the secret.
const PUBLIC: [&[u8]; 5] = [
    b"/IncomingWebhook/",
    b"-----BEGIN PRIVATE KEY-----END PRIVATE KEY-----",
    b"-----BEGIN RSA PRIVATE KEY-----END RSA PRIVATE KEY-----",
    b"-----BEGIN OPENSSH PRIVATE KEY-----END OPENSSH PRIVATE KEY-----",
    b"-----BEGIN PGP PRIVATE KEY BLOCK-----END PGP PRIVATE KEY BLOCK-----",
];

/// Why the examples of a rule are found only from so many characters on, the prefix not counted.
type Exceptions = &'static [(&'static str, &'static [(&'static str, usize)])];
const EXCEPTIONS: Exceptions = &[
    (
        "Random characters until the mark by which the token is known, which stands inside it or at its end.",
        &[
            ("azure-acr-password", 52),
            ("azure-ad-client-secret", 30),
            ("azure-apim-key", 87),
            ("azure-batch-key", 87),
            ("azure-cask-84", 80),
            ("azure-cosmos-key", 87),
            ("azure-devops-pat", 84),
            ("azure-function-key", 52),
            ("azure-iot-key", 44),
            ("azure-redis-key", 44),
            ("azure-search-key", 52),
            ("azure-servicebus-eventhub", 44),
            ("azure-storage-key", 80),
            ("firebase-server", 21),
            ("k3s-token", 73),
            ("macaroon", 19),
            ("mailchimp", 36),
            ("maxmind", 40),
            ("new-relic-ingest", 40),
            ("new-relic-license", 40),
            ("pkcs-12", 20),
            ("private-key-der", 32),
            ("telegram-bot", 19),
            ("telegram-bot-any", 36),
            ("terraform-cloud", 25),
        ],
    ),
    (
        "It begins with what is no secret: an account, a header, parameters, the rest of a prefix.",
        &[
            ("asana", 16),
            ("clickup", 14),
            ("discord-webhook", 29),
            ("google-chat-webhook", 20),
            ("jwt", 35),
            ("password-hash", 51),
            ("password-hash-ldap", 46),
            ("paypal-braintree", 16),
            ("private-key", 82),
            ("salesforce", 15),
            ("stripe-secret", 18),
            ("teams-webhook", 16),
            ("twitch-stream-key", 16),
            ("twitter-bearer", 20),
        ],
    ),
    (
        "So much of it is also an id, a host, a version, a digest, or words of prose.",
        &[
            ("bearer-token", 18),
            ("cloudflare-origin-ca", 30),
            ("db-uri-blank-password", 22),
            ("cursor", 50),
            ("facebook-meta", 66),
            ("http-token-in-url", 40),
            ("jwk-symmetric-before", 43),
            ("labelled-hyphen", 19),
            ("labelled-secret", 16),
            ("labelled-token", 28),
            ("mnemonic", 79),
            ("square-access-token", 56),
            ("statsig", 14),
            ("vendor-key", 14),
            ("vendor-value", 20),
        ],
    ),
    (
        "Shorter, the example may be a name made of words.",
        &[
            ("artifactory", 15),
            ("atlassian-other", 17),
            ("aws-secret-key-beside-id", 21),
            ("brave-search", 25),
            ("db-uri-password", 15),
            ("dbt-cloud", 16),
            ("dropbox", 16),
            ("easypost", 16),
            ("frameio", 16),
            ("google-oauth-refresh", 16),
            ("grafana-cloud", 16),
            ("grafana-legacy", 16),
            ("honeycomb", 13),
            ("http-basic-in-url", 16),
            ("huggingface-user", 16),
            ("jina", 14),
            ("mandrill", 13),
            ("metabase", 20),
            ("nightfall", 13),
            ("nkey-seed", 14),
            ("notion-legacy", 16),
            ("openai-legacy", 19),
            ("piped-password", 13),
            ("prefect", 13),
            ("resend", 14),
            ("sk-key", 15),
            ("typeform", 13),
            ("vault-legacy", 42),
            ("vercel", 21),
            ("yandex-token", 16),
        ],
    ),
];

/// Whether a part of the secret, of so many bytes, is left in what becomes of the text.
fn leaks(text: &str, secret: &str) -> bool {
    const PART: usize = 6;
    let out = builtin().scrub(None, text.as_bytes(), &mut Report::default());
    let out = out.unwrap_or_else(|| text.as_bytes().to_vec());
    let is_left = |part: &[u8]| memchr::memmem::find(&out, part).is_some();
    let is_blank = |b: &u8| b.is_ascii_whitespace() || *b == b'\\';
    let mut parts = secret.as_bytes().windows(PART).filter(|part| !part.iter().any(is_blank));
    parts.any(|part| is_left(part) && !PUBLIC.iter().any(|line| memchr::memmem::find(line, part).is_some()))
}

/// How many bytes of the secret its rule's prefix has: an anchor, or the letters that the pattern begins with.
fn prefix_len(rule: &Rule, secret: &str) -> usize {
    let letters = rule.pattern.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let lead: String = letters.map(char::from).collect();
    let begins =
        |prefix: &&String| secret.get(..prefix.len()).is_some_and(|s| s.eq_ignore_ascii_case(prefix));
    rule.anchors.iter().chain([&lead]).filter(begins).map(String::len).max().unwrap_or(0)
}

#[test]
fn every_prefix_of_a_secret_goes() {
    let exceptions: BTreeMap<&str, usize> =
        EXCEPTIONS.iter().flat_map(|(_, rules)| rules.iter().copied()).collect();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut tried = 0;
    for rule in RuleSet::builtin().rules().iter().filter(|rule| rule.mode == Mode::Active) {
        for example in &rule.examples {
            for Range { start, end } in example.secrets.iter().cloned() {
                let secret = &example.text[start..end];
                let prefix = prefix_len(rule, secret);
                for keep in prefix + BODY..secret.len() {
                    let body = &secret[prefix..keep];
                    let bare = || rule.group.is_none() && leaks(&format!("it is {}", &secret[..keep]), body);
                    if leaks(&example.text[..start + keep], body) || bare() {
                        let from = found.entry(rule.id.to_string()).or_default();
                        *from = (*from).max(keep - prefix + 1);
                    }
                    tried += 1;
                }
            }
        }
    }
    let wrong: Vec<String> = found
        .iter()
        .filter(|(id, from)| exceptions.get(id.as_str()) != Some(from))
        .map(|(id, from)| format!("(\"{id}\", {from}),"))
        .collect();
    assert!(wrong.is_empty(), "found only from so many characters on:\n{}", wrong.join("\n"));
    // What is found must not stay an exception.
    let stale: Vec<_> = exceptions.keys().filter(|id| !found.contains_key(**id)).collect();
    assert!(stale.is_empty(), "{stale:?}");
    assert!(tried > 10_000);
}

#[test]
fn what_ends_a_value_and_begins_like_a_secret_stays() {
    for text in [
        "sk-learnclassif",
        "import fw_updateManager",
        "see https://d1a2b3c4e5f6g7.cloudfront.net",
        "https://[2001:db8:0:0:8:800:200c:417a]",
        "the organisation 00D5g000004ABCDEAW",
        "pod api-7d9f8c6b54-abcde",
        "docker://python:3.12.1-slim-bookworm",
        "key_01h8xgjwq3e5",
        "loading hf_transformersinteg",
        "\"d\":\"M10 10L20 20\"",
        "{\"auth\": \"required\"}",
        "tag v1.0-0123456789abcdef",
        "EAAAAGFiY2RlZmdo",
        "secret-store-controller-7f9c8",
        "echo \"$1$HOME/bin\"",
        "sha256=fw_eDVRNgVFFWiDlBnj6f280hxojPZ36v52N6f2emeI",
        "vault operator unseal-progress-check",
        "password for postgres://db.internal:5432/app",
        "-----BEGIN PRIVATE KEY-----",
    ] {
        assert_eq!(crate::text::scrubbed(builtin(), text), text);
    }
}
