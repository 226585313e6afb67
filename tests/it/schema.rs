//! The schema table of the walk and the JSON transcoder against the descriptors compiled from `proto/`.

use std::collections::BTreeSet;

use blackbar::otlp::Signal;
use blackbar::otlp::schema::{Field, Kind, Message, Role};
use prost_reflect::{FieldDescriptor, Kind as Declared, MessageDescriptor};

use crate::places::pool;

#[test]
fn every_message_and_field_is_classified() {
    let mut seen = BTreeSet::new();
    for signal in Signal::ALL {
        for table in [signal.request(), signal.response()] {
            let declared = pool().get_message_by_name(table.name).expect(table.name);
            compare(table, &declared, &mut seen);
        }
    }
    // Every message of `proto/` that a request or response can hold, and no other (the `*Data` files are for disk).
    let declared: BTreeSet<String> = pool()
        .all_messages()
        .filter(|message| !message.name().ends_with("Data"))
        .map(|message| message.full_name().to_owned())
        .collect();
    assert_eq!(seen, declared);
}

fn compare(table: &'static Message, declared: &MessageDescriptor, seen: &mut BTreeSet<String>) {
    assert_eq!(table.name, declared.full_name());
    if !seen.insert(table.name.to_owned()) {
        return;
    }
    assert_eq!(table.role, role(declared), "{}", table.name);
    let numbers: Vec<u32> = table.fields.iter().map(|field| field.number).collect();
    let declared_numbers: Vec<u32> = declared.fields().map(|field| field.number()).collect();
    assert_eq!(numbers, declared_numbers, "{}", table.name);
    for (field, declared) in table.fields.iter().zip(declared.fields()) {
        compare_field(field, &declared, seen);
        assert_eq!(table.field(field.number).map(|found| found.name), Some(field.name));
    }
}

fn compare_field(field: &'static Field, declared: &FieldDescriptor, seen: &mut BTreeSet<String>) {
    let full_name = declared.full_name();
    assert_eq!(field.name, declared.name(), "{full_name}");
    assert_eq!(field.json_name, declared.json_name(), "{full_name}");
    assert_eq!(field.repeated, declared.is_list(), "{full_name}");
    let one_of = declared.containing_oneof().is_some_and(|one_of| !one_of.is_synthetic());
    assert_eq!(field.one_of, one_of, "{full_name}");
    match (field.kind, declared.kind()) {
        (Kind::Message(table), Declared::Message(declared)) => compare(table, &declared, seen),
        (Kind::Id(length), Declared::Bytes) => match declared.name() {
            "trace_id" | "profile_id" => assert_eq!(length, 16, "{full_name}"),
            "span_id" | "parent_span_id" => assert_eq!(length, 8, "{full_name}"),
            _ => panic!("{full_name} is not known to be an identifier"),
        },
        (Kind::Payload, Declared::Bytes) => assert_eq!(declared.name(), "original_payload"),
        (Kind::Bytes, Declared::Bytes) => assert!(!declared.name().ends_with("_id"), "{full_name}"),
        (Kind::StringIndex, Declared::Int32) => {
            assert!(declared.name().ends_with("_strindex"), "{full_name}")
        }
        (Kind::Int32, Declared::Int32) => assert!(!declared.name().ends_with("_strindex"), "{full_name}"),
        (Kind::Text, Declared::String)
        | (Kind::Bool, Declared::Bool)
        | (Kind::Enum, Declared::Enum(_))
        | (Kind::Sint32, Declared::Sint32)
        | (Kind::Uint32, Declared::Uint32)
        | (Kind::Fixed32, Declared::Fixed32)
        | (Kind::Int64, Declared::Int64)
        | (Kind::Uint64, Declared::Uint64)
        | (Kind::Fixed64, Declared::Fixed64)
        | (Kind::Sfixed64, Declared::Sfixed64)
        | (Kind::Double, Declared::Double) => {}
        (kind, declared) => panic!("{full_name}: {kind:?} for {declared:?}"),
    }
}

/// The roles by what the specification calls the messages.
fn role(declared: &MessageDescriptor) -> Role {
    match declared.name() {
        "KeyValue" => Role::KeyValue,
        "KeyValueAndUnit" => Role::KeyValueAndUnit,
        "AnyValue" => Role::AnyValue,
        "ProfilesDictionary" => Role::ProfilesDictionary,
        "Span" | "LogRecord" | "Profile" => Role::Item,
        name if name.ends_with("DataPoint") => Role::Item,
        _ if declared.get_field_by_name("resource").is_some() => Role::OfResource,
        _ => Role::Plain,
    }
}

/// The walk replaces numbers by a `string_value`, which it writes itself.
#[test]
fn string_value_is_field_one() {
    let any_value = pool().get_message_by_name("opentelemetry.proto.common.v1.AnyValue").unwrap();
    assert_eq!(any_value.get_field_by_name("string_value").unwrap().number(), 1);
}
