//! A canary in every place that the descriptors know: it must not come out, and nothing else may change.

use blackbar::otlp::{Payload, Signal};
use blackbar::redact::{Policy, Redactor};

use crate::places::{Place, PlaceKind, places};
use crate::walk_stand_in::{MARKER, StandIn};

#[test]
fn no_place_leaks_and_nothing_beside_it_changes() {
    let redactor = Redactor::new(StandIn::new(), Policy::default());
    for place in Signal::ALL.into_iter().flat_map(places) {
        let body = place.request(b"canary SECRET4711 end");
        let redacted = redactor.redact(place.signal, Payload::new(body.clone())).unwrap();
        assert!(!redacted.body().windows(6).any(|window| window == b"SECRET"), "{place}");
        assert_eq!(place.without(redacted.body()), place.without(&body), "{place}");
        let expected = match place.kind {
            PlaceKind::Unknown => None,
            _ => Some(format!("canary {MARKER} end").into_bytes()),
        };
        assert_eq!(place.text_in(redacted.body()), expected, "{place}");
        assert_eq!(redacted.report().dropped_fields, u64::from(expected.is_none()), "{place}");
    }
}

#[test]
fn harmless_text_in_any_place_changes_nothing() {
    let redactor = Redactor::new(StandIn::new(), Policy::default());
    for place in Signal::ALL.into_iter().flat_map(places) {
        let body = bytes::Bytes::from(place.request(b"nothing to see"));
        assert_eq!(place.text_in(&body).as_deref(), Some(&b"nothing to see"[..]), "{place}");
        let redacted = redactor.redact(place.signal, Payload::new(body.clone())).unwrap();
        assert_eq!(redacted.body().as_ptr(), body.as_ptr(), "{place}");
        assert!(redacted.report().is_unchanged(), "{place}");
    }
}

#[test]
fn identifiers_of_the_right_length_are_never_text() {
    let redactor = Redactor::new(StandIn::new(), Policy::default());
    let ids: Vec<Place> =
        Signal::ALL.into_iter().flat_map(places).filter(|place| place.kind == PlaceKind::Id).collect();
    assert!(!ids.is_empty());
    for place in ids {
        let name = place.to_string();
        let id = if name.ends_with("span_id") { &b"SECRET12"[..] } else { &b"SECRET1234567890"[..] };
        for (text, expected) in [(id, id), (b"", b""), (&id[..7], MARKER.as_bytes())] {
            let redacted = redactor.redact(place.signal, Payload::new(place.request(text))).unwrap();
            assert_eq!(place.text_in(redacted.body()).as_deref(), Some(expected), "{place}");
        }
    }
}

/// The reader's view of the coverage: what a person would name must be among the derived places.
#[test]
fn the_derived_places_are_the_ones_that_people_know() {
    let all: Vec<String> = Signal::ALL.into_iter().flat_map(places).map(|place| place.to_string()).collect();
    let span = "traces/resource_spans/scope_spans/spans";
    let log = "logs/resource_logs/scope_logs/log_records";
    let sum = "metrics/resource_metrics/scope_metrics/metrics/sum";
    for place in [
        format!("{span}/name"),
        format!("{span}/trace_state"),
        format!("{span}/attributes/key"),
        format!("{span}/attributes/value/string_value"),
        format!("{span}/attributes/value/array_value/values/kvlist_value/values/value/bytes_value"),
        format!("{span}/events/attributes/value/kvlist_value/values/value/array_value/values/string_value"),
        format!("{span}/links/trace_state"),
        format!("{span}/status/message"),
        format!("{span}/(unknown field)"),
        format!("{log}/body/kvlist_value/values/key"),
        format!("{log}/severity_text"),
        format!("{sum}/data_points/exemplars/filtered_attributes/value/string_value"),
        "metrics/resource_metrics/scope_metrics/metrics/metadata/value/string_value".to_owned(),
        "traces/resource_spans/resource/entity_refs/id_keys".to_owned(),
        "profiles/dictionary/string_table".to_owned(),
        "profiles/dictionary/attribute_table/value/string_value".to_owned(),
        "profiles/resource_profiles/scope_profiles/profiles/original_payload".to_owned(),
    ] {
        assert!(all.contains(&place), "{place}");
    }
}
