//! The end of a sign-in: a browser is sent back to a listener on loopback.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

const PATH: &str = "/callback";
/// The largest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The time limit for a browser to send its request. Browsers open connections that they do not use.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// Waits on loopback for the browser that comes back from a sign-in.
#[derive(Debug)]
pub struct RedirectListener {
    listener: TcpListener,
    url: String,
}

impl RedirectListener {
    /// Listens on a port of 127.0.0.1; 0 is any free one.
    pub async fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let url = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    /// The address to which a browser is to be sent back.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the request with this `state`. All other requests are refused: anybody on this machine can send them.
    pub(crate) async fn wait(&self, state: &str) -> std::io::Result<ReturnedBrowser> {
        let (sender, mut requests) = mpsc::channel(16);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted?;
                    let sender = sender.clone();
                    tokio::spawn(async move {
                        if let Ok(Some(request)) = tokio::time::timeout(HEAD_LIMIT, read_request(stream)).await {
                            // Nobody waits any more once the sign-in has ended.
                            let _ = sender.send(request).await;
                        }
                    });
                }
                Some((target, stream)) = requests.recv() => {
                    let browser = ReturnedBrowser { callback_url: self.callback_url(&target), stream };
                    if browser.is_for(state) {
                        return Ok(browser);
                    }
                    browser.tell("404 Not Found", "This is not the end of the sign-in that is under way.").await;
                }
            }
        }
    }

    fn callback_url(&self, target: &str) -> String {
        format!("{}{target}", self.url.trim_end_matches(PATH))
    }
}

/// A browser that came back and waits for a page.
#[derive(Debug)]
pub(crate) struct ReturnedBrowser {
    pub(crate) callback_url: String,
    stream: TcpStream,
}

impl ReturnedBrowser {
    fn is_for(&self, state: &str) -> bool {
        let Ok(url) = reqwest::Url::parse(&self.callback_url) else { return false };
        url.path() == PATH && parameter(&url, "state").as_deref() == Some(state)
    }

    /// Why the person or the server refused the sign-in, if so.
    pub(crate) fn refusal(&self) -> Option<String> {
        let url = reqwest::Url::parse(&self.callback_url).ok()?;
        let error = parameter(&url, "error")?;
        let description = parameter(&url, "error_description").map(|text| format!(": {text}")).unwrap_or_default();
        Some(format!("the sign-in was refused: {error}{description}"))
    }

    pub(crate) async fn tell(mut self, status: &str, text: &str) {
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{text}",
            text.len()
        );
        // A browser that has gone has lost only this text.
        let _ = self.stream.write_all(answer.as_bytes()).await;
        let _ = self.stream.shutdown().await;
    }
}

pub(crate) fn parameter(url: &reqwest::Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The target of a GET request, and the connection to answer it on.
async fn read_request(mut stream: TcpStream) -> Option<(String, TcpStream)> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut chunk = [0; 2048];
        let length = stream.read(&mut chunk).await.ok().filter(|length| *length > 0)?;
        head.extend_from_slice(chunk.get(..length)?);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let target = std::str::from_utf8(line).ok()?.strip_prefix("GET ")?.split(' ').next()?;
    target.starts_with('/').then(|| (target.to_owned(), stream))
}
