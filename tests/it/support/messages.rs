//! Export requests as dynamic messages, by the descriptors compiled from `proto/`: compared, listed, stripped.

use blackbar::otlp::Signal;
use bytes::Bytes;
use prost::Message;
use prost_reflect::{DynamicMessage, Value};

use crate::places;

/// Decodes an export request.
pub fn decode(signal: Signal, body: &[u8]) -> DynamicMessage {
    DynamicMessage::decode(places::request(signal), body).unwrap()
}

/// Every string and bytes value of a request, in order.
pub fn texts(message: &DynamicMessage) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (_, value) in message.fields() {
        collect(value, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<Vec<u8>>) {
    match value {
        Value::String(text) => found.push(text.clone().into_bytes()),
        Value::Bytes(bytes) => found.push(bytes.to_vec()),
        Value::Message(message) => message.fields().for_each(|(_, value)| collect(value, found)),
        Value::List(list) => list.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// The request with every text emptied: identifiers, numbers, times, counts and the shape are left. Unknown fields,
/// which may be dropped with what they hold, are left out. Encoded, so that a default that is there equals one that isn't.
pub fn without_texts(mut message: DynamicMessage) -> Vec<u8> {
    empty_texts(&mut message);
    message.encode_to_vec()
}

fn empty_texts(message: &mut DynamicMessage) {
    message.take_unknown_fields().for_each(drop);
    for (_, value) in message.fields_mut() {
        empty(value);
    }
}

fn empty(value: &mut Value) {
    match value {
        Value::String(text) => text.clear(),
        // Of the length of an identifier: not text.
        Value::Bytes(bytes) if ![8, 16].contains(&bytes.len()) => *bytes = Bytes::new(),
        Value::Message(message) => empty_texts(message),
        Value::List(list) => list.iter_mut().for_each(empty),
        _ => {}
    }
}
