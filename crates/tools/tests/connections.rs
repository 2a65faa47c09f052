//! The connections of calls over plain HTTP, seen from the service.
#![cfg(test)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reknit_protocol::{CallTool, Object, ReplyBody, SideEffect, ToolReply, TransportFailure, Value};
use reknit_tools::{Address, Client, Discovery};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use support::new_call;

const LIST: &str = r#"[{"name": "c", "endpoint": "/c"}]"#;

/// What the service does with a call whose head it has read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Behaviour {
    /// It reads the body and answers.
    Answers,
    /// It answers, and says that the connection ends, which it leaves to the caller.
    AnswersForTheLastTime,
    /// It answers, and ends the connection without saying so.
    AnswersAndCloses,
    /// It rejects the call, and never reads its body.
    RejectsUnread,
    /// It answers with interim responses before it reads the body, and with the final one afterwards.
    AnswersWithHintsFirst,
}

/// A service with one capability.
struct Service {
    tools: Discovery,
    connections: Arc<AtomicUsize>,
    /// Gets a message when a caller closes a connection.
    closed: mpsc::UnboundedReceiver<()>,
}

impl Service {
    async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let (send, closed) = mpsc::unbounded_channel();
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let send = send.clone();
                tokio::spawn(async move {
                    while let Some(head) = read_head(&mut stream).await {
                        if serve(&mut stream, &head, behaviour).await.is_none() {
                            return;
                        }
                    }
                    let _ = send.send(());
                });
            }
        });
        let addresses = [Address::parse("t", &url).expect("an address")];
        let tools = Client::new().expect("a client").discover(&addresses).await;
        assert_eq!(tools.problems, []);
        Self { tools, connections, closed }
    }

    async fn call(&self, side_effect: SideEffect, text: &str) -> Result<ToolReply, TransportFailure> {
        let parameters = Object::from([("text", Value::from(text))]);
        let call = CallTool { parameters, ..new_call("t", "c", side_effect) };
        self.tools.tools.call(&call).await
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// The next head in lower case; `None` at the end of the connection.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&bytes).to_ascii_lowercase())
}

/// Answers one request. `None` if the connection ends.
async fn serve(stream: &mut TcpStream, head: &str, behaviour: Behaviour) -> Option<()> {
    let response = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    if head.starts_with("get /api/capabilities ") {
        return stream.write_all(response("200 OK", "", LIST).as_bytes()).await.ok();
    }
    if head.starts_with("get ") {
        return stream.write_all(response("404 Not Found", "", "{}").as_bytes()).await.ok();
    }
    match behaviour {
        Behaviour::RejectsUnread => {
            stream.write_all(response("413 Payload Too Large", "", "{}").as_bytes()).await.ok()?;
            std::future::pending::<()>().await;
        }
        Behaviour::AnswersWithHintsFirst => {
            let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
            stream.write_all(hints.as_bytes()).await.ok()?;
            // The hints arrive while most of the body is still to be sent.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        _ => {}
    }
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    let headers = if behaviour == Behaviour::AnswersForTheLastTime { "connection: close\r\n" } else { "" };
    stream.write_all(response("200 OK", headers, &length.to_string()).as_bytes()).await.ok()?;
    (behaviour != Behaviour::AnswersAndCloses).then_some(())
}

fn large_text() -> String {
    "x".repeat(8 << 20)
}

#[tokio::test]
async fn a_connection_that_the_service_has_closed_is_not_used_again() {
    for (behaviour, expected) in
        [(Behaviour::Answers, 1), (Behaviour::AnswersForTheLastTime, 3), (Behaviour::AnswersAndCloses, 3)]
    {
        let service = Service::start(behaviour).await;
        for _ in 0..3 {
            let reply =
                service.call(SideEffect::Read, "hi").await.unwrap_or_else(|error| panic!("{behaviour:?}: {error}"));
            assert_eq!(reply.status, 200, "{behaviour:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(service.connections(), expected, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_response_that_comes_before_the_whole_call_is_sent_is_the_reply() {
    let service = Service::start(Behaviour::RejectsUnread).await;
    let reply = service.call(SideEffect::Keyed, &large_text()).await.expect("a response");
    assert_eq!(reply.status, 413);
    // What was not sent would be read as the next call.
    let before = service.connections();
    assert_eq!(service.call(SideEffect::Keyed, "hi").await.expect("a response").status, 413);
    assert_eq!(service.connections(), before + 1);
}

#[tokio::test]
async fn an_interim_response_is_not_the_reply_and_does_not_stop_the_call() {
    let service = Service::start(Behaviour::AnswersWithHintsFirst).await;
    let text = large_text();
    let reply = service.call(SideEffect::Keyed, &text).await.expect("a response");
    let received = r#"{"text":""}"#.len() + text.len();
    assert_eq!((reply.status, reply.body), (200, ReplyBody::Json(Value::parse(&received.to_string()).expect("JSON"))));
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_a_while() {
    let mut service = Service::start(Behaviour::Answers).await;
    service.call(SideEffect::Keyed, "hi").await.expect("a response");
    let closed = tokio::time::timeout(Duration::from_mins(2), service.closed.recv()).await;
    assert_eq!(closed.expect("the connection for calls that change something ends"), Some(()));
}

#[test]
fn the_idle_connections_of_a_runtime_end_with_it() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // The service lives on while the runtimes of the caller come and go.
    let (served, client) = (tokio::runtime::Runtime::new().expect("a runtime"), Client::new().expect("a client"));
    let listener = served.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    served.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                while let Some(head) = read_head(&mut stream).await {
                    serve(&mut stream, &head, Behaviour::Answers).await?;
                }
                Some(())
            });
        }
    });
    for _ in 0..3 {
        let found = runtime().block_on(client.discover(&[Address::parse("t", &url).expect("an address")]));
        assert_eq!(found.problems, []);
    }
}
