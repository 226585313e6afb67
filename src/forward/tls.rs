//! TLS towards a backend: rustls with ring, the system's CAs or a file, an optional client certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use super::BuildError;
use super::settings::TlsClient;

/// The TLS configuration for a backend, without ALPN.
///
/// # Errors
///
/// [`BuildError`] with the file and the reason.
pub(super) fn client_config(exporter: &str, tls: &TlsClient) -> Result<ClientConfig, BuildError> {
    let roots = match &tls.ca_file {
        Some(file) => roots_of(exporter, file)?,
        None => system_roots(exporter)?,
    };
    let builder = builder(exporter)?.with_root_certificates(roots);
    match (&tls.cert_file, &tls.key_file) {
        (None, None) => Ok(builder.with_no_client_auth()),
        (Some(cert_file), Some(key_file)) => {
            let chain = certificates(exporter, cert_file)?;
            let key = PrivateKeyDer::from_pem_file(key_file)
                .map_err(|error| BuildError::file(exporter, key_file, pem_reason(&error)))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| BuildError::file(exporter, cert_file, error.to_string()))
        }
        _ => Err(BuildError::setting(exporter, "cert_file and key_file belong together")),
    }
}

/// A configuration that trusts nobody, for exporters that use no TLS.
pub(super) fn unused_config(exporter: &str) -> Result<ClientConfig, BuildError> {
    Ok(builder(exporter)?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// The name to expect in the backend's certificate, where it isn't the endpoint's host.
pub(super) fn server_name(
    exporter: &str,
    tls: &TlsClient,
) -> Result<Option<ServerName<'static>>, BuildError> {
    let Some(name) = &tls.server_name_override else { return Ok(None) };
    let parsed = ServerName::try_from(name.clone());
    parsed.map(Some).map_err(|_| BuildError::setting(exporter, "server_name_override is not a host name"))
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn builder(exporter: &str) -> Result<Builder, BuildError> {
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| BuildError::setting(exporter, error.to_string()))
}

fn roots_of(exporter: &str, file: &Path) -> Result<RootCertStore, BuildError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(exporter, file)? {
        roots.add(certificate).map_err(|error| BuildError::file(exporter, file, error.to_string()))?;
    }
    Ok(roots)
}

fn system_roots(exporter: &str) -> Result<RootCertStore, BuildError> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        return Err(BuildError::setting(exporter, "no CA certificates on this system: set ca_file"));
    }
    Ok(roots)
}

fn certificates(exporter: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, BuildError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(BuildError::file(exporter, file, "holds no PEM certificate"))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(BuildError::file(exporter, file, pem_reason(&error))),
    }
}

/// In our own words: a parser's message may quote the file, which may be a key.
fn pem_reason(error: &rustls::pki_types::pem::Error) -> String {
    match error {
        rustls::pki_types::pem::Error::Io(error) => error.to_string(),
        rustls::pki_types::pem::Error::NoItemsFound => "holds no PEM section of the right kind".to_owned(),
        _ => "is not valid PEM".to_owned(),
    }
}
