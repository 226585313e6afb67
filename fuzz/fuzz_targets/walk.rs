//! The walk takes any bytes as an export request: it refuses them or redacts them, and then there is nothing left to
//! redact.
//!
//! The first byte chooses the signal, the rest is the body.

#![no_main]

use std::sync::LazyLock;

use blackbar::otlp::{Payload, Signal};
use blackbar::redact::{Policy, Redactor, TextScrubber};
use libfuzzer_sys::fuzz_target;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    Redactor::new(TextScrubber::builtin().expect("the built-in rules compile"), Policy::default())
});

fuzz_target!(|input: &[u8]| {
    let Some((&choice, body)) = input.split_first() else { return };
    let signal = Signal::ALL[usize::from(choice) % Signal::ALL.len()];
    let Ok(once) = REDACTOR.redact(signal, Payload::new(body.to_vec())) else { return };
    if once.report().is_unchanged() {
        assert_eq!(once.body(), body, "changed without a finding");
    }
    let twice =
        REDACTOR.redact(signal, Payload::new(once.body().clone())).expect("what we wrote is valid protobuf");
    assert_eq!(twice.body(), once.body(), "redacting twice changes nothing more");
});
