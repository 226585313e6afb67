//! Which headers leave with a request: the exporter's own, and those of the client that may pass.
//!
//! A client's custom headers are credentials for the backend on purpose: not scanned, never logged. Everything
//! that belongs to one connection, to the message's encoding or to the machinery around the client stays behind.

use std::fmt;

use http::header::{CONNECTION, Entry};
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::hops;
use super::settings::ForwardHeaders;

/// Neither forwarded nor set: hop-by-hop (RFC 9110, 7.6.1), or about the form of the message, which is ours to choose. A
/// wrong one would cut or garble what the backend reads.
const FORM: [&str; 10] = [
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "expect",
    "proxy-connection",
    "blackbar-hops",
];

/// The same, by the beginning of the name.
const FORM_PREFIXES: [&str; 3] = ["content-", "accept-encoding", "grpc-"];

/// Never forwarded, whatever the settings say: about the client and its state. The settings may have their own.
const CLIENTS: [&str; 10] = [
    "host",
    "user-agent",
    "date",
    "via",
    "forwarded",
    "max-forwards",
    "cookie",
    "cookie2",
    "set-cookie",
    "baggage",
];

/// The same, by the beginning of the name.
const CLIENTS_PREFIXES: [&str; 2] = ["proxy-", "accept"];

/// Forwarded only where they are named. No one typed these in for the backend: libraries, browsers and proxies add
/// them. `traceparent` and `tracestate` are among them: they describe the client's own export call, and
/// `tracestate` is free text of whoever called the client.
const AMBIENT: [&str; 16] = [
    "traceparent",
    "tracestate",
    "b3",
    "uber-trace-id",
    "sentry-trace",
    "x-amzn-trace-id",
    "x-cloud-trace-context",
    "x-real-ip",
    "x-request-id",
    "origin",
    "referer",
    "from",
    "range",
    "dnt",
    "cache-control",
    "pragma",
];

/// The same, by the beginning of the name.
const AMBIENT_PREFIXES: [&str; 6] = ["x-forwarded-", "x-b3-", "x-datadog-", "x-envoy-", "sec-", "if-"];

/// Whether a client's header of this name may be forwarded at all.
pub fn may_pass(name: &HeaderName) -> bool {
    may_set(name) && !listed(name, &CLIENTS, &CLIENTS_PREFIXES)
}

/// Whether the settings may have a header of this name.
pub fn may_set(name: &HeaderName) -> bool {
    !listed(name, &FORM, &FORM_PREFIXES)
}

fn listed(name: &HeaderName, names: &[&str], prefixes: &[&str]) -> bool {
    let name = name.as_str();
    names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// An exporter's rules.
pub(super) struct Headers {
    own: HeaderMap,
    pass: ForwardHeaders,
}

impl Headers {
    /// Joins the exporter's own headers and the rule for the client's.
    ///
    /// # Errors
    ///
    /// The name of a header whose value can't be sent.
    pub(super) fn new(own: &[(HeaderName, SecretString)], pass: &ForwardHeaders) -> Result<Self, HeaderName> {
        let mut headers = HeaderMap::new();
        for (name, value) in own {
            let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| name.clone())?;
            // Keeps it out of `Debug` output and of HTTP/2's compression tables.
            value.set_sensitive(true);
            headers.append(name.clone(), value);
        }
        Ok(Self { own: headers, pass: pass.clone() })
    }

    /// The headers that go out with a request that came with these.
    pub(super) fn outgoing(&self, client: &HeaderMap) -> HeaderMap {
        let mut out = self.own.clone();
        for (name, value) in client {
            if self.own.contains_key(name) || !self.passes(name, client) {
                continue;
            }
            let mut value = value.clone();
            value.set_sensitive(true);
            out.append(name.clone(), value);
        }
        out.insert(hops::HEADER, hops::next(client));
        if let Entry::Vacant(agent) = out.entry(http::header::USER_AGENT) {
            agent.insert(HeaderValue::from_static(concat!("blackbar/", env!("CARGO_PKG_VERSION"))));
        }
        out
    }

    fn passes(&self, name: &HeaderName, client: &HeaderMap) -> bool {
        let wanted = match &self.pass {
            ForwardHeaders::All => !listed(name, &AMBIENT, &AMBIENT_PREFIXES),
            ForwardHeaders::Named(names) => names.contains(name),
        };
        wanted && may_pass(name) && !is_connection_option(name, client)
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.own.keys()).finish()
    }
}

/// Whether `Connection` makes this header a hop-by-hop one.
fn is_connection_option(name: &HeaderName, client: &HeaderMap) -> bool {
    let options = client.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    options.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case(name.as_str()))
}
