//! Scope and content actions, by example and as properties.

use blackbar::otlp::{Payload, Signal};
use blackbar::redact::policy::{ContentAction, Policy, Scope};
use blackbar::redact::{Redacted, Redactor};
use bytes::Bytes;
use proptest::prelude::*;

use crate::walk::{attribute, concat, field, number, span, text};
use crate::walk_generate::{Choices, Oddity, any_request, encode_oddly};
use crate::walk_reference;
use crate::walk_stand_in::{MARKER, StandIn};

fn redact(scope: Scope, content_action: ContentAction, signal: Signal, body: &[u8]) -> Redacted {
    let content_attributes = ["tool.input", "gen_ai."].map(str::to_owned).to_vec();
    let redactor = Redactor::new(
        StandIn::new(),
        Policy { scope, content_attributes, content_action, ..Policy::default() },
    );
    redactor.redact(signal, Payload::new(body.to_vec())).unwrap()
}

fn attributes(attributes: &[Vec<u8>]) -> Vec<u8> {
    span(&attributes.iter().map(|attribute| field(9, attribute)).collect::<Vec<_>>().concat())
}

const MASKED: &str = "[REDACTED:masked]";

#[test]
fn exact_keys_and_prefixes() {
    let policy =
        Policy { content_attributes: vec!["tool.input".into(), "gen_ai.".into()], ..Policy::default() };
    for key in ["tool.input", "gen_ai.", "gen_ai.prompt"] {
        assert!(policy.content(key.as_bytes()).is_some(), "{key}");
    }
    for key in ["", "tool", "tool.input.x", "gen_ai", "x.gen_ai.", "TOOL.INPUT"] {
        assert!(policy.content(key.as_bytes()).is_none(), "{key}");
    }
}

#[test]
fn defaults_know_the_conventions() {
    let policy = Policy::default();
    for key in
        ["tool.input", "tool.output", "tool.input.headers", "gen_ai.input.messages", "ai.toolCall.args"]
    {
        assert!(policy.content(key.as_bytes()).is_some(), "{key}");
    }
    assert!(policy.content(b"http.request.method").is_none());
    assert_eq!((policy.scope, policy.content_action), (Scope::Everywhere, ContentAction::Scrub));
}

#[test]
fn mask_replaces_whole_values_of_any_type() {
    let kvlist = field(6, field(1, attribute("a", &text("b"))));
    for value in
        [text("harmless"), text("SECRET1"), number(2, 1), number(3, 5), field(5, field(1, text("x"))), kvlist]
    {
        let body = attributes(&[attribute("gen_ai.prompt", &value), attribute("other", &text("SECRET2"))]);
        let redacted = redact(Scope::Everywhere, ContentAction::Mask, Signal::Traces, &body);
        let expected = [attribute("gen_ai.prompt", &text(MASKED)), attribute("other", &text(MARKER))];
        assert_eq!(redacted.body(), &attributes(&expected));
        assert_eq!(redacted.report().redactions["masked"], 1);
    }
    // Value before key, and value twice.
    let body = attributes(&[concat(&[&field(2, text("a")), &field(1, "tool.input"), &field(2, text("b"))])]);
    let redacted = redact(Scope::Everywhere, ContentAction::Mask, Signal::Traces, &body);
    let expected = concat(&[&field(2, text(MASKED)), &field(1, "tool.input"), &field(2, text(MASKED))]);
    assert_eq!(redacted.body(), &attributes(&[expected]));
}

#[test]
fn drop_removes_the_attribute_at_any_depth() {
    let nested = |list: &[u8]| attribute("args", &field(6, list));
    let inner = field(1, attribute("gen_ai.prompt", &text("x SECRET1")));
    let kept = field(1, attribute("n", &number(3, 1)));
    let body = attributes(&[attribute("tool.input", &text("x")), nested(&concat(&[&inner, &kept]))]);
    let redacted = redact(Scope::Everywhere, ContentAction::Drop, Signal::Traces, &body);
    assert_eq!(redacted.body(), &attributes(&[nested(&kept)]));
    assert_eq!(redacted.report().redactions["dropped"], 2);
}

#[test]
fn truncate_cuts_after_scrubbing_and_never_inside_a_marker() {
    for (before, after) in [
        ("short", "short".to_owned()),
        ("exactly twenty bytes", "exactly twenty bytes".to_owned()),
        ("twenty bytes and a bit more", "twenty bytes and a b".to_owned()),
        ("nineteen bytes long\u{e9}", "nineteen bytes long".to_owned()),
        ("SECRET1 and more", MARKER.to_owned() + " "),
        ("1234567 SECRET1", "1234567 ".to_owned()),
    ] {
        let body =
            attributes(&[attribute("tool.input", &text(before)), attribute("other", &text(&"x".repeat(99)))]);
        let redacted = redact(Scope::Everywhere, ContentAction::Truncate(20), Signal::Traces, &body);
        let expected = [attribute("tool.input", &text(&after)), attribute("other", &text(&"x".repeat(99)))];
        assert_eq!(redacted.body(), &attributes(&expected), "{before}");
    }
}

#[test]
fn listed_scope_scans_the_values_of_listed_attributes_only() {
    let before = concat(&[
        &field(5, "SECRET1"),
        &field(77, "SECRET2"),
        &field(9, attribute("other", &text("SECRET3"))),
        &field(9, attribute("password", &number(3, 4))),
        &field(9, attribute("gen_ai.SECRET6", &field(6, field(1, attribute("SECRET4", &text("SECRET5")))))),
    ]);
    let after = concat(&[
        &field(5, "SECRET1"),
        &field(77, "SECRET2"),
        &field(9, attribute("other", &text("SECRET3"))),
        &field(9, attribute("password", &number(3, 4))),
        &field(9, attribute("gen_ai.SECRET6", &field(6, field(1, attribute(MARKER, &text(MARKER)))))),
    ]);
    let redacted = redact(Scope::Listed, ContentAction::Scrub, Signal::Traces, &span(&before));
    assert_eq!(redacted.body(), &span(&after));
}

#[test]
fn content_in_the_string_table_of_a_profile() {
    let table = |strings: [&str; 4], value: &[u8]| {
        let strings = strings.map(|text| field(5, text)).concat();
        field(2, concat(&[&strings, &field(6, concat(&[&number(1, 1), value]))]))
    };
    let value = field(2, number(8, 2));
    let body = table(["", "gen_ai.prompt", "the whole prompt", "SECRET1"], &value);
    for (scope, action, expected) in [
        (
            Scope::Everywhere,
            ContentAction::Mask,
            table(["", "gen_ai.prompt", MASKED, MARKER], &field(2, text(MASKED))),
        ),
        (Scope::Everywhere, ContentAction::Drop, table(["", "gen_ai.prompt", MASKED, MARKER], &[])),
        (
            Scope::Everywhere,
            ContentAction::Truncate(9),
            table(["", "gen_ai.prompt", "the whole", MARKER], &value),
        ),
        (Scope::Listed, ContentAction::Scrub, body.clone()),
        (Scope::Listed, ContentAction::Truncate(3), table(["", "gen_ai.prompt", "the", "SECRET1"], &value)),
    ] {
        assert_eq!(redact(scope, action, Signal::Profiles, &body).body(), &expected, "{scope:?} {action:?}");
    }
}

fn any_policy() -> impl Strategy<Value = (Scope, ContentAction)> {
    let scope = prop::sample::select(vec![Scope::Everywhere, Scope::Listed]);
    let action = prop_oneof![
        Just(ContentAction::Scrub),
        Just(ContentAction::Mask),
        Just(ContentAction::Drop),
        Just(ContentAction::Hmac),
        Just(ContentAction::KeepLast4),
        (0_usize..40).prop_map(ContentAction::Truncate),
    ];
    (scope, action)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_policy_is_idempotent_and_leaves_valid_protobuf(
        (scope, action) in any_policy(),
        signal in prop::sample::select(Signal::ALL.to_vec()),
        choices in prop::collection::vec(any::<u8>(), 0..1500),
        oddly in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let body = Bytes::from(encode_oddly(&message, &mut Choices::new(&oddly), Oddity::Equivalent));
        let once = redact(scope, action, signal, &body);
        prop_assert!(walk_reference::reencode(signal, once.body()).is_some());
        let twice = redact(scope, action, signal, once.body());
        prop_assert_eq!(once.body(), twice.body());
        prop_assert!(twice.report().is_unchanged());
        prop_assert_eq!(once.report().is_unchanged(), once.body() == &body);
    }
}
