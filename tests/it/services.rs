//! Services that are spared some kinds: by the name that their resource gives, and by no name that is in doubt.

use blackbar::app;
use blackbar::config::Env;
use blackbar::otlp::{Payload, Signal};
use blackbar::redact::Redactor;
use serde_json::{Value, json};

use crate::actions::{config, scrub};
use crate::cli::github_token;
use crate::config::load_text;
use crate::walk::{attribute, concat, field, number, text};

const SPARING: &str = "{ allow: { services: [{ name: load-test, kinds: [github-token, secret] }, { name: other, kinds: [jwt] }] } }";
const GITHUB: &str = "[REDACTED:github-token]";

fn redactor() -> Redactor {
    let config = load_text(&config(SPARING), &Env::default()).unwrap_or_else(|p| panic!("{p}")).config;
    app::redactor(&config.scrub).unwrap()
}

/// `resource` fields and one span whose name is a token, in this order.
fn request(signal: Signal, parts: &[Vec<u8>]) -> Vec<u8> {
    let redacted = redactor().redact(signal, Payload::new(field(1, parts.concat()))).unwrap();
    redacted.body().to_vec()
}

fn resource(attributes: &[Vec<u8>]) -> Vec<u8> {
    field(1, attributes.iter().map(|attribute| field(1, attribute)).collect::<Vec<_>>().concat())
}

fn named(name: &str) -> Vec<u8> {
    attribute("service.name", &text(name))
}

fn spans(name: &str) -> Vec<u8> {
    field(2, field(2, field(5, name)))
}

#[test]
fn a_service_is_spared_what_it_names_and_nothing_else() {
    let token = github_token();
    let key = concat!("sk-", "ant-", "api03-EXAMPLEEXAMPLEEXAMPLE");
    let group = |name: &str, token: &str, password: &str, key: &str| {
        let attributes = json!([
            {"key": "a", "value": {"stringValue": token}},
            {"key": "password", "value": {"intValue": "12345678"}},
            {"key": "password", "value": {"stringValue": password}},
            {"key": "b", "value": {"stringValue": key}}]);
        json!({"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": name}}]},
            "scopeSpans": [{"spans": [{"attributes": attributes}]}]})
    };
    let line = |groups: &[Value]| json!({"resourceSpans": groups}).to_string();
    let before = line(&[
        group("load-test", &token, "Xk9v2Lq8", key),
        group("shop", &token, "Xk9v2Lq8", key),
        group("other", &token, "Xk9v2Lq8", key),
    ]);
    let after: Value = serde_json::from_str(&scrub(SPARING, &before)).unwrap();
    let values = |i: usize| {
        let list = after["resourceSpans"][i]["scopeSpans"][0]["spans"][0]["attributes"].as_array().unwrap();
        list.iter().map(|a| a["value"].clone()).collect::<Vec<_>>()
    };
    let string = |text: &str| json!({ "stringValue": text });
    let anthropic = string("[REDACTED:anthropic-key]");
    assert_eq!(
        values(0),
        [string(&token), json!({"intValue": "12345678"}), string("Xk9v2Lq8"), anthropic.clone()]
    );
    let secret = string("[REDACTED:secret]");
    for i in [1, 2] {
        assert_eq!(values(i), [string(GITHUB), secret.clone(), secret.clone(), anthropic.clone()], "{i}");
    }
}

#[test]
fn the_name_counts_wherever_the_resource_stands_and_in_every_signal() {
    let token = github_token();
    let (name, spans) = (resource(&[named("load-test")]), spans(&token));
    for parts in [
        vec![name.clone(), spans.clone()],
        vec![spans.clone(), name.clone()],
        vec![spans.clone(), name.clone(), spans.clone()],
        // A resource in pieces is one resource.
        vec![resource(&[attribute("host.name", &text("h"))]), spans.clone(), name.clone()],
        vec![name.clone(), spans.clone(), name.clone()],
        vec![resource(&[concat(&[&field(2, text("load-test")), &field(1, "service.name")])]), spans.clone()],
    ] {
        assert_eq!(request(Signal::Traces, &parts), field(1, parts.concat()));
    }
    // A log record's body; a metric's name.
    let logs = field(2, field(2, field(5, text(&token))));
    assert_eq!(request(Signal::Logs, &[logs.clone(), name.clone()]), field(1, [logs, name.clone()].concat()));
    let metrics = field(2, field(2, field(1, &token)));
    assert_eq!(
        request(Signal::Metrics, &[name.clone(), metrics.clone()]),
        field(1, [name, metrics].concat())
    );
}

#[test]
fn in_doubt_nothing_is_spared() {
    let token = github_token();
    let value = |value: Vec<u8>| attribute("service.name", &value);
    for attributes in [
        vec![],
        vec![named("shop")],
        vec![named("load-test ")],
        vec![named("LOAD-TEST")],
        vec![named("load-test"), named("shop")],
        vec![named("shop"), named("load-test")],
        vec![named("load-test"), value(number(3, 1))],
        vec![value(number(3, 1))],
        vec![value(field(7, "load-test"))],
        vec![value(field(5, field(1, text("load-test"))))],
        // Several texts in one value, several values, several keys.
        vec![value([text("load-test"), text("shop")].concat())],
        vec![value([text("shop"), text("load-test")].concat())],
        vec![concat(&[&field(1, "service.name"), &field(2, text("shop")), &field(2, text("load-test"))])],
        vec![concat(&[&field(1, "x"), &field(1, "service.name"), &field(2, text("load-test"))])],
        vec![concat(&[&field(1, "service.name"), &field(1, "x"), &field(2, text("load-test"))])],
        vec![concat(&[&field(1, "service.name")])],
        vec![attribute("x", &field(6, field(1, named("load-test"))))],
    ] {
        for order in [0, 1] {
            let mut parts = vec![resource(&attributes), spans(&token)];
            parts.rotate_left(order);
            let got = request(Signal::Traces, &parts);
            let mut expected = [resource(&attributes), spans(GITHUB)];
            expected.rotate_left(order);
            assert_eq!(got, field(1, expected.concat()), "{attributes:?}");
        }
    }
    // Two resources that disagree, and names where they name no resource.
    for parts in [
        vec![resource(&[named("load-test")]), resource(&[named("shop")]), spans(&token)],
        vec![field(2, concat(&[&field(1, field(3, named("load-test"))), &field(2, field(5, &token))]))],
        vec![field(2, field(2, concat(&[&field(9, named("load-test")), &field(5, &token)])))],
    ] {
        let got = request(Signal::Traces, &parts);
        assert!(!got.windows(token.len()).any(|window| window == token.as_bytes()), "{parts:?}");
    }
    // The name of one group is none of the next.
    let two =
        [field(1, [resource(&[named("load-test")]), spans("x")].concat()), field(1, spans(&token))].concat();
    let got = redactor().redact(Signal::Traces, Payload::new(two)).unwrap();
    assert!(got.body().windows(GITHUB.len()).any(|window| window == GITHUB.as_bytes()));
}

#[test]
fn a_profile_names_its_service_by_index_too_and_shares_its_strings() {
    let token = github_token();
    let table =
        |token: &str| field(2, ["", "service.name", "load-test", token].map(|text| field(5, text)).concat());
    let name = field(1, field(1, concat(&[&number(3, 1), &field(2, number(8, 2))])));
    let schema = |token: &str| field(1, [name.clone(), field(3, token)].concat());
    let body = [table(&token), schema(&token)].concat();
    let got = redactor().redact(Signal::Profiles, Payload::new(body)).unwrap();
    // The table is everybody's.
    assert_eq!(got.body(), &[table(GITHUB), schema(&token)].concat());
}

#[test]
fn services_and_kinds_must_be_named() {
    for (services, part) in [
        ("[{ name: a }]", "allow.services[0].kinds: must list the kinds"),
        ("[{ name: a, kinds: [] }]", "allow.services[0].kinds: must list the kinds"),
        ("[{ kinds: [jwt] }]", "allow.services[0].name: is missing"),
        ("[{ name: a, kinds: [jwtt] }]", "allow.services: unknown kind of rule; did you mean `jwt`?"),
        (
            "[{ name: a, kinds: [jwt] }, { name: a, kinds: [jwt] }]",
            "allow.services[1].name: names a service a second time",
        ),
        ("{ name: a }", "allow.services: expected a list"),
    ] {
        let settings = format!("{{ allow: {{ services: {services} }} }}");
        let problems = load_text(&config(&settings), &Env::default()).unwrap_err();
        assert_eq!(problems.0.len(), 1, "{settings}\n{problems}");
        assert!(problems.to_string().contains(part), "{settings}\n{problems}");
    }
}
