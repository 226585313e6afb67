//! A canary in every place of OTLP that can carry text, in several wrappings, through every door: it must not come out,
//! and what stands beside it must come out as it was.
//!
//! The places come from the descriptors of `proto/`, so a new field can't be missed. Recorded bodies and seeds are
//! elsewhere; so are the wrappings of the scanner alone.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blackbar::otlp::Signal;

use crate::places::{PlaceKind, places};
use crate::support::backend::Backend;
use crate::support::client::{Client, Via};
use crate::support::config;
use crate::support::messages::{decode, texts, without_strings};
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

/// The wrappings: what is sent for a canary.
const WRAPPINGS: [(&str, fn(&str) -> String); 5] = [
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

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_leaves_any_place_by_any_door() {
    let backend = Backend::start().await;
    let blackbar = Process::run(&config(&format!("otlp_grpc: {{endpoint: '{}'}}", backend.grpc_url()))).await;
    let client = Client::new();
    let mut failures = Vec::new();
    let mut sent = 0;
    for signal in Signal::ALL {
        for place in places(signal) {
            for (wrapping, wrap) in WRAPPINGS {
                for via in Via::ALL {
                    // JSON has no unknown fields to carry, and its text can't hold them either.
                    if via == Via::Json && place.kind == PlaceKind::Unknown {
                        continue;
                    }
                    let label = format!("{place}, {wrapping}, {via:?}");
                    let canary = canary(sent);
                    let request = place.request(wrap(&canary).as_bytes());
                    let answer = client.export(&blackbar.url("otlp/grpc"), signal, via, &request).await;
                    if !answer.is_ok() {
                        failures.push(format!("{label}: refused"));
                        continue;
                    }
                    sent += 1;
                    let out = backend.last().message;
                    let redacted = decode(signal, &out);
                    for form in readable(&canary) {
                        let shows = |text: &[u8]| memchr::memmem::find(text, form.as_bytes()).is_some();
                        if shows(&out) || texts(&redacted).iter().any(|text| shows(text)) {
                            failures.push(format!("{label}: came out"));
                        }
                    }
                    let dropped = place.kind == PlaceKind::Unknown || label.contains("original_payload");
                    if !dropped && without_strings(redacted) != without_strings(decode(signal, &request)) {
                        failures.push(format!("{label}: something other than text changed"));
                    }
                    if via != Via::Json && place.without(&out) != place.without(&request) {
                        failures.push(format!("{label}: something beside it changed"));
                    }
                }
            }
        }
    }
    assert!(sent > 1000, "only {sent} requests: the places were not found");
    let (status, log) = blackbar.terminate().await;
    assert!(status.success());
    assert!((0..sent).all(|n| !log.contains(&canary(n)[4..])), "a canary is in the log");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
