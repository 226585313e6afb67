//! Properties of the wire walk, over all four signals, with the stand-in scrubber.

use blackbar::otlp::{Payload, Signal};
use blackbar::redact::{Malformed, Policy, Redacted, Redactor};
use bytes::Bytes;
use proptest::prelude::*;
use prost_reflect::DynamicMessage;
use prost_reflect::prost::Message as _;

use crate::places::request;
use crate::walk_generate::{Choices, Oddity, any_request, encode_oddly};
use crate::walk_reference;
use crate::walk_stand_in::StandIn;

fn redact(signal: Signal, body: &Bytes) -> Result<Redacted, Malformed> {
    Redactor::new(StandIn::new(), Policy::default()).redact(signal, Payload::new(body.clone()))
}

fn any_signal() -> impl Strategy<Value = Signal> {
    prop::sample::select(Signal::ALL.to_vec())
}

fn any_choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..1500)
}

/// `SECRET` and a digit, wherever it stands, except in an identifier of the right length.
fn leaks(body: &[u8]) -> bool {
    body.windows(7).enumerate().any(|(at, window)| {
        window.starts_with(b"SECRET") && window[6].is_ascii_digit() && !body[at..].starts_with(b"SECRET78")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_does_what_decode_redact_encode_does(signal in any_signal(), choices in any_choices()) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let body = Bytes::from(walk_reference::reencode(signal, &message.encode_to_vec()).unwrap());
        let redacted = redact(signal, &body).unwrap();
        let expected = walk_reference::redact(&StandIn::new(), signal, &body);
        if redacted.report().unscanned.is_empty() {
            prop_assert_eq!(redacted.body(), &expected);
        }
        // A foreign payload is emptied, which `prost` writes by leaving the field out.
        prop_assert_eq!(&walk_reference::reencode(signal, redacted.body()).unwrap(), &expected);
        prop_assert!(!leaks(redacted.body()));
        if expected == body {
            prop_assert!(redacted.report().is_unchanged());
            prop_assert_eq!(redacted.body().as_ptr(), body.as_ptr());
        }
    }

    #[test]
    fn any_equivalent_encoding_is_scrubbed_alike(
        signal in any_signal(), choices in any_choices(), oddly in any_choices(),
    ) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let body = Bytes::from(encode_oddly(&message, &mut Choices::new(&oddly), Oddity::Equivalent));
        let meant = DynamicMessage::decode(request(signal), body.clone()).unwrap();
        let plain = walk_reference::reencode(signal, &meant.encode_to_vec()).unwrap();
        prop_assert_eq!(&plain, &walk_reference::reencode(signal, &body).unwrap());

        let redacted = redact(signal, &body).unwrap();
        prop_assert!(!leaks(redacted.body()));
        let expected = walk_reference::redact(&StandIn::new(), signal, &plain);
        prop_assert_eq!(walk_reference::reencode(signal, redacted.body()), Some(expected));
    }

    #[test]
    fn wrong_wire_types_hide_nothing(signal in any_signal(), choices in any_choices(), oddly in any_choices()) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let body = Bytes::from(encode_oddly(&message, &mut Choices::new(&oddly), Oddity::WrongTypes));
        let redacted = redact(signal, &body).unwrap();
        prop_assert!(!leaks(redacted.body()));
        prop_assert_eq!(redacted.report().is_unchanged(), redacted.body() == &body);
    }

    #[test]
    fn redacting_twice_changes_nothing_more(
        signal in any_signal(), choices in any_choices(), oddly in any_choices(),
    ) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let body = Bytes::from(encode_oddly(&message, &mut Choices::new(&oddly), Oddity::WrongTypes));
        let once = redact(signal, &body).unwrap();
        let twice = redact(signal, once.body()).unwrap();
        prop_assert_eq!(once.body(), twice.body());
        prop_assert_eq!(once.body().as_ptr(), twice.body().as_ptr());
        prop_assert!(twice.report().is_unchanged());
        prop_assert_eq!(twice.report().items, once.report().items);
    }

    #[test]
    fn without_a_finding_the_same_bytes_go_on(
        signal in any_signal(), choices in any_choices(), oddly in any_choices(),
    ) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let mut body = encode_oddly(&message, &mut Choices::new(&oddly), Oddity::WrongTypes);
        // Nothing that the stand-in knows is left, and no length has changed.
        for word in [&b"SECRET"[..], b"password", b"api_key"] {
            while let Some(at) = memchr::memmem::find(&body, word) {
                body[at] = b'x';
            }
        }
        let body = Bytes::from(body);
        let redacted = redact(signal, &body).unwrap();
        if redacted.report().unscanned.is_empty() {
            prop_assert!(redacted.report().is_unchanged());
            prop_assert_eq!(redacted.body().as_ptr(), body.as_ptr());
            prop_assert_eq!(redacted.body().len(), body.len());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_come_out_valid(signal in any_signal(), body in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(redacted) = redact(signal, &Bytes::from(body)) {
            prop_assert!(redact(signal, redacted.body()).unwrap().report().is_unchanged());
        }
    }

    #[test]
    fn damaged_bodies_are_refused_or_come_out_clean(
        signal in any_signal(),
        choices in any_choices(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let message = any_request(signal, &mut Choices::new(&choices));
        let mut body = encode_oddly(&message, &mut Choices::new(&choices), Oddity::Equivalent);
        if body.is_empty() {
            return Ok(());
        }
        for (at, byte) in damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(cut.index(body.len()) + 1);
        let parsed_before = walk_reference::reencode(signal, &body).is_some();
        match redact(signal, &Bytes::from(body)) {
            Ok(redacted) => {
                let again = redact(signal, redacted.body()).unwrap();
                prop_assert!(again.report().is_unchanged());
                if parsed_before {
                    prop_assert!(walk_reference::reencode(signal, redacted.body()).is_some());
                }
            }
            Err(_) => prop_assert!(!parsed_before, "refused what prost takes"),
        }
    }
}
