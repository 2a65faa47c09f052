//! An HTTP server that keeps every request byte for byte.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawRequest {
    pub(crate) method: String,
    /// The path and the query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl RawRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Answers a request: status, further header lines, body.
type Answer = dyn Fn(&RawRequest) -> (u16, String, String) + Send + Sync;

pub(crate) struct RawServer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<RawRequest>>>,
}

impl RawServer {
    pub(crate) async fn start(answer: impl Fn(&RawRequest) -> (u16, String, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, answer): (_, Arc<Answer>) = (Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&answer)));
            }
        });
        Self { url, requests }
    }

    /// The requests other than those for a path, and forgets all.
    pub(crate) fn take_except(&self, path: &str) -> Vec<RawRequest> {
        let mut requests = std::mem::take(&mut *self.requests.lock().expect("no panic"));
        requests.retain(|request| request.target != path);
        requests
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<RawRequest>>>, answer: Arc<Answer>) -> Option<()> {
    loop {
        let request = read(&mut stream).await?;
        let (status, headers, body) = answer(&request);
        log.lock().expect("no panic").push(request);
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    }
}

async fn read(stream: &mut TcpStream) -> Option<RawRequest> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let byte = stream.read_u8().await.ok()?;
        bytes.push(byte);
    };
    let head = String::from_utf8(bytes.get(..end)?.to_vec()).expect("a head is text");
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(RawRequest { method, target, headers, body })
}
