//! A canary in every place of OTLP that can carry text, in several wrappings, through every door: it must not come out,
//! and what stands beside it must come out as it was.
//!
//! The places come from the descriptors of `proto/`, so a new field can't be missed. Recorded bodies and seeds are
//! elsewhere; so are the wrappings of the scanner alone.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blackbar::otlp::Signal;
use prost_reflect::DynamicMessage;

use crate::places::places;
use crate::support::backend::Backend;
use crate::support::client::{Client, Via};
use crate::support::config;
use crate::support::messages::{decode, texts, without_texts};
use crate::support::process::Process;

/// A fake token, another one for each number.
fn canary(number: usize) -> String {
    let body: String =
        format!("{:032x}", (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
    format!("{}{body}Zz9Q", concat!("gh", "p_"))
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

type Wrap = fn(&str) -> String;

/// The wrappings: what is sent for a canary.
const WRAPPINGS: [(&str, Wrap); 5] = [
    ("plain", |canary| format!("the token is {canary} here")),
    ("JSON", |canary| serde_json::json!({"cmd": "run", "args": [1, canary]}).to_string()),
    ("JSON in JSON", |canary| {
        let inner = serde_json::json!({"output": canary}).to_string();
        serde_json::json!({"result": inner}).to_string()
    }),
    ("base64", |canary| format!("data: {}", STANDARD.encode(format!("value={canary}\n")))),
    ("hex", |canary| format!("data: {}", hex(&format!("value={canary}\n")))),
];

/// Every form in which the canary could be read behind us.
fn readable(canary: &str) -> Vec<String> {
    let body = &canary[4..];
    let mut forms = vec![body.to_owned(), hex(body)];
    for shift in 0..3 {
        let encoded = STANDARD.encode(format!("{}{body}", &"xyz"[..shift]));
        forms.push(encoded[4..encoded.len() - 4].to_owned());
    }
    forms
}

/// Places in one request: the concatenation of encoded requests is their union.
const TOGETHER: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_leaves_any_place_by_any_door() {
    let backend = Backend::start().await;
    let blackbar = Process::run(&config(&format!("otlp_grpc: {{endpoint: '{}'}}", backend.grpc_url()))).await;
    let client = Client::new();
    let mut failures = Vec::new();
    let mut tried = 0;
    for signal in Signal::ALL {
        let places = places(signal);
        for (wrapping, wrap) in WRAPPINGS {
            for via in Via::ALL {
                for together in places.chunks(TOGETHER) {
                    let label = format!("{wrapping}, {via:?}");
                    let canaries: Vec<String> = (tried..).map(canary).take(together.len()).collect();
                    tried += together.len();
                    let planted = together.iter().zip(&canaries);
                    let requests: Vec<_> =
                        planted.map(|(place, canary)| place.request(wrap(canary).as_bytes())).collect();
                    let sent = requests.concat();
                    let answer = client.export(&blackbar.url("otlp/grpc"), signal, via, &sent).await;
                    if !answer.is_ok() {
                        failures.push(format!(
                            "{label}: refused, {} {:?}",
                            answer.status,
                            answer.grpc_status()
                        ));
                        continue;
                    }
                    let out = backend.last().message;
                    let redacted = decode(signal, &out);
                    let texts = [vec![out.to_vec()], texts(&redacted)].concat();
                    for (place, canary) in together.iter().zip(&canaries) {
                        let forms = readable(canary);
                        let shows = |text: &[u8]| {
                            forms.iter().any(|form| memchr::memmem::find(text, form.as_bytes()).is_some())
                        };
                        if texts.iter().any(|text| shows(text)) {
                            failures.push(format!("{label}, {place}: came out"));
                        }
                    }
                    compare(&label, signal, &sent, redacted, &mut failures);
                }
            }
        }
    }
    assert!(tried > 10_000, "only {tried} canaries: the places were not found");
    let (status, log) = blackbar.terminate().await;
    assert!(status.success());
    assert!((0..tried).all(|n| !log.contains(&canary(n)[4..])), "a canary is in the log");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Identifiers, numbers, times and every text without a canary come out as they were.
fn compare(label: &str, signal: Signal, sent: &[u8], redacted: DynamicMessage, failures: &mut Vec<String>) {
    let original = decode(signal, sent);
    let clean = |message: &DynamicMessage| {
        let is_neighbour = |text: &Vec<u8>| text.starts_with(b"neighbour.");
        texts(message).into_iter().filter(is_neighbour).collect::<Vec<_>>()
    };
    if clean(&original) != clean(&redacted) {
        failures.push(format!("{label}: a text beside a canary changed"));
    }
    if without_texts(original) != without_texts(redacted) {
        failures.push(format!("{label}: something other than text changed"));
    }
}
