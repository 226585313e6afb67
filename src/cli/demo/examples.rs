//! What the demo sends: what an agent at work leaves behind. Every credential is a fake, put together here, so that this
//! file trips no scanner.

use serde_json::{Value, json};

use super::client::Via;
use crate::otlp::Signal;

/// One export request.
pub(super) struct Example {
    pub(super) signal: Signal,
    pub(super) via: Via,
    /// OTLP/JSON.
    pub(super) json: String,
    /// What must not come out.
    pub(super) credentials: Vec<String>,
}

/// A trace, a log and a metric.
pub(super) fn all() -> Vec<Example> {
    vec![trace(), log(), metric()]
}

fn trace() -> Example {
    let anthropic = format!("{}{}AA", concat!("sk-", "ant-api03-"), letters(1, 93));
    let aws = format!("{}{}", concat!("AK", "IA"), "Q3EGRZ7WXNDT5LKH");
    let jwt = format!(
        "{}.{}.{}",
        concat!("eyJ", "hbGciOiJIUzI1NiJ9"),
        concat!("eyJ", "zdWIiOiI0MiJ9"),
        letters(2, 43)
    );
    let span = json!({
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "execute_tool Bash",
        "kind": 1,
        "startTimeUnixNano": "1764500000000000000",
        "endTimeUnixNano": "1764500001200000000",
        "attributes": [
            text("gen_ai.tool.name", "Bash"),
            text("tool.input", &format!("{{\"command\": \"curl -H 'Authorization: Bearer {jwt}' https://shop.example/api\"}}")),
            text("tool.output", &format!("export ANTHROPIC_API_KEY={anthropic}\nexport AWS_ACCESS_KEY_ID={aws}\n")),
            { "key": "gen_ai.usage.input_tokens", "value": { "intValue": "1204" } },
        ],
    });
    let json = json!({ "resourceSpans": [{
        "resource": { "attributes": [text("service.name", "shop-agent")] },
        "scopeSpans": [{ "scope": { "name": "agent" }, "spans": [span] }],
    }] });
    Example {
        signal: Signal::Traces,
        via: Via::Json,
        json: json.to_string(),
        credentials: vec![anthropic, aws, jwt],
    }
}

fn log() -> Example {
    let github = format!("{}{}", concat!("gh", "p_"), letters(3, 36));
    let password = letters(4, 14);
    let record = json!({
        "timeUnixNano": "1764500002000000000",
        "severityNumber": 17,
        "severityText": "ERROR",
        "body": { "stringValue": format!("push rejected: https://bot:{github}@git.example/acme/shop.git") },
        "attributes": [
            text(
                "exception.message",
                &format!("no connection to postgres://shop:{password}@db.example:5432/orders"),
            ),
            text("order.id", "4711"),
        ],
    });
    let json = json!({ "resourceLogs": [{
        "resource": { "attributes": [text("service.name", "shop-agent")] },
        "scopeLogs": [{ "logRecords": [record] }],
    }] });
    Example {
        signal: Signal::Logs,
        via: Via::Protobuf,
        json: json.to_string(),
        credentials: vec![github, password],
    }
}

fn metric() -> Example {
    let key = letters(5, 32);
    let point = json!({
        "timeUnixNano": "1764500003000000000",
        "asInt": "3",
        "attributes": [
            text("http.request.header.x-api-key", &key),
            text("server.address", "api.example"),
        ],
    });
    let json = json!({ "resourceMetrics": [{
        "resource": { "attributes": [text("service.name", "shop-agent")] },
        "scopeMetrics": [{ "metrics": [{
            "name": "http.client.retries",
            "unit": "{retry}",
            "sum": { "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [point] },
        }] }],
    }] });
    Example { signal: Signal::Metrics, via: Via::Grpc, json: json.to_string(), credentials: vec![key] }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Letters and digits that look random and are the same each time.
fn letters(seed: u64, length: usize) -> String {
    const ALPHABET: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed;
    (0..length)
        .filter_map(|_| {
            // A linear congruential generator (constants: Knuth, MMIX).
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).unwrap_or_default() % ALPHABET.len();
            ALPHABET.chars().nth(at)
        })
        .collect()
}
