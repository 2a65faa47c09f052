//! MCP servers that misbehave, over HTTP and as programs: each fault is bounded, has its kind, and panics nowhere.

use std::sync::Arc;
use std::time::Duration;

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, McpSource};
use reknit_protocol::{CallTool, Delivery, ToolReply, TransportFailure, TransportKind, Value};
use reknit_tools::{Listing, ToolSource as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{call, route};

const MAX_MESSAGE: usize = 100_000;
pub(crate) const INITIALIZED: &str =
    r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
pub(crate) const GOOD_LIST: &str = r#"[{"name":"echo","inputSchema":{"type":"object"}}]"#;
const JSON: &str = "content-type: application/json\r\n";

/// What a service sends instead of an answer, and what it does then.
#[derive(Clone)]
struct HttpFault {
    name: &'static str,
    bytes: Vec<u8>,
    then: Then,
    kind: TransportKind,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    Close,
    Hang,
    /// Ends its side of the connection, and does not read any more.
    HalfClose,
    /// Sends header lines without an end.
    EndlessHead,
    /// Sends chunks of a body without an end.
    EndlessBody,
}

fn page(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn http_faults() -> Vec<HttpFault> {
    let fault = |name, bytes: &[u8], then, kind| HttpFault { name, bytes: bytes.to_vec(), then, kind };
    let half = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 9\r\n\r\n{{");
    let chunked = |kind: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    let (endless, events) = (chunked("application/json"), chunked("text/event-stream"));
    let zipped = page(&format!("{JSON}content-encoding: gzip\r\n"), &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xed]);
    let not_text = page(JSON, b"{\"jsonrpc\":\"2.0\",\"id\":____,\"result\":{\"content\":[],\"x\":\"\xff\"}}");
    vec![
        fault("hangs", b"", Then::Hang, TransportKind::TimedOut),
        fault("closes", b"", Then::Close, TransportKind::Reset),
        fault("half a head", b"HTTP/1.1 200 OK\r\ncont", Then::Close, TransportKind::Reset),
        fault("half closed", half.as_bytes(), Then::HalfClose, TransportKind::Reset),
        fault("endless head", b"HTTP/1.1 200 OK\r\n", Then::EndlessHead, TransportKind::Reset),
        fault("endless body", endless.as_bytes(), Then::EndlessBody, TransportKind::TooLarge),
        fault("endless event", events.as_bytes(), Then::EndlessBody, TransportKind::Reset),
        fault("gzip", &zipped, Then::Close, TransportKind::Unreadable),
        fault("invalid UTF-8", &not_text, Then::Close, TransportKind::Unreadable),
        fault("not JSON", &page(JSON, b"hello"), Then::Close, TransportKind::Unreadable),
        fault("a picture", &page("content-type: image/png\r\n", b"\x89PNG"), Then::Close, TransportKind::Unreadable),
        fault("no content type", &page("", b"{}"), Then::Close, TransportKind::Unreadable),
        fault("not HTTP", b"SSH-2.0-OpenSSH_9.6\r\n", Then::Close, TransportKind::Reset),
    ]
}

/// Which requests a service answers with a fault.
#[derive(Clone, Copy, PartialEq)]
enum Misbehaves {
    AtCalls,
    AtLists,
    Always,
}

impl Misbehaves {
    fn concerns(self, message: &Value) -> bool {
        match self {
            Self::AtCalls => false,
            Self::AtLists => message.get("method").and_then(Value::as_str) == Some("tools/list"),
            Self::Always => true,
        }
    }
}

async fn start(fault: HttpFault, when: Misbehaves) -> String {
    start_listing(GOOD_LIST.to_owned(), fault, when).await
}

/// A service with these tools that answers calls.
async fn start_good(tools: String) -> String {
    let bytes = page(JSON, br#"{"jsonrpc":"2.0","id":____,"result":{"content":[]}}"#);
    let fault = HttpFault { name: "none", bytes, then: Then::Close, kind: TransportKind::Reset };
    start_listing(tools, fault, Misbehaves::AtCalls).await
}

async fn start_listing(tools: String, fault: HttpFault, when: Misbehaves) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (tools, fault) = (Arc::<str>::from(tools), Arc::new(fault));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&tools), Arc::clone(&fault), when));
        }
    });
    url
}

async fn serve(mut stream: TcpStream, tools: Arc<str>, fault: Arc<HttpFault>, when: Misbehaves) -> Option<()> {
    loop {
        let message = read_message(&mut stream).await?;
        if let Some(answer) = answer(&message, &tools).filter(|_| !when.concerns(&message)) {
            stream.write_all(&answer).await.ok()?;
            continue;
        }
        stream.write_all(&with_id(&fault.bytes, &message)).await.ok()?;
        match fault.then {
            Then::Close => return None,
            Then::Hang => std::future::pending().await,
            Then::HalfClose => {
                stream.shutdown().await.ok()?;
                std::future::pending::<()>().await;
            }
            Then::EndlessHead => loop {
                stream.write_all(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").await.ok()?;
            },
            Then::EndlessBody => loop {
                stream.write_all(format!("1000\r\n{}\r\n", " ".repeat(0x1000)).as_bytes()).await.ok()?;
            },
        }
    }
}

/// The bytes with the id of the request in the place for it.
fn with_id(bytes: &[u8], message: &Value) -> Vec<u8> {
    let id = format!("{:>4}", message.get("id").map(ToString::to_string).unwrap_or_default());
    let mut bytes = bytes.to_vec();
    if let Some(at) = bytes.windows(4).position(|window| window == b"____") {
        bytes.splice(at..at + 4, id.into_bytes());
    }
    bytes
}

async fn read_message(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Value::parse(std::str::from_utf8(&body).ok()?).unwrap_or_default())
}

/// The answer of a good service; `None` for a call.
fn answer(message: &Value, tools: &str) -> Option<Vec<u8>> {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let Some(id) = message.get("id") else {
        return Some(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec());
    };
    let result = match method {
        "tools/call" => return None,
        "initialize" => {
            let info = r#""capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}"#;
            format!(r#""result":{{"protocolVersion":"2025-11-25",{info}}}"#)
        }
        "tools/list" => format!(r#""result":{{"tools":{tools}}}"#),
        _ => r#""error":{"code":-32601,"message":"unknown"}"#.to_owned(),
    };
    Some(page(JSON, format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#).as_bytes()))
}

fn bounded(connection: McpConnection) -> McpOptions {
    let options = McpOptions::new("server", connection);
    McpOptions { max_message: MAX_MESSAGE, connect_limit: Duration::from_mins(1), ..options }
}

fn http(url: String) -> McpOptions {
    bounded(McpConnection::Http(McpEndpoint { url, ..McpEndpoint::default() }))
}

async fn called(listing: &Listing) -> Result<ToolReply, TransportFailure> {
    route(listing, "echo").call(&call("echo", "{}"), None).await
}

/// A call that fails in this way. Only one that is never answered is short of time.
async fn called_for(listing: &Listing, kind: TransportKind) -> Result<ToolReply, TransportFailure> {
    let usual = call("echo", "{}");
    let timeout_ms = if kind == TransportKind::TimedOut { 1_000 } else { usual.timeout_ms };
    route(listing, "echo").call(&CallTool { timeout_ms, ..usual }, None).await
}

#[tokio::test]
async fn a_call_to_a_service_that_misbehaves_is_a_failure_of_its_kind() {
    for fault in http_faults() {
        let (name, kind) = (fault.name, fault.kind);
        let source = McpSource::new(http(start(fault, Misbehaves::AtCalls).await));
        let listing = source.list().await.unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let failure = called_for(&listing, kind).await.expect_err(name);
        assert_eq!((failure.kind, failure.delivery), (kind, Delivery::Possible), "{name}: {failure}");
    }
}

#[tokio::test]
async fn a_service_that_misbehaves_before_its_tools_are_known_is_a_problem() {
    for fault in http_faults() {
        for when in [Misbehaves::AtLists, Misbehaves::Always] {
            let name = fault.name;
            // One that hangs is given up after this time; the others need not be in time for it, because any problem will do.
            let connect_limit = Duration::from_secs(3);
            let options = McpOptions { connect_limit, ..http(start(fault.clone(), when).await) };
            let source = McpSource::new(options);
            let problem = source.list().await.expect_err(name);
            assert!(!problem.is_empty(), "{name}");
        }
    }
}

/// A program that lists these tools, and runs a line of shell at a call.
pub(crate) fn program(tools: &str, at_call: &str) -> McpOptions {
    let script = r#"id() { printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/'; }
        answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$(id)" "$1"; }
        while IFS= read -r line; do case "$line" in
        *'"initialize"'*) answer "$INITIALIZED";;
        *'"tools/list"'*) answer "\"result\":{\"tools\":$TOOLS}";;
        *'"tools/call"'*) AT_CALL;;
        *'"server/discover"'*) answer '"error":{"code":-32601,"message":"unknown"}';;
        esac; done"#;
    let program = McpProgram {
        program: "sh".into(),
        arguments: vec!["-c".to_owned(), script.replace("AT_CALL", at_call)],
        environment: [("TOOLS", tools), ("INITIALIZED", INITIALIZED)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..McpProgram::default()
    };
    bounded(McpConnection::Stdio(program))
}

#[tokio::test]
async fn a_call_to_a_program_that_misbehaves_is_a_failure_of_its_kind() {
    for (name, at_call, kind) in [
        ("hangs", ":", TransportKind::TimedOut),
        ("ends", "exit 3", TransportKind::Reset),
        ("closes its output", "exec >&-; sleep 100", TransportKind::Reset),
        ("a line without an end", "while :; do printf '%5000s' x; done", TransportKind::TooLarge),
        ("noise", r"printf 'hello\n[1,2\n\n'", TransportKind::TimedOut),
        ("not UTF-8", r"printf '\377\376\n'", TransportKind::TimedOut),
    ] {
        let source = McpSource::new(program(GOOD_LIST, at_call));
        let listing = source.list().await.unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let failure = called_for(&listing, kind).await.expect_err(name);
        assert_eq!((failure.kind, failure.delivery), (kind, Delivery::Possible), "{name}: {failure}");
    }
}

#[tokio::test]
async fn hostile_names_and_references_of_tools_are_reported_or_harmless() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let remote = format!("http://{}/secret", listener.local_addr().expect("an address"));
    let tool = |name: &str, schema: &str| format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
    let plain = r#"{"type":"object"}"#;
    let long = "x".repeat(10_000);
    let tools = [
        tool("echo", plain),
        tool("../../etc/passwd", plain),
        tool(r"a\nb", plain),
        tool(r"\u202egpj.exe", plain),
        tool(r"a\u0000b", plain),
        tool("", plain),
        tool(&long, plain),
        tool("whole", r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##),
        tool("circle", r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##),
        tool("remote", &format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{remote}"}}}}}}"#)),
        tool("file", r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#),
    ];
    let list = format!("[{}]", tools.join(","));
    let at_call = r#"answer '"result":{"content":[]}'"#;
    for (kind, options) in [("program", program(&list, at_call)), ("service", http(start_good(list.clone()).await))] {
        let source = McpSource::new(options);
        let listing = source.list().await.unwrap_or_else(|problem| panic!("{kind}: {problem}"));
        let names: Vec<&str> =
            listing.capabilities.iter().map(|listed| listed.entry.capability.name.as_str()).collect();
        assert_eq!(names.len() + listing.problems.len(), tools.len(), "{kind}: {names:?} {:?}", listing.problems);
        assert!(names.contains(&"echo") && !names.iter().any(|name| name.contains(char::is_control)), "{names:?}");
        assert!(!names.contains(&long.as_str()) && !names.contains(&""), "{kind}: {names:?}");
        assert_eq!(called(&listing).await.expect("it is answered").status, 200, "{kind}");
    }
    let fetched = tokio::time::timeout(Duration::from_millis(200), listener.accept()).await;
    assert!(fetched.is_err(), "nothing is fetched from elsewhere");
}

#[tokio::test]
async fn ten_thousand_tools_of_a_service_are_listed() {
    let tool = |number| format!(r#"{{"name":"tool_{number}","inputSchema":{{"type":"object"}}}}"#);
    let tools: Vec<String> = (0..10_000).map(tool).collect();
    let url = start_good(format!("[{}]", tools.join(","))).await;
    let options = McpOptions { max_message: 16 << 20, connect_limit: Duration::from_mins(2), ..http(url) };
    let listing = McpSource::new(options).list().await.expect("it is a list");
    assert_eq!((listing.capabilities.len(), listing.problems), (10_000, Vec::new()));
}
