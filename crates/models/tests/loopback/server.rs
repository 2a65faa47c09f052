//! A server that follows a script, byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use reknit_models::{Streaming, Target, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Action of the server after it has read a request.
#[derive(Debug, Clone)]
pub(crate) enum ServerAction {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Resets the connection.
    Reset,
    /// Sends nothing until the client closes the connection.
    Silence,
    /// Sends these bytes again and again, until the client closes the connection.
    Repeat(Vec<u8>),
}

/// What the server has observed.
#[derive(Debug, PartialEq, Eq)]
enum ServerEvent {
    Request(String),
    Closed,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    events: mpsc::UnboundedReceiver<ServerEvent>,
    task: JoinHandle<()>,
}

impl Server {
    /// Performs the same actions for every connection, and then closes it.
    pub(crate) async fn new(actions: impl Into<Vec<ServerAction>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (send, events) = mpsc::unbounded_channel();
        let actions = actions.into();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, &actions, &send).await;
            }
        });
        Self { address, events, task }
    }

    /// Answers every request with this status, these header lines, and this body.
    pub(crate) async fn responding(status: &str, head: &str, body: &str) -> Self {
        Self::new([ServerAction::Send(response(status, head, body))]).await
    }

    /// Answers every request with a complete stream of these bytes.
    pub(crate) async fn streaming(body: &str) -> Self {
        Self::responding("200 OK", "content-type: text/event-stream\r\n", body).await
    }

    /// This server as a target that streams, with timeouts that pass only if a test is broken.
    pub(crate) fn target(&self) -> Target {
        let timeouts = Timeouts { total: Duration::from_mins(2), ..Timeouts::default() };
        Target { timeouts, ..Target::new("a", format!("http://{}/v1", self.address), "m-1") }
    }

    /// This server as a target that does not stream.
    pub(crate) fn whole_target(&self) -> Target {
        Target { streaming: Streaming::Off, ..self.target() }
    }

    /// This server as a target with changed timeouts.
    pub(crate) fn target_with_timeouts(&self, change: impl FnOnce(&mut Timeouts)) -> Target {
        let mut target = self.target();
        change(&mut target.timeouts);
        target
    }

    /// The next request, headers and body.
    pub(crate) async fn request(&mut self) -> String {
        match self.events.recv().await {
            Some(ServerEvent::Request(request)) => request,
            other => panic!("expected a request, saw {other:?}"),
        }
    }

    /// Waits until the client has closed the connection, which the server notices only while it sends nothing.
    pub(crate) async fn closed_by_client(&mut self) {
        while self.events.recv().await.expect("the server runs") != ServerEvent::Closed {}
    }

    /// The number of requests so far, since the last call.
    pub(crate) fn requests(&mut self) -> usize {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .filter(|event| matches!(event, ServerEvent::Request(_)))
            .count()
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

/// The headers of a chunked stream.
pub(crate) fn stream_head() -> ServerAction {
    ServerAction::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec(),
    )
}

/// A chunk of such a stream.
pub(crate) fn chunk(text: &str) -> ServerAction {
    ServerAction::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// An event with a piece of the answer.
pub(crate) fn delta(text: &str) -> String {
    format!("data: {}\n\n", serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// The event that ends the answer.
pub(crate) const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

async fn serve(mut stream: TcpStream, actions: &[ServerAction], events: &mpsc::UnboundedSender<ServerEvent>) {
    let Some(request) = read_request(&mut stream).await else { return };
    // Fails only if the test has ended.
    let _ = events.send(ServerEvent::Request(request));
    for action in actions {
        match action {
            ServerAction::Send(bytes) => {
                if stream.write_all(bytes).await.is_err() {
                    return;
                }
            }
            ServerAction::Repeat(bytes) => while stream.write_all(bytes).await.is_ok() {},
            ServerAction::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
            ServerAction::Silence => {
                let _ = stream.read(&mut [0; 1]).await;
                let _ = events.send(ServerEvent::Closed);
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
