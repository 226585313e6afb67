//! Which proxy, if any, leads to a destination. Says nothing of how to go through one: that is `connect`.

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use secrecy::{ExposeSecret as _, SecretString};

use super::settings::ProxySettings;

/// Parsed proxy settings.
pub(super) struct Proxies {
    https: Option<Intercept>,
    http: Option<Intercept>,
    /// Intercepts everything but what `no_proxy` names.
    bypass: Matcher,
}

impl Proxies {
    /// Parses the settings.
    ///
    /// # Errors
    ///
    /// What is wrong, without the value: it may hold a password.
    pub(super) fn new(settings: &ProxySettings) -> Result<Self, &'static str> {
        Ok(Self {
            https: parse(settings.https.as_ref())?,
            http: parse(settings.http.as_ref())?,
            bypass: Matcher::builder().all("http://bypass.invalid").no(settings.no_proxy.as_str()).build(),
        })
    }

    /// Whether a proxy is spoken to in TLS.
    pub(super) fn want_tls(&self) -> bool {
        let mut proxies = self.https.iter().chain(&self.http);
        proxies.any(|proxy| proxy.uri().scheme_str() == Some("https"))
    }

    /// The proxy on the way to this URL.
    pub(super) fn on_the_way_to(&self, destination: &Uri) -> Option<&Intercept> {
        if is_loopback(destination.host()?) || self.bypass.intercept(destination).is_none() {
            return None;
        }
        match destination.scheme_str() {
            Some("https") => self.https.as_ref(),
            _ => self.http.as_ref(),
        }
    }
}

fn parse(value: Option<&SecretString>) -> Result<Option<Intercept>, &'static str> {
    let value = value.map(|value| value.expose_secret().trim()).unwrap_or_default();
    if value.is_empty() {
        return Ok(None);
    }
    // With one proxy for everything and no exceptions, the answer is the parsed proxy.
    let parsed = Matcher::builder().all(value).build().intercept(&Uri::from_static("http://any.invalid/"));
    let proxy = parsed.ok_or("the proxy is not a valid http:// or https:// URL")?;
    match proxy.uri().scheme_str() {
        Some("http" | "https") => Ok(Some(proxy)),
        _ => Err("only http:// and https:// proxies are supported"),
    }
}

/// As Go does: a proxy elsewhere can't reach our loopback.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
