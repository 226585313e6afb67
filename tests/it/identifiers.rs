//! Identifiers, hashes and pictures that machines make are no secrets: 100,000 random ones of each family stay, in the
//! contexts in which agents, build tools and services write them.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use blackbar::redact::Report;
use blackbar::redact::text::KeyPath;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::text::builtin;

/// Texts in all, over all kinds.
const TEXTS: usize = 100_000;

type Random<'r> = &'r mut StdRng;

fn bytes(rng: Random<'_>, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.random()).collect()
}

fn of(rng: Random<'_>, alphabet: &[u8], len: usize) -> String {
    (0..len).map(|_| char::from(*alphabet.choose(rng).unwrap())).collect()
}

fn hex(rng: Random<'_>, len: usize) -> String {
    of(rng, b"0123456789abcdef", len)
}

fn uuid(rng: Random<'_>) -> String {
    let hex = hex(rng, 32);
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

fn one(rng: Random<'_>, choices: &[&str]) -> String {
    (*choices.choose(rng).unwrap()).to_owned()
}

const ALNUM: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const NANOID: &[u8] = b"useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict";

/// What identifies or digests, in the spelling of its makers.
const IDENTIFIERS: [fn(Random<'_>) -> String; 22] = [
    |rng| hex(rng, 32),
    |rng| hex(rng, 40),
    |rng| hex(rng, 64),
    |rng| hex(rng, 128),
    |rng| hex(rng, 16),
    |rng| {
        let len = rng.random_range(7..13);
        hex(rng, len)
    },
    |rng| hex(rng, 64).to_uppercase(),
    uuid,
    |rng| uuid(rng).to_uppercase(),
    |rng| format!("urn:uuid:{}", uuid(rng)),
    |rng| format!("sha256-{}", STANDARD.encode(bytes(rng, 32))),
    |rng| format!("sha384-{}", STANDARD.encode(bytes(rng, 48))),
    |rng| format!("sha512-{}", STANDARD.encode(bytes(rng, 64))),
    |rng| format!("h1:{}", STANDARD.encode(bytes(rng, 32))),
    |rng| format!("sha256:{}", hex(rng, 64)),
    |rng| format!("SHA256:{}", STANDARD_NO_PAD.encode(bytes(rng, 32))),
    |rng| of(rng, CROCKFORD, 26),
    |rng| of(rng, ALNUM, 27),
    |rng| of(rng, NANOID, 21),
    |rng| format!("sha256={}", URL_SAFE_NO_PAD.encode(bytes(rng, 32))),
    |rng| format!("W/\"{}\"", hex(rng, 32)),
    |rng| {
        let prefix = one(
            rng,
            &[
                "toolu_01",
                "call_",
                "chatcmpl-",
                "msg_01",
                "run_",
                "req_",
                "resp_",
                "thread_",
                "asst_",
                "file-",
            ],
        );
        prefix + &of(rng, ALNUM, 24)
    },
];

/// `{}` is the identifier.
const TEXTS_AROUND: [&str; 28] = [
    "{}",
    "Commit {} fixed the build; the tests of step 3 go through now.",
    "commit {}\nAuthor: A <a@example.org>\nDate:   Mon May 13 10:00:00 2024 +0200\n\n    area: what\n",
    "HEAD is now at {} docs: say why",
    "See `{}` and run the tests again.",
    "trace {} took 512 ms in span {}",
    "2024-05-12T10:00:00Z INFO server: request id={} status=200",
    "level=info msg=\"done\" id={} hash={} duration=1.2s",
    "docker pull ghcr.io/example/image@{}",
    "{\"id\": \"{}\", \"ok\": true}",
    "{\"commit\": \"{}\", \"files\": [\"a.rs\", \"b.rs\"], \"parent\": \"{}\"}",
    "{\"content\": \"{\\\"id\\\": \\\"{}\\\", \\\"etag\\\": \\\"{}\\\"}\"}",
    "{\"type\":\"tool_use\",\"id\":\"{}\",\"name\":\"shell\",\"input\":{\"command\":\"git show {}\"}}",
    "\\n{}\\n",
    "      \"integrity\": \"{}\",\n      \"resolved\": \"https://registry.example.org/a/-/a-1.0.0.tgz\"",
    "checksum = \"{}\"",
    "example.org/module v1.2.3 {}\n",
    "    --hash=sha256:{} \\",
    "ETag: {}\r\nContent-Length: 12\r\n",
    "GET /api/v1/orders/{}?page=2&cursor={} 200",
    "https://example.org/blob/{}/src/main.rs#L10",
    "<script src=\"a.js\" integrity=\"{}\" crossorigin=\"anonymous\"></script>",
    "key: {}",
    "cache-key-{}",
    "Linux-cargo-{}",
    "- uses: actions/checkout@{} # v4",
    "mcp__{}__list_files",
    "main.{}.js",
];

/// Ordinary keys, which promise no secret.
const KEYS: [&str; 18] = [
    "id",
    "commit",
    "hash",
    "etag",
    "integrity",
    "trace_id",
    "span_id",
    "tool_call_id",
    "gen_ai.tool.call.id",
    "key",
    "cache_key",
    "session.id",
    "vcs.ref.head.revision",
    "container.image.id",
    "digest",
    "checksum",
    "fingerprint",
    "cursor",
];

/// Pictures as they stand in pages, notebooks and messages of models.
fn picture(rng: Random<'_>) -> String {
    let heads: [(&str, &[u8]); 4] = [
        ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0"),
        ("gif", b"GIF89a"),
        ("webp", b"RIFF\x24\0\0\0WEBPVP8 "),
    ];
    let (kind, head) = heads.choose(rng).unwrap();
    let len = rng.random_range(64..1500);
    let data = STANDARD.encode([head, bytes(rng, len).as_slice()].concat());
    match rng.random_range(0..5) {
        0 => format!("<img src=\"data:image/{kind};base64,{data}\">"),
        1 => format!("a {{ background: url(data:image/{kind};base64,{data}) no-repeat; }}"),
        2 => format!("{{\"type\": \"base64\", \"media_type\": \"image/{kind}\", \"data\": \"{data}\"}}"),
        3 => format!("{{\"cells\": [{{\"outputs\": [{{\"data\": {{\"image/{kind}\": \"{data}\\n\"}}}}]}}]}}"),
        _ => data.as_bytes().chunks(76).fold(String::new(), |mut lines, line| {
            writeln!(lines, "{}", String::from_utf8_lossy(line)).unwrap();
            lines
        }),
    }
}

/// A text without a secret, and the key that it stands under.
fn harmless(rng: Random<'_>, n: usize) -> (Option<&'static str>, String) {
    if n.is_multiple_of(20) {
        return (None, picture(rng));
    }
    let identifier = *IDENTIFIERS.choose(rng).unwrap();
    if n.is_multiple_of(4) {
        return (KEYS.choose(rng).copied(), identifier(rng));
    }
    let around = TEXTS_AROUND.choose(rng).unwrap();
    let mut text = String::new();
    for (nth, piece) in around.split("{}").enumerate() {
        if nth > 0 {
            text += &identifier(rng);
        }
        text += piece;
    }
    (None, text)
}

#[test]
fn random_identifiers_hashes_and_pictures_stay() {
    let mut rng = StdRng::seed_from_u64(20_261_130);
    let mut wrong = Vec::new();
    for n in 0..TEXTS {
        let (key, text) = harmless(&mut rng, n);
        let keys = key.map(|key| KeyPath { key: key.as_bytes(), parent: None });
        if let Some(out) = builtin().scrub(keys.as_ref(), text.as_bytes(), &mut Report::default()) {
            wrong.push(format!("{key:?} {text}\n    {}", String::from_utf8_lossy(&out)));
        }
    }
    assert!(wrong.is_empty(), "{} of {TEXTS}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
