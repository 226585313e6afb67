//! What the readers of the sections share: component names, listening endpoints, and where notices go.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use super::problem::{Origin, Sink};
use super::section::{Located, Section, unknown};
use super::settings::Notice;

/// Handed to every reader.
pub(crate) struct Context<'a> {
    pub(crate) sink: &'a Sink,
    /// The directory of each configuration file, by the name in [`Origin::File`]: rule files are relative to it.
    pub(crate) directories: &'a HashMap<String, PathBuf>,
    /// Whether there is a configuration file: without one, a client's own headers pass on to the backend.
    pub(crate) with_file: bool,
    notices: RefCell<Vec<Notice>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sink: &'a Sink, directories: &'a HashMap<String, PathBuf>, with_file: bool) -> Self {
        Self { sink, directories, with_file, notices: RefCell::default() }
    }

    pub(crate) fn notice(&self, message: impl Into<String>) {
        self.notices.borrow_mut().push(Notice { warning: false, message: message.into() });
    }

    pub(crate) fn warning(&self, message: impl Into<String>) {
        self.notices.borrow_mut().push(Notice { warning: true, message: message.into() });
    }

    pub(crate) fn take_notices(&self) -> Vec<Notice> {
        self.notices.take()
    }
}

/// The type in a component's name: `otlp` of `otlp/eu`.
pub(crate) fn type_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(kind, _)| kind)
}

/// The components of a section whose type we have; the others are problems that name those we have.
pub(crate) fn components(section: &Section<'_>, what: &str, have: &[&str]) -> Vec<Located<String>> {
    let (known, strange): (Vec<_>, Vec<_>) =
        section.keys().into_iter().partition(|name| have.contains(&type_of(&name.value)));
    for name in strange {
        let message = unknown(&format!("type of {what}"), type_of(&name.value), have.iter().copied());
        let all = have.join(", ");
        let message =
            if message.contains("did you mean") { format!("{message} (there is: {all})") } else { message };
        section.problem(&name.origin, &name.value, message);
    }
    known
}

/// Reads `host:port` to listen on. `:4317` means all interfaces, as in the Collector.
pub(crate) fn listen(section: &mut Section<'_>, key: &str, default: &str) -> Located<String> {
    let origin = if section.has(key) { section.origin_of(key) } else { Origin::Default };
    let value = section.value(
        key,
        default.to_owned(),
        "host:port to listen on, such as 127.0.0.1:4317",
        read_listen,
        String::clone,
    );
    Located { value, origin }
}

fn read_listen(text: &str) -> Option<String> {
    let (host, port) = split_host_port(text)?;
    Some(match host {
        "" => format!("0.0.0.0:{port}"),
        _ => text.to_owned(),
    })
}

/// Splits `host:port`, `[::1]:port` and `:port`.
pub(crate) fn split_host_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let bracketed = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let host = match bracketed {
        Some(inner) => inner,
        None if host.contains(['[', ']', ':', '/', '@', ' ']) => return None,
        None => host,
    };
    if port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((host, port.parse().ok()?))
}
