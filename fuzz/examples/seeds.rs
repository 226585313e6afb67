//! Writes the seed corpora: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`, from anywhere.
//!
//! The requests are those of the JSON tests, with fake secrets put in: put together here, so that no file holds one.

use std::fs;
use std::path::Path;

use blackbar::otlp::Signal;
use blackbar::otlp::json::to_protobuf;
use serde_json::Value;
use serde_json::value::RawValue;

const GOLDEN: [&str; 5] = ["bytes", "enums", "ids", "leniency", "numbers"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = here.join("../tests/golden/json");
    for target in ["walk", "json", "decode"] {
        fs::create_dir_all(here.join("corpus").join(target))?;
    }
    let write = |target: &str, name: String, bytes: Vec<u8>| {
        fs::write(here.join("corpus").join(target).join(name), bytes)
    };

    // Whole requests, for the walk in protobuf and for JSON as they are.
    let requests: Vec<std::collections::HashMap<String, Box<RawValue>>> =
        serde_json::from_slice(&fs::read(golden.join("requests.json"))?)?;
    for (number, case) in requests.iter().enumerate() {
        let (Some(message), Some(json)) = (case.get("message"), case.get("json")) else { continue };
        for (choice, signal) in Signal::ALL.iter().enumerate() {
            let name: String = serde_json::from_str(message.get())?;
            if !signal.request().name.ends_with(&name) {
                continue;
            }
            let choice = u8::try_from(choice)?;
            let body = json.get().replace("boom", &fakes()[0]).replace("/etc/hosts", &fakes()[1]);
            write("json", format!("request-{number}"), [&[choice], body.as_bytes()].concat())?;
            let protobuf = to_protobuf(signal.request(), body.as_bytes())?;
            write("walk", format!("request-{number}"), [&[choice], protobuf.as_slice()].concat())?;
            write("json", format!("protobuf-{number}"), [&[choice], protobuf.as_slice()].concat())?;
        }
    }

    // Values of each kind, as the body of a log or among the fields of a span.
    for file in GOLDEN {
        let cases: Vec<Value> = serde_json::from_slice(&fs::read(golden.join(format!("{file}.json")))?)?;
        for (number, case) in cases.iter().enumerate() {
            let (choice, before, after) = match case["message"].as_str() {
                Some("Span") => (0, r#"{"resourceSpans":[{"scopeSpans":[{"spans":["#, "]}]}]}"),
                Some("HistogramDataPoint") => (
                    1,
                    r#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":["#,
                    "]}}]}]}]}",
                ),
                Some("AnyValue") => {
                    (2, r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":"#, "}]}]}]}")
                }
                _ => continue,
            };
            let value = case["text"].as_str().map_or_else(|| case["json"].to_string(), str::to_owned);
            let json = [before, &value, after].concat();
            write("json", format!("{file}-{number}"), [&[choice], json.as_bytes()].concat())?;
            if let Ok(protobuf) = to_protobuf(Signal::ALL[usize::from(choice)].request(), json.as_bytes()) {
                write("walk", format!("{file}-{number}"), [&[choice], protobuf.as_slice()].concat())?;
            }
        }
    }

    // What the fuzzer has found once.
    write("decode", "found-1".to_owned(), b"\x01password\n\x9b[31mAK457a\\u".to_vec())?;

    // Texts with a fake in each wrapping.
    for (number, fake) in fakes().iter().enumerate() {
        let texts = [
            fake.clone(),
            format!("export API_KEY={fake}\n"),
            format!("Authorization: Bearer {fake}"),
            serde_json::json!({ "password": fake, "n": [1, fake] }).to_string(),
            serde_json::json!({ "log": serde_json::json!({ "token": fake }).to_string() }).to_string(),
            fake.bytes().map(|byte| format!("{byte:02x}")).collect(),
            fake.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            fake.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect(),
            fake.chars().flat_map(|c| [c, '\u{200b}']).collect(),
            format!("\u{1b}[31m{}\u{1b}[0m{}", &fake[..8], &fake[8..]),
        ];
        for (wrapping, text) in texts.iter().enumerate() {
            write("decode", format!("bare-{number}-{wrapping}"), [b"\0", text.as_bytes()].concat())?;
            write(
                "decode",
                format!("keyed-{number}-{wrapping}"),
                [b"\x01password\n", text.as_bytes()].concat(),
            )?;
        }
    }
    Ok(())
}

/// Fakes of the right shape.
fn fakes() -> [String; 4] {
    let alnum = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T".repeat(3);
    [
        ["gh", "p_", &alnum[..36]].concat(),
        ["sk-", "ant-api03-", &alnum[..93], "AA"].concat(),
        ["AK", "IA", "QRSTUVWX23456789"].concat(),
        ["ey", "JhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiJ4In0", ".", &alnum[..43]].concat(),
    ]
}
