//! A certificate authority for one test: certificates for the recording backend and for its clients.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A CA and the files that a client needs. The files go with it.
pub struct Pki {
    ca: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Pki {
    /// A new CA.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two CAs of one name would differ in their signatures only.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name.push(DnType::CommonName, format!("test CA {number}"));
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let dir = TempDir::new().unwrap();
        let pki = Self { ca, dir };
        std::fs::write(pki.ca_file(), pki.ca.pem()).unwrap();
        let (certificate, key) = pki.issue("client.test");
        std::fs::write(pki.client_cert_file(), certificate.pem()).unwrap();
        std::fs::write(pki.client_key_file(), key.serialize_pem()).unwrap();
        pki
    }

    /// The CA's certificate in PEM.
    pub fn ca_file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// A client certificate of this CA in PEM.
    pub fn client_cert_file(&self) -> PathBuf {
        self.dir.path().join("client.pem")
    }

    /// Its key.
    pub fn client_key_file(&self) -> PathBuf {
        self.dir.path().join("client.key")
    }

    /// A server of this name.
    pub fn server(&self, name: &str) -> Arc<ServerConfig> {
        let builder = server_builder().with_no_client_auth();
        self.finish(builder, name)
    }

    /// A server of this name that asks for a client certificate of this CA.
    pub fn server_for_known_clients(&self, name: &str) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        let builder = server_builder().with_client_cert_verifier(verifier);
        self.finish(builder, name)
    }

    fn finish(
        &self,
        builder: rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>,
        name: &str,
    ) -> Arc<ServerConfig> {
        let (certificate, key) = self.issue(name);
        let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.ca).unwrap();
        (certificate, key)
    }
}

fn server_builder() -> rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier> {
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
}
