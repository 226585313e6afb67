//! Why an exchange failed, for our log, in fixed words only: error texts can quote what a backend sent (a GOAWAY's
//! debug data, a certificate's names), so none of them is printed.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::connect::ProxyFailure;

/// The innermost cause that we know words for.
pub(super) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut words = "connection failed".to_owned();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = in_words(error) {
            words = found;
        }
        next = cause(error);
    }
    words
}

/// `source`, but an I/O error's inner error is seen too: `io::Error` passes over it.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn in_words(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return Some(format!("TLS: {}", tls_in_words(tls)));
    }
    if let Some(proxy) = error.downcast_ref::<ProxyFailure>() {
        return Some(proxy.to_string());
    }
    if let Some(io) = error.downcast_ref::<io::Error>() {
        return io.get_ref().is_none().then(|| io.kind().to_string());
    }
    if let Some(hyper) = error.downcast_ref::<hyper::Error>() {
        return Some(hyper_in_words(hyper).to_owned());
    }
    // The connector's own type is private; its text is one of few fixed ones.
    (error.to_string() == "dns error").then(|| "host name not found".to_owned())
}

fn hyper_in_words(error: &hyper::Error) -> &'static str {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        "connection closed before the answer was complete"
    } else if error.is_parse() {
        "the answer is not HTTP"
    } else if error.is_timeout() {
        "connection stalled"
    } else {
        "connection broken"
    }
}

fn tls_in_words(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(reason) => match reason {
            CertificateError::UnknownIssuer => "the backend's certificate is of an unknown issuer",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the backend's certificate is for another name"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the backend's certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the backend's certificate is not valid yet"
            }
            CertificateError::Revoked => "the backend's certificate is revoked",
            _ => "the backend's certificate is not valid",
        },
        rustls::Error::AlertReceived(_) => {
            "the backend refused the handshake (does it want a client certificate?)"
        }
        rustls::Error::InvalidMessage(_) => "the backend does not speak TLS",
        rustls::Error::NoApplicationProtocol => "the backend speaks none of our protocols",
        _ => "handshake failed",
    }
}
