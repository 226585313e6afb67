//! `receivers`: which doors there are.

use std::collections::BTreeMap;

use super::components::{Context, components, listen};
use super::problem::Origin;
use super::section::Section;
use super::settings::Door;
use crate::otlp::Protocol;
use crate::receive::settings::DoorSettings;

/// The types that we have.
pub(crate) const TYPES: &[&str] = &["otlp"];

/// The largest request body in bytes: what the OTLP specification recommends as a server's default.
const MAX_BODY: usize = 64 << 20;

const MIB: usize = 1 << 20;

/// A door and where its endpoint is written.
pub(crate) struct ReadDoor {
    pub(crate) door: Door,
    pub(crate) origin: Origin,
}

/// Reads the section: the doors of each receiver.
pub(crate) fn read(top: &mut Section<'_>, context: &Context<'_>) -> BTreeMap<String, Vec<ReadDoor>> {
    let mut section = top.child("receivers");
    let mut receivers = BTreeMap::new();
    for name in components(&section, "receiver", TYPES) {
        let mut receiver = section.child(&name.value);
        let mut protocols = receiver.child("protocols");
        protocols.expect(&["grpc", "http"]);
        let mut doors = Vec::new();
        for protocol in [Protocol::Grpc, Protocol::Http] {
            if protocols.has(protocol.as_str()) {
                doors.push(door(&mut protocols, &name.value, protocol));
            }
        }
        if doors.is_empty() {
            let message = "no protocol; expected grpc, http, or both";
            context.sink.add(&name.origin, receiver.path_of("protocols"), message);
        }
        receiver.show("protocols", protocols.finish());
        section.show(&name.value, receiver.finish());
        receivers.insert(name.value, doors);
    }
    section.ignore_the_rest(); // The strange ones have been reported.
    top.show("receivers", section.finish());
    receivers
}

fn door(protocols: &mut Section<'_>, receiver: &str, protocol: Protocol) -> ReadDoor {
    let mut section = protocols.child(protocol.as_str());
    let (endpoint, max_body) = match protocol {
        Protocol::Grpc => (
            listen(&mut section, "endpoint", "127.0.0.1:4317"),
            section.count("max_recv_msg_size_mib", MAX_BODY / MIB, 1024) * MIB,
        ),
        Protocol::Http => (
            listen(&mut section, "endpoint", "127.0.0.1:4318"),
            section.count("max_request_body_size", MAX_BODY, 1024 * MIB),
        ),
    };
    protocols.show(protocol.as_str(), section.finish());
    let settings = DoorSettings { endpoint: endpoint.value, max_body };
    let door = Door { name: format!("{receiver}/{}", protocol.as_str()), protocol, settings };
    ReadDoor { door, origin: endpoint.origin }
}
