//! JSON -> protobuf takes any bytes. What it accepts can be shown in JSON again, and means the same then.
//!
//! The first byte chooses the signal, the rest is the body.

#![no_main]

use blackbar::otlp::Signal;
use blackbar::otlp::json::{from_protobuf, to_protobuf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, body)) = input.split_first() else { return };
    let request = Signal::ALL[usize::from(choice) % Signal::ALL.len()].request();
    // As protobuf: must not panic, and JSON made of it must be JSON that we take.
    if let Ok(json) = from_protobuf(request, body) {
        to_protobuf(request, &json).expect("our own JSON is accepted");
    }
    let Ok(protobuf) = to_protobuf(request, body) else { return };
    let json = from_protobuf(request, &protobuf).expect("what we wrote is valid protobuf");
    let again = to_protobuf(request, &json).expect("our own JSON is accepted");
    // Names given twice and oneofs are settled by the first pass: from then on nothing changes.
    assert!(from_protobuf(request, &again).is_ok_and(|second| second == json));
    assert!(to_protobuf(request, &json).is_ok_and(|second| second == again));
});
