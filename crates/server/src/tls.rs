//! TLS from files, which are read again when they change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

const RELOAD_INTERVAL: Duration = Duration::from_secs(5);
/// The certificate and the key of a server, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl TlsFiles {
    fn load(&self) -> io::Result<Arc<ServerConfig>> {
        let unusable = |path: &Path, why: String| io::Error::other(format!("`{}`: {why}", path.display()));
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unusable(&self.certificate, error.to_string()))?;
        if certificates.is_empty() {
            return Err(unusable(&self.certificate, "there is no certificate in it".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| unusable(&self.key, error.to_string()))?;
        // An error means that the process has a crypto provider already, which is as good.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key);
        let mut config = config.map_err(|error| unusable(&self.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// When each file was changed last.
    fn changed(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|path| std::fs::metadata(path).and_then(|file| file.modified()).ok())
    }
}

/// The certificate and key that are used now.
#[derive(Debug)]
pub(crate) struct Tls(Arc<RwLock<Arc<ServerConfig>>>);

impl Tls {
    /// Fails if the files cannot be used. Later changes that cannot be used are logged, and the old files count.
    pub(crate) fn new(files: TlsFiles) -> io::Result<Self> {
        let config = Arc::new(RwLock::new(files.load()?));
        tokio::spawn(reload(files, Arc::clone(&config)));
        Ok(Self(config))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.read()))
    }
}

async fn reload(files: TlsFiles, config: Arc<RwLock<Arc<ServerConfig>>>) {
    let mut known = files.changed();
    loop {
        tokio::time::sleep(RELOAD_INTERVAL).await;
        let now = files.changed();
        if now == known {
            continue;
        }
        known = now;
        match files.load() {
            Ok(new) => {
                *config.write() = new;
                tracing::info!("the certificate was read again");
            }
            Err(error) => tracing::error!("the changed certificate cannot be used, the old one is kept: {error}"),
        }
    }
}
