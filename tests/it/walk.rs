//! The wire walk by example: the cases that a reader would ask about, as bytes in and bytes out.

use blackbar::otlp::wire::{put_field, put_varint};
use blackbar::otlp::{Payload, Signal};
use blackbar::redact::{Malformed, Policy, Redacted, Redactor, Unscanned};
use bytes::Bytes;

use crate::walk_reference;
use crate::walk_stand_in::{MARKER, StandIn};

pub(crate) fn redact(signal: Signal, body: Vec<u8>) -> Result<Redacted, Malformed> {
    Redactor::new(StandIn::new(), Policy::default()).redact(signal, Payload::new(body))
}

/// A delimited field.
pub(crate) fn field(number: u32, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    put_field(&mut out, number, content.as_ref());
    out
}

/// A varint field.
pub(crate) fn number(number: u32, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, u64::from(number << 3));
    put_varint(&mut out, value);
    out
}

pub(crate) fn concat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// An export request of one span with these fields.
pub(crate) fn span(fields: &[u8]) -> Vec<u8> {
    field(1, field(2, field(2, fields)))
}

/// `KeyValue`, from its key and its encoded `AnyValue`.
pub(crate) fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    concat(&[&field(1, key), &field(2, value)])
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    field(1, text)
}

/// A span with one attribute, through the redactor: the attribute that comes out.
fn through(attribute: &[u8]) -> Vec<u8> {
    let body = redact(Signal::Traces, span(&field(9, attribute))).unwrap().body().to_vec();
    let mut reader = blackbar::otlp::wire::Reader::new(&body);
    for _ in 0..4 {
        let record = reader.next_field().unwrap().unwrap();
        reader = reader.enter(record).unwrap();
    }
    let mut out = Vec::new();
    while let Some(record) = reader.next_field().unwrap() {
        out.extend_from_slice(&body[record.start..record.end]);
    }
    out
}

const SECRET: &str = "[REDACTED:secret]";

#[test]
fn a_secret_named_key_masks_its_value_in_any_order() {
    let (password, harmless) = (field(1, "password"), field(1, "name"));
    let (value, masked) = (field(2, text("hunter2")), field(2, text(SECRET)));
    for [before, after] in [
        [concat(&[&password, &value]), concat(&[&password, &masked])],
        [concat(&[&value, &password]), concat(&[&masked, &password])],
        [concat(&[&password, &value, &harmless]), concat(&[&password, &masked, &harmless])],
        [concat(&[&harmless, &value, &password]), concat(&[&harmless, &masked, &password])],
        [concat(&[&value, &password, &value]), concat(&[&masked, &password, &masked])],
        [concat(&[&harmless, &value]), concat(&[&harmless, &value])],
    ] {
        assert_eq!(through(&before), after);
    }
}

#[test]
fn what_a_secret_named_key_masks() {
    let double = concat(&[&[4 << 3 | 1], &1.5_f64.to_le_bytes()]);
    let nested = field(6, field(1, attribute("user", &text("bob"))));
    let masked_nested = field(6, field(1, attribute("user", &text(SECRET))));
    for (value, expected) in [
        (number(3, 1234), text(SECRET)),
        (number(3, 0), text(SECRET)),
        (double, text(SECRET)),
        (field(7, b"\xff\xfe raw"), field(7, SECRET)),
        (field(5, concat(&[&field(1, number(3, 5)), &field(1, text("x"))])), {
            field(5, concat(&[&field(1, text(SECRET)), &field(1, text(SECRET))]))
        }),
        (nested, masked_nested),
        // An index into a table that isn't there is a number like any other.
        (number(8, 3), text(SECRET)),
        // A type of value that is yet to come.
        (number(99, 5), Vec::new()),
        // Not masked: booleans, the empty string, references, our own markers.
        (number(2, 1), number(2, 1)),
        (text(""), text("")),
        (text("${DB_PASSWORD}"), text("${DB_PASSWORD}")),
        (text(SECRET), text(SECRET)),
    ] {
        assert_eq!(through(&attribute("password", &value)), attribute("password", &expected));
    }
}

#[test]
fn keys_are_texts_too() {
    let clean = attribute(&format!("x.{MARKER}.y"), &text("v"));
    assert_eq!(through(&attribute("x.SECRET1.y", &text("v"))), clean);
}

#[test]
fn only_the_finding_and_the_lengths_above_it_change() {
    // Lengths longer than they need be, in a neighbour and above the finding.
    let odd_neighbour = [&[5 << 3 | 2, 0x84, 0x80, 0x00][..], b"name"].concat();
    let unknown = concat(&[&number(100, 7), &field(101, "kept"), &[0xb1, 0x06], &[1; 8]]);
    let status = |message: &str| field(15, concat(&[&field(2, message), &number(3, 2)]));
    let before = concat(&[&odd_neighbour, &unknown, &status("a SECRET1 z"), &number(6, 3)]);
    let after = concat(&[&odd_neighbour, &unknown, &status(&format!("a {MARKER} z")), &number(6, 3)]);
    let mut odd_before = vec![1 << 3 | 2];
    let inner = field(2, field(2, before));
    odd_before.extend([inner.len() as u8 | 0x80, 0x80, 0x00]);
    odd_before.extend(inner);
    assert_eq!(redact(Signal::Traces, odd_before).unwrap().body(), &span(&after));
}

#[test]
fn lengths_may_need_more_or_fewer_bytes() {
    for padding in 80..140 {
        for (secret, count) in
            [("SECRET1", 1), ("SECRET1234567890123456789012345678901234567890", 1), ("SECRET1,SECRET2", 2)]
        {
            let name = format!("{secret}{}", "x".repeat(padding));
            let clean = format!("{}{}", vec![MARKER; count].join(","), "x".repeat(padding));
            let redacted = redact(Signal::Traces, span(&field(5, name))).unwrap();
            assert_eq!(redacted.body(), &span(&field(5, clean)));
            assert_eq!(redacted.report().total(), count as u64);
        }
    }
}

#[test]
fn text_that_is_not_utf8_is_scanned_as_bytes() {
    let redacted = redact(Signal::Traces, span(&field(5, b"\xff\x00SECRET1\xc3"))).unwrap();
    assert_eq!(redacted.body(), &span(&field(5, [b"\xff\x00", MARKER.as_bytes(), b"\xc3"].concat())));
}

#[test]
fn unknown_fields_are_kept_unless_they_hold_a_finding() {
    let group = |content: &[u8]| concat(&[&[0xa3, 0x06], content, &[0xa4, 0x06]]);
    let kept = concat(&[&field(7, "fine"), &group(&field(1, "fine")), &number(9, 1)]);
    let before = group(&concat(&[&kept, &field(8, "SECRET1"), &group(&field(3, "SECRET2"))]));
    let after = group(&concat(&[&kept, &group(&[])]));
    let redacted = redact(Signal::Logs, concat(&[&field(77, "SECRET3"), &before])).unwrap();
    assert_eq!(redacted.body(), &after);
    assert_eq!(redacted.report().dropped_fields, 3);
    assert!(!redacted.report().is_unchanged());
}

#[test]
fn malformed_bodies_are_refused() {
    let group_start = [0x0b_u8];
    for (what, body) in [
        ("length beyond the end", vec![0x0a, 5, 1, 2]),
        ("huge length", concat(&[&[0x0a], &[0xff; 9], &[0x01]])),
        ("tag alone", vec![0x0a]),
        ("half a tag", vec![0x8a]),
        ("half a varint", vec![0x08, 0x80]),
        ("half a fixed64", vec![0x09, 1, 2, 3]),
        ("half a fixed32", vec![0x0d, 1, 2, 3]),
        ("varint of eleven bytes", concat(&[&[0x08], &[0x80; 10], &[0x00]])),
        ("varint over 64 bits", concat(&[&[0x08], &[0x80; 9], &[0x02]])),
        ("field number zero", vec![0x00, 0x00]),
        ("field number over 29 bits", concat(&[&[0x80; 4], &[0x10, 0x00]])),
        ("wire type 6", vec![0x0e]),
        ("wire type 7", vec![0x0f]),
        ("end of no group", vec![0x0c]),
        ("end of another group", vec![0x0b, 0x14]),
        ("group without an end", vec![0x0b, 0x10, 0x01]),
        ("groups without end", group_start.repeat(1_000_000)),
        ("sub-message beyond its parent", span(&[0x0a, 0x20, 0x00])),
        ("packed doubles of nine bytes", {
            let histogram = field(9, field(1, field(7, [0; 9])));
            field(1, field(2, field(2, histogram)))
        }),
        (
            "half a packed varint",
            field(1, field(2, field(2, field(10, field(1, field(8, field(2, [0x80]))))))),
        ),
    ] {
        for signal in [Signal::Metrics, Signal::Traces] {
            if what.contains("packed") && signal == Signal::Traces {
                continue;
            }
            if what.contains("parent") && signal == Signal::Metrics {
                continue;
            }
            assert!(redact(signal, body.clone()).is_err(), "{what}");
            assert!(walk_reference::reencode(signal, &body).is_none(), "prost takes {what}");
        }
    }
}

#[test]
fn nesting_is_capped_where_protobuf_caps_it() {
    for depth in 95..105_usize {
        // Three messages above the attribute's value; each array brings two more.
        let mut value = text("SECRET1");
        let mut levels = 4;
        while levels + 2 <= depth {
            value = field(5, field(1, value));
            levels += 2;
        }
        let mut body = field(1, field(1, field(1, attribute("k", &value))));
        if levels < depth {
            // An unknown group is a level too.
            body = field(
                1,
                field(1, field(1, concat(&[&field(1, "k"), &field(2, deep_group(value, depth - 4))]))),
            );
        }
        let redacted = redact(Signal::Traces, body.clone());
        assert_eq!(redacted.is_ok(), depth <= 100, "depth {depth}");
        assert_eq!(walk_reference::reencode(Signal::Traces, &body).is_some(), depth <= 100, "depth {depth}");
        if let Ok(redacted) = redacted {
            assert!(!redacted.body().windows(7).any(|window| window == b"SECRET1"));
        }
    }
    for depth in [100, 101] {
        let body = deep_group(Vec::new(), depth);
        assert_eq!(redact(Signal::Traces, body.clone()).is_ok(), depth <= 100);
    }
}

/// So many groups in each other, beside `value`.
fn deep_group(value: Vec<u8>, depth: usize) -> Vec<u8> {
    [value, [0xa3, 0x06].repeat(depth), [0xa4, 0x06].repeat(depth)].concat()
}

#[test]
fn a_panic_in_the_scanner_costs_one_value() {
    let before = concat(&[&field(5, "PANIC"), &field(9, attribute("PANIC", &text("x SECRET1")))]);
    let after = concat(&[
        &field(5, "[REDACTED:unscanned]"),
        &field(9, attribute("[REDACTED:unscanned]", &text(&format!("x {MARKER}")))),
    ]);
    let redacted = redact(Signal::Traces, span(&before)).unwrap();
    assert_eq!(redacted.body(), &span(&after));
    assert_eq!(redacted.report().unscanned[&Unscanned::Panic], 2);
}

#[test]
fn items_are_spans_records_points_and_profiles() {
    let items = |signal, body| redact(signal, body).unwrap().report().items;
    assert_eq!(items(Signal::Traces, Vec::new()), 0);
    assert_eq!(items(Signal::Traces, concat(&[&span(&[]), &span(&field(11, field(2, "event")))])), 2);
    assert_eq!(
        items(Signal::Logs, field(1, field(2, [field(2, []), field(2, []), field(2, [])].concat()))),
        3
    );
    let point = field(1, []);
    for data in [5, 7, 9, 10, 11] {
        let metric = field(2, field(data, concat(&[&point, &point])));
        assert_eq!(items(Signal::Metrics, field(1, field(2, metric))), 2, "data {data}");
    }
    assert_eq!(items(Signal::Profiles, field(1, field(2, field(2, field(1, []))))), 1);
}

#[test]
fn an_untouched_body_is_the_same_allocation() {
    let body = Bytes::from(span(&concat(&[&field(5, "name"), &field(9, attribute("k", &text("v")))])));
    let redactor = Redactor::new(StandIn::new(), Policy::default());
    let redacted = redactor.redact(Signal::Traces, Payload::new(body.clone())).unwrap();
    assert_eq!(redacted.body().as_ptr(), body.as_ptr());
    assert_eq!(redacted.body().len(), body.len());
}

mod profiles {
    use super::*;

    /// A dictionary with this string table, and attributes of (key, value) as indices.
    fn dictionary(strings: &[&str], attributes: &[(u64, u64)]) -> Vec<u8> {
        let strings = strings.iter().map(|text| field(5, text));
        let attributes = attributes
            .iter()
            .map(|&(key, value)| field(6, concat(&[&number(1, key), &field(2, number(8, value))])));
        field(2, strings.chain(attributes).collect::<Vec<_>>().concat())
    }

    /// A request with a resource attribute of (key, value) as indices.
    fn resource(key: u64, value: u64) -> Vec<u8> {
        field(1, field(1, field(1, concat(&[&field(2, number(8, value)), &number(3, key)]))))
    }

    fn clean(body: Vec<u8>) -> Bytes {
        redact(Signal::Profiles, body).unwrap().body().clone()
    }

    #[test]
    fn secret_names_are_resolved_through_the_string_table() {
        let strings = ["", "password", "hunter2", "name", "SECRET1"];
        let masked = ["", "password", SECRET, "name", MARKER];
        // In the attribute table.
        assert_eq!(clean(dictionary(&strings, &[(1, 2), (3, 4)])), dictionary(&masked, &[(1, 2), (3, 4)]));
        // In an attribute that comes before, or after the dictionary.
        let (table, masked) = (dictionary(&strings, &[]), dictionary(&masked, &[]));
        assert_eq!(clean(concat(&[&resource(1, 2), &table])), concat(&[&resource(1, 2), &masked]));
        assert_eq!(clean(concat(&[&table, &resource(1, 2)])), concat(&[&masked, &resource(1, 2)]));
        // In two dictionaries, which merge into one.
        let [first, second] = [dictionary(&strings[..2], &[]), dictionary(&strings[2..], &[])];
        let [first_clean, second_clean] =
            [dictionary(&strings[..2], &[]), dictionary(&[SECRET, "name", MARKER], &[])];
        assert_eq!(
            clean(concat(&[&first, &resource(1, 2), &second])),
            concat(&[&first_clean, &resource(1, 2), &second_clean])
        );
    }

    #[test]
    fn a_secret_name_by_index_masks_values_of_any_type() {
        let attribute = |value: &[u8]| field(6, concat(&[&field(2, value), &number(1, 1)]));
        let table =
            |value: &[u8]| field(2, concat(&[&attribute(value), &field(5, ""), &field(5, "password")]));
        assert_eq!(clean(table(&text("hunter2"))), table(&text(SECRET)));
        assert_eq!(clean(table(&number(3, 7))), table(&text(SECRET)));
        assert_eq!(clean(table(&number(8, 77))), table(&text(SECRET)));
        let negative = number(8, u64::MAX);
        assert_eq!(clean(table(&negative)), table(&text(SECRET)));
        // A key that is left out is index 0.
        let zero = |value: &str| field(2, concat(&[&field(5, "password"), &field(6, field(2, text(value)))]));
        assert_eq!(clean(zero("hunter2")), zero(SECRET));
    }

    #[test]
    fn a_foreign_payload_is_emptied_and_text_is_scanned() {
        let profile = |payload: &[u8]| field(1, field(2, field(2, field(10, payload))));
        let redacted = redact(Signal::Profiles, profile(b"\x1f\x8b\xff SECRET1")).unwrap();
        assert_eq!(redacted.body(), &profile(b""));
        assert_eq!(redacted.report().unscanned[&Unscanned::Foreign], 1);
        assert_eq!(clean(profile(b"main;f SECRET1 5")), profile(format!("main;f {MARKER} 5").as_bytes()));
    }
}
