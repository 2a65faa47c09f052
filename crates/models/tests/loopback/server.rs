//! A server that does exactly what it is told, byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use reknit_models::{Limits, Streaming, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What the server does, after it has read a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Resets the connection.
    Reset,
    /// Keeps silent until the client goes away.
    Silence,
    /// Sends this again and again, until the client goes away.
    Repeat(Vec<u8>),
}

/// What the server has seen.
#[derive(Debug, PartialEq, Eq)]
enum Sight {
    Request(String),
    ClientGone,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    sights: mpsc::UnboundedReceiver<Sight>,
    task: JoinHandle<()>,
}

impl Server {
    /// Does the same for every connection, and closes it in the end.
    pub(crate) async fn new(acts: impl Into<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (send, sights) = mpsc::unbounded_channel();
        let acts = acts.into();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, &acts, &send).await;
            }
        });
        Self { address, sights, task }
    }

    /// Answers every request with this status, these lines of the head, and this body.
    pub(crate) async fn responding(status: &str, head: &str, body: &str) -> Self {
        Self::new([Act::Send(response(status, head, body))]).await
    }

    /// Answers every request with a stream of these bytes, and ends it properly.
    pub(crate) async fn streaming(body: &str) -> Self {
        Self::responding("200 OK", "content-type: text/event-stream\r\n", body).await
    }

    /// This server as a target that streams, with limits that matter only where something is wrong.
    pub(crate) fn target(&self) -> Target {
        let limits = Limits { total: Duration::from_secs(20), ..Limits::default() };
        Target { limits, ..Target::new("a", format!("http://{}/v1", self.address), "m-1") }
    }

    /// This server as a target that does not stream.
    pub(crate) fn target_in_one_piece(&self) -> Target {
        Target { streaming: Streaming::Off, ..self.target() }
    }

    /// This server as a target with other limits.
    pub(crate) fn target_within(&self, change: impl FnOnce(&mut Limits)) -> Target {
        let mut target = self.target();
        change(&mut target.limits);
        target
    }

    /// The next request, head and body.
    pub(crate) async fn request(&mut self) -> String {
        match self.sights.recv().await {
            Some(Sight::Request(request)) => request,
            other => panic!("expected a request, saw {other:?}"),
        }
    }

    /// Waits until the client has gone away, which the server sees only while it is silent.
    pub(crate) async fn client_gone(&mut self) {
        while self.sights.recv().await.expect("a server that lives") != Sight::ClientGone {}
    }

    /// How many requests have come by now.
    pub(crate) fn requests(&mut self) -> usize {
        std::iter::from_fn(|| self.sights.try_recv().ok()).filter(|sight| matches!(sight, Sight::Request(_))).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A response with a body of known length.
pub(crate) fn response(status: &str, head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

/// The head of a stream that ends with the connection, however that ends.
pub(crate) fn stream_head() -> Act {
    Act::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec())
}

/// A piece of such a stream.
pub(crate) fn chunk(text: &str) -> Act {
    Act::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// An event with a piece of the answer.
pub(crate) fn delta(text: &str) -> String {
    format!("data: {}\n\n", serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// The event that ends the answer.
pub(crate) const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

async fn serve(mut stream: TcpStream, acts: &[Act], sights: &mpsc::UnboundedSender<Sight>) {
    let Some(request) = read_request(&mut stream).await else { return };
    // The test may have ended; then nobody wants to know.
    let _ = sights.send(Sight::Request(request));
    for act in acts {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(bytes).await.is_err() {
                    return;
                }
            }
            Act::Repeat(bytes) => while stream.write_all(bytes).await.is_ok() {},
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
            Act::Silence => {
                let _ = stream.read(&mut [0; 1]).await;
                let _ = sights.send(Sight::ClientGone);
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
