//! TLS from files, which are read again when they change.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::serve::Listener;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a client may take to agree on keys.
const HANDSHAKE: Duration = Duration::from_secs(10);
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);
/// How many connections wait for their first request.
const ACCEPT_QUEUE: usize = 64;
/// The pause after an error of the operating system, such as too many open files.
const ACCEPT_ERROR_PAUSE: Duration = Duration::from_millis(100);

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

/// Accepts connections with TLS. Clients that are slow to agree on keys do not hold up others.
#[derive(Debug)]
pub(crate) struct TlsListener {
    tcp: TcpListener,
    config: Arc<RwLock<Arc<ServerConfig>>>,
    sender: Sender<(TlsStream<TcpStream>, SocketAddr)>,
    ready: Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl TlsListener {
    /// Fails if the files cannot be used. Later changes that cannot be used are logged, and the old files count.
    pub(crate) fn new(tcp: TcpListener, files: TlsFiles) -> io::Result<Self> {
        let config = Arc::new(RwLock::new(files.load()?));
        let (sender, ready) = channel(ACCEPT_QUEUE);
        tokio::spawn(reload(files, Arc::clone(&config)));
        Ok(Self { tcp, config, sender, ready })
    }

    fn begin(&self, stream: TcpStream, address: SocketAddr) {
        // Small pieces of an answer are sent at once.
        let _ = stream.set_nodelay(true);
        let config = Arc::clone(&self.config.read());
        let sender = self.sender.clone();
        tokio::spawn(async move {
            match tokio::time::timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await {
                Ok(Ok(stream)) => {
                    // Without a receiver the server has stopped.
                    let _ = sender.send((stream, address)).await;
                }
                Ok(Err(error)) => tracing::debug!(%address, "no TLS: {error}"),
                Err(_) => tracing::debug!(%address, "no TLS: too slow"),
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            tokio::select! {
                Some(ready) = self.ready.recv() => return ready,
                accepted = self.tcp.accept() => match accepted {
                    Ok((stream, address)) => self.begin(stream, address),
                    Err(error) => {
                        tracing::warn!("a connection cannot be accepted: {error}");
                        tokio::time::sleep(ACCEPT_ERROR_PAUSE).await;
                    }
                },
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
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
