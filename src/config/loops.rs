//! A backend that is one of our own listeners. The application and the sidecar read the same variable, so this is
//! everybody's first mistake; it would forward each request to ourselves for ever.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _, UdpSocket};

use http::Uri;

use super::components::split_host_port;
use super::problem::{Origin, Sink};
use super::receivers::ReadDoor;
use super::remote::ReadExporter;
use crate::forward::settings::{ExporterSettings, Remote};

/// Reports every exporter that leads back to a listener.
pub(crate) fn check(doors: &[&ReadDoor], exporters: &BTreeMap<&String, &ReadExporter>, sink: &Sink) {
    for (name, exporter) in exporters {
        let Some(remote) = remote(&exporter.settings) else { continue };
        for uri in std::iter::once(&remote.endpoint).chain(remote.signal_endpoints.iter().map(|(_, uri)| uri))
        {
            let Some(door) = doors.iter().find(|door| leads_to(uri, &door.door.settings.endpoint)) else {
                continue;
            };
            sink.add(&exporter.origin, format!("exporters.{name}"), explain(door, &exporter.origin));
            break;
        }
    }
}

fn remote(settings: &ExporterSettings) -> Option<&Remote> {
    match settings {
        ExporterSettings::OtlpGrpc(remote) | ExporterSettings::OtlpHttp { remote, .. } => Some(remote),
        ExporterSettings::File { .. } | ExporterSettings::Stdout => None,
    }
}

fn explain(door: &ReadDoor, origin: &Origin) -> String {
    let listens = &door.door.settings.endpoint;
    let cure = match origin {
        Origin::Variable(_) => {
            "This variable tells Blackbar where its *backend* is; in the application's environment it names Blackbar. \
             Give the two different values, or move the listener (--grpc-endpoint, --http-endpoint)."
        }
        _ => "Name the real backend here, or move the listener.",
    };
    format!("is a loop: it leads back to our own listener {} on {listens}. {cure}", door.door.name)
}

/// Whether a URL leads to a listener. Names are looked up only where the port is the same.
fn leads_to(uri: &Uri, listener: &str) -> bool {
    let Some((listen_host, listen_port)) = split_host_port(listener) else { return false };
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    if port != listen_port || port == 0 {
        return false;
    }
    let Some(host) = uri.host() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.eq_ignore_ascii_case(listen_host) {
        return true;
    }
    let (targets, listens) = (addresses(host, port), addresses(listen_host, port));
    targets.iter().any(|target| listens.iter().any(|listen| same(*target, *listen)))
}

fn addresses(host: &str, port: u16) -> Vec<IpAddr> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return vec![address.to_canonical()];
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    (host, port)
        .to_socket_addrs()
        .map(|found| found.map(|a| a.ip().to_canonical()).collect())
        .unwrap_or_default()
}

/// A listener on all addresses is reached by any address of this machine. All of loopback counts as one: `localhost` is
/// now 127.0.0.1, now ::1.
fn same(target: IpAddr, listen: IpAddr) -> bool {
    let loopback = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
    target == listen || (loopback(target) && loopback(listen)) || (listen.is_unspecified() && is_ours(target))
}

/// Only an address of this machine can be bound.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}
