//! Export requests as dynamic messages, by the descriptors compiled from `proto/`: compared, listed, stripped.

use std::sync::OnceLock;

use blackbar::otlp::Signal;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, Value};

/// The descriptors of `proto/`.
pub fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/proto");
        let services =
            ["trace/v1/trace", "metrics/v1/metrics", "logs/v1/logs", "profiles/v1development/profiles"];
        let files = services.map(|name| format!("opentelemetry/proto/collector/{name}_service.proto"));
        let set = protox::compile(files, [root]).unwrap();
        DescriptorPool::from_file_descriptor_set(set).unwrap()
    })
}

/// The descriptor of a signal's export request.
pub fn request_descriptor(signal: Signal) -> MessageDescriptor {
    pool().get_message_by_name(signal.request().name).unwrap()
}

/// Decodes an export request.
pub fn decode(signal: Signal, body: &[u8]) -> DynamicMessage {
    DynamicMessage::decode(request_descriptor(signal), body).unwrap()
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

/// The request with every string emptied: identifiers, numbers, times, counts and the shape are left.
pub fn without_strings(mut message: DynamicMessage) -> DynamicMessage {
    empty_strings(&mut message);
    message
}

fn empty_strings(message: &mut DynamicMessage) {
    for (_, value) in message.fields_mut() {
        empty(value);
    }
}

fn empty(value: &mut Value) {
    match value {
        Value::String(text) => text.clear(),
        Value::Message(message) => empty_strings(message),
        Value::List(list) => list.iter_mut().for_each(empty),
        _ => {}
    }
}
