//! A server with TLS that wants a certificate of the client, in front of a service on loopback.

use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

/// A file of `tests/servers/certificates`.
pub(crate) fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/certificates").join(name)
}

/// Starts the server. Returns its URL. Each connection is for one request to the service at `url`.
pub(crate) fn start(url: &str) -> String {
    // Fails if another test has installed it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (host, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let (host, path) = (host.to_owned(), path.to_owned());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate("ca.pem")).expect("a certificate")).expect("it is valid");
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().expect("there is a root");
    let chain = vec![CertificateDer::from_pem_file(certificate("server.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(certificate("server.pem")).expect("a key");
    let config = ServerConfig::builder().with_client_cert_verifier(verifier).with_single_cert(chain, key);
    let config = Arc::new(config.expect("the key fits"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("https://{}/{path}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, host) = (Arc::clone(&config), host.clone());
            // A client without the right certificates ends the connection.
            std::thread::spawn(move || forward(stream, config, &host));
        }
    });
    url
}

fn forward(mut stream: TcpStream, config: Arc<ServerConfig>, host: &str) -> Option<()> {
    let mut tls = ServerConnection::new(config).ok()?;
    let mut tls = rustls::Stream::new(&mut tls, &mut stream);
    let request = read_request(&mut tls)?;
    let mut service = TcpStream::connect(host).ok()?;
    service.write_all(&request).ok()?;
    let mut answer = Vec::new();
    service.read_to_end(&mut answer).ok()?;
    tls.write_all(&answer).ok()?;
    tls.conn.send_close_notify();
    tls.flush().ok()
}

/// A request that asks the service to end the connection after its answer.
fn read_request(from: &mut impl Read) -> Option<Vec<u8>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let length = from.read(&mut chunk).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(chunk.get(..length)?);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.to_ascii_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some(format!("{head}\r\nconnection: close\r\n\r\n{body}").into_bytes());
        }
    }
}
