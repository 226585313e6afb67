//! Backend URLs. A user and password in one become a header, so that neither `Debug` nor print-config can show them.
//! Messages never quote the URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::uri::Authority;
use percent_encoding::percent_decode_str;
use secrecy::SecretString;

use super::section::MASK;

/// A backend's address.
pub(crate) struct Endpoint {
    /// Without user, password and query.
    pub(crate) uri: Uri,
    /// `Basic ...`, of the user and password.
    pub(crate) login: Option<SecretString>,
    /// The URL as it may be printed.
    pub(crate) shown: String,
}

/// Reads a gRPC endpoint: `host:port`, which means TLS unless `insecure`, or an `http` or `https` URL without a path.
pub(crate) fn grpc(text: &str, insecure: bool) -> Result<Endpoint, &'static str> {
    let text = text.strip_prefix("dns:///").unwrap_or(text);
    let scheme = if insecure { "http" } else { "https" };
    let endpoint = if text.contains("://") { http(text)? } else { read(&format!("{scheme}://{text}"))? };
    if endpoint.uri.path() != "/" {
        return Err("a gRPC endpoint has no path; expected host:port, http://host:port or https://host:port");
    }
    Ok(endpoint)
}

/// Reads an `http` or `https` URL.
pub(crate) fn http(text: &str) -> Result<Endpoint, &'static str> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https") => read(text),
        Some(_) => Err("expected a URL that starts with http:// or https://"),
        None => Err("has no scheme; expected a URL that starts with http:// or https://"),
    }
}

fn read(text: &str) -> Result<Endpoint, &'static str> {
    let uri: Uri = text.trim().parse().map_err(|_| "is not a valid URL")?;
    if uri.query().is_some() {
        return Err("a query is not supported; put keys into headers");
    }
    let mut parts = uri.into_parts();
    let authority = parts.authority.ok_or("has no host")?;
    let (login, bare) = match authority.as_str().rsplit_once('@') {
        None => (None, authority.clone()),
        Some((user, host)) => {
            let bare: Authority = host.parse().map_err(|_| "is not a valid URL")?;
            let decoded: Vec<u8> = percent_decode_str(user).collect();
            (Some(SecretString::from(format!("Basic {}", STANDARD.encode(decoded)))), bare)
        }
    };
    if bare.host().is_empty()
        || (bare.port().is_some() && bare.port_u16().is_none())
        || bare.as_str().ends_with(':')
    {
        return Err("has no host, or no valid port");
    }
    parts.authority = Some(bare);
    let uri = Uri::from_parts(parts).map_err(|_| "is not a valid URL")?;
    let shown = match &login {
        None => uri.to_string(),
        Some(_) => uri.to_string().replacen("://", &format!("://{MASK}@"), 1),
    };
    let shown = if uri.path() == "/" { shown.trim_end_matches('/').to_owned() } else { shown };
    Ok(Endpoint { uri, login, shown })
}

/// The port of an endpoint that may lack a scheme.
pub(crate) fn port(text: &str) -> Option<u16> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match super::components::split_host_port(host_port) {
        Some((_, port)) => Some(port),
        None if scheme == "https" => Some(443),
        None if scheme == "http" => Some(80),
        None => None,
    }
}
