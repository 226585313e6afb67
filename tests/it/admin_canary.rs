//! The self-canary: what makes it pass and fail, and how it moves health over time.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blackbar::admin::canary::{RedactFn, check, run};
use blackbar::admin::{Health, Readiness};
use blackbar::otlp::{Payload, Signal};
use blackbar::redact::canary::{ANCHOR, BODY_LEN, KIND};
use blackbar::redact::policy::{ContentAction, Scope};
use blackbar::redact::rules::RuleSet;
use blackbar::redact::{Policy, Redactor, TextScrubber};
use blackbar::telemetry::Metrics;
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use tokio_util::sync::CancellationToken;

/// A toy redactor of decoded values: `scrub` says what becomes of each attribute value.
fn redactor(scrub: fn(&str) -> String) -> impl Fn(Signal, Payload) -> Option<Bytes> + Send + Sync {
    move |signal, payload| {
        assert_eq!(signal, Signal::Traces);
        let mut request = ExportTraceServiceRequest::decode(payload.into_bytes()).unwrap();
        let span = &mut request.resource_spans[0].scope_spans[0].spans[0];
        assert_eq!((span.trace_id.len(), span.span_id.len(), span.attributes.len()), (16, 8, 2));
        for attribute in &mut span.attributes {
            let Some(Value::StringValue(text)) = &mut attribute.value.as_mut().unwrap().value else {
                panic!("a canary that is not text")
            };
            *text = scrub(text);
        }
        Some(request.encode_to_vec().into())
    }
}

fn plain(text: &str) -> String {
    match text.strip_prefix(ANCHOR) {
        Some(body) if body.len() == BODY_LEN => "[REDACTED:blackbar-canary]".to_owned(),
        _ => text.to_owned(),
    }
}

fn base64(text: &str) -> String {
    match STANDARD.decode(text) {
        Ok(inner) if inner.starts_with(ANCHOR.as_bytes()) => plain(std::str::from_utf8(&inner).unwrap()),
        _ => text.to_owned(),
    }
}

#[test]
fn passes_only_when_both_forms_go_and_the_neighbour_stays() {
    assert!(check(&redactor(|text| base64(&plain(text)))));
    assert!(!check(&redactor(str::to_owned)), "nothing redacted");
    assert!(!check(&redactor(plain)), "the base64 form survived");
    assert!(!check(&redactor(base64)), "the plain form survived");
    assert!(!check(&|_, _| Some(Bytes::new())), "everything destroyed");
    assert!(!check(&|_, _| None), "refused");
    assert!(!check(&|_, _| panic!("a broken redactor")), "panicked");
}

/// The live redactor with these rules and this policy, as the process gives it to the canary.
fn live(rules: RuleSet, policy: Policy) -> impl Fn(Signal, Payload) -> Option<Bytes> + Send + Sync {
    let redactor = Redactor::new(TextScrubber::new(rules).unwrap(), policy);
    move |signal, payload| {
        let redacted = redactor.redact(signal, payload).ok()?;
        let report = redacted.report();
        assert!(!report.redactions.contains_key(KIND), "the canary is not counted");
        assert!(!report.is_unchanged(), "changed, counted or not");
        Some(redacted.body().clone())
    }
}

#[test]
fn no_rules_and_no_policy_can_switch_it_off() {
    let mut disabled = RuleSet::builtin();
    disabled.disable(&[KIND, "secret"]);
    for rules in [RuleSet::empty(), RuleSet::builtin(), disabled] {
        for scope in [Scope::Everywhere, Scope::Listed] {
            let truncate = ContentAction::Truncate(5);
            for content_action in [ContentAction::Scrub, ContentAction::Mask, ContentAction::Drop, truncate] {
                let policy =
                    Policy { scope, content_attributes: Vec::new(), content_action, ..Policy::default() };
                assert!(check(&live(rules.clone(), policy.clone())), "{policy:?}");
            }
        }
    }
}

#[test]
fn every_canary_is_new() {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let sink = Arc::clone(&seen);
    let refuse: Box<RedactFn> = Box::new(move |_, payload| {
        sink.lock().unwrap().insert(payload.into_bytes());
        None
    });
    for _ in 0..20 {
        assert!(!check(refuse.as_ref()));
    }
    assert_eq!(seen.lock().unwrap().len(), 20);
}

/// 0: works, 1: leaks.
static LEAKS: AtomicU8 = AtomicU8::new(0);
static CHECKS: AtomicU64 = AtomicU64::new(0);

#[tokio::test(start_paused = true)]
async fn health_follows_the_canary_and_recovers() {
    let redact: Arc<RedactFn> = Arc::new(redactor(|text| {
        CHECKS.fetch_add(1, Ordering::SeqCst);
        if LEAKS.load(Ordering::SeqCst) == 1 { text.to_owned() } else { base64(&plain(text)) }
    }));
    let (health, metrics) = (Arc::new(Health::default()), Arc::new(Metrics::default()));
    health.set_serving();
    let shutdown = CancellationToken::new();
    let minute = Duration::from_secs(60);
    let task = tokio::spawn(run(redact, minute, Arc::clone(&health), Arc::clone(&metrics), shutdown.clone()));
    let mut watch = health.watch();
    watch.wait_for(|ready| *ready).await.unwrap();
    assert_eq!(CHECKS.load(Ordering::SeqCst), 2, "one check of two values at the start");

    LEAKS.store(1, Ordering::SeqCst);
    tokio::time::sleep(minute / 2).await;
    assert!(health.redaction_works(), "nothing is checked between two ticks");
    watch.wait_for(|ready| !*ready).await.unwrap();
    assert!(!health.redaction_works() && health.is_live());
    assert_eq!(health.readiness(), Readiness::CanarySurvived);
    tokio::time::sleep(2 * minute + minute / 2).await;
    assert!(!health.is_live(), "three failures in a row");
    assert!(metrics.render().contains("blackbar_canary_failures_total 3\n"));

    LEAKS.store(0, Ordering::SeqCst);
    watch.wait_for(|ready| *ready).await.unwrap();
    assert!(health.is_live() && health.redaction_works());

    shutdown.cancel();
    task.await.unwrap();
}
