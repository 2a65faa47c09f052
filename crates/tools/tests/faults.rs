//! Servers that misbehave, for every kind of service over HTTP: each fault is bounded, has its kind, and panics nowhere.
#![cfg(test)]

mod support;

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use reknit_protocol::{
    CallTool, Delivery, HttpMethod, ReplyBody, SideEffect, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_tools::{
    Address, BodyFormat, Client, DefinedCapability, Discovery, DocumentLocation, HttpOptions, HttpService,
    OpenApiOptions, OpenApiService, PlainHttpCapability, PlainHttpOptions, PlainHttpService, ToolService, ToolSource,
    discover,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use support::new_call;

const MAX_BODY: usize = 100_000;

/// What a server does instead of answering.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Hangs,
    ClosesAtOnce,
    HalfAHead,
    HalfABody,
    /// It ends its side of the connection and never reads again.
    HalfClosed,
    EndlessHead,
    EndlessBody,
    GzipBomb,
    InvalidUtf8,
    WrongContentType,
    NotHttp,
}

const FAULTS: [Fault; 11] = [
    Fault::Hangs,
    Fault::ClosesAtOnce,
    Fault::HalfAHead,
    Fault::HalfABody,
    Fault::HalfClosed,
    Fault::EndlessHead,
    Fault::EndlessBody,
    Fault::GzipBomb,
    Fault::InvalidUtf8,
    Fault::WrongContentType,
    Fault::NotHttp,
];

impl Fault {
    /// Performs the fault. `None` if the connection is over.
    async fn perform(self, stream: &mut TcpStream) -> Option<()> {
        let page = |headers: &str, body: &[u8]| {
            let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len());
            [head.as_bytes(), body].concat()
        };
        let json = "content-type: application/json\r\n";
        match self {
            Self::Hangs => std::future::pending().await,
            Self::ClosesAtOnce => return None,
            Self::HalfAHead => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").await.ok()?,
            Self::HalfABody => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":").await.ok()?;
            }
            Self::HalfClosed => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{").await.ok()?;
                stream.shutdown().await.ok()?;
                std::future::pending::<()>().await;
            }
            Self::EndlessHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n").await.ok()?;
                loop {
                    stream
                        .write_all(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")
                        .await
                        .ok()?;
                }
            }
            Self::EndlessBody => {
                stream
                    .write_all(format!("HTTP/1.1 200 OK\r\n{json}transfer-encoding: chunked\r\n\r\n").as_bytes())
                    .await
                    .ok()?;
                loop {
                    stream.write_all(format!("1000\r\n{}\r\n", " ".repeat(0x1000)).as_bytes()).await.ok()?;
                }
            }
            Self::GzipBomb => {
                let headers = format!("{json}content-encoding: gzip\r\n");
                stream.write_all(&page(&headers, &gzip_bomb())).await.ok()?;
            }
            Self::InvalidUtf8 => stream.write_all(&page(json, b"{\"name\": \"\xff\xfe\"}")).await.ok()?,
            Self::WrongContentType => {
                stream.write_all(&page("content-type: image/png\r\n", b"\x89PNG\r\n\x1a\n")).await.ok()?;
            }
            Self::NotHttp => stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").await.ok()?,
        }
        None
    }
}

/// About 200 bytes that become 200,000 spaces, which is more than a body may have.
fn gzip_bomb() -> Vec<u8> {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let start = [0xed, 0xc1, 0x31, 1, 0, 0, 0, 0xc2, 0xa0, 0x2a, 0xeb, 0x9f, 0xd2, 0x0c, 0xfe, 0x40, 1];
    let (end, checksum, length) = ([0xaf, 1], [0x31, 0x61, 0x62, 0x10], [0x40, 0x0d, 3, 0]);
    [head.as_slice(), &start, &[0; 193], &end, &checksum, &length].concat()
}

/// A server that answers requests for these paths, and all others with a fault.
struct FaultyServer {
    url: String,
    targets: Arc<Mutex<Vec<String>>>,
}

impl FaultyServer {
    async fn start(fault: Fault, pages: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let targets = Arc::<Mutex<Vec<String>>>::default();
        let (log, base, pages) = (Arc::clone(&targets), url.clone(), Arc::new(pages));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let (log, base, pages) = (Arc::clone(&log), base.clone(), Arc::clone(&pages));
                tokio::spawn(async move {
                    while let Some(target) = read_target(&mut stream).await {
                        log.lock().expect("no panic").push(target.clone());
                        let Some(page) = pages(&target, &base) else {
                            fault.perform(stream.get_mut()).await?;
                            continue;
                        };
                        let length = page.len();
                        let head = format!(
                            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                        );
                        stream.write_all(format!("{head}{page}").as_bytes()).await.ok()?;
                    }
                    Some(())
                });
            }
        });
        Self { url, targets }
    }

    fn targets(&self) -> Vec<String> {
        self.targets.lock().expect("no panic").clone()
    }
}

/// The target of the next request.
async fn read_target(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    Some(String::from_utf8_lossy(&bytes).split(' ').nth(1)?.to_owned())
}

/// The kinds of services.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    ToolProtocol,
    OpenApi,
    PlainHttp,
}

const KINDS: [Kind; 3] = [Kind::ToolProtocol, Kind::OpenApi, Kind::PlainHttp];
const DOCUMENT: &str = r#"{"openapi":"3.1.0","info":{"title":"x","version":"1"},"servers":[{"url":"URL"}],"paths":{"/c":{"get":{
    "operationId":"c","responses":{"200":{"description":""}}}}}}"#;

/// What a service with one capability publishes.
fn published(target: &str, base: &str) -> Option<String> {
    match target {
        "/api/capabilities" => Some(r#"[{"name": "c", "endpoint": "/c"}]"#.to_owned()),
        "/openapi.json" => Some(DOCUMENT.replace("URL", base)),
        target if target.ends_with("/schema") => Some(r#"{"type": "object", "properties": {}}"#.to_owned()),
        _ => None,
    }
}

async fn discovered(kind: Kind, url: &str) -> Discovery {
    discover(&[source(kind, url, HttpOptions { max_body: MAX_BODY, ..HttpOptions::default() })]).await
}

fn source(kind: Kind, url: &str, http: HttpOptions) -> Arc<dyn ToolSource> {
    let client = Client::new().expect("a client");
    match kind {
        Kind::ToolProtocol => {
            let address = Address::parse("t", url).expect("an address");
            Arc::new(ToolService::new(HttpService::new(address, client, http).expect("valid options")))
        }
        Kind::OpenApi => {
            let document = DocumentLocation::parse(&format!("{url}/openapi.json")).expect("an address");
            Arc::new(OpenApiService::new(OpenApiOptions { http, ..OpenApiOptions::new("t", document) }, client))
        }
        Kind::PlainHttp => {
            let schema = Value::parse(r#"{"type": "object", "properties": {}}"#).expect("JSON");
            let (tool, name, description, effect) = ("t".into(), "c".into(), String::new(), SideEffect::Keyed);
            let options = PlainHttpOptions {
                capability: DefinedCapability { tool, name, description, effect, schema },
                address: Address::parse("t", url).expect("an address"),
                method: HttpMethod::from_word("post").expect("a method"),
                path: "/c".to_owned(),
                query: Vec::new(),
                headers: Vec::new(),
                body: None,
                body_format: BodyFormat::Json,
                result: None,
                looks_for_errors: true,
                http,
            };
            let capability = PlainHttpCapability::new(options).expect("a valid definition");
            Arc::new(PlainHttpService::new(capability, client).expect("a service"))
        }
    }
}

async fn called(found: &Discovery, capability: &str) -> Result<ToolReply, TransportFailure> {
    called_within(found, capability, 60_000).await
}

async fn called_within(found: &Discovery, capability: &str, timeout_ms: u64) -> Result<ToolReply, TransportFailure> {
    let call = CallTool {
        idempotency_key: Some("key-1".to_owned()),
        timeout_ms,
        ..new_call("t", capability, SideEffect::Keyed)
    };
    found.tools.call(&call).await
}

#[tokio::test]
async fn a_call_to_a_server_that_misbehaves_is_a_failure_of_its_kind() {
    for kind in KINDS {
        for fault in FAULTS {
            let server = FaultyServer::start(fault, published).await;
            let found = discovered(kind, &server.url).await;
            assert_eq!(found.problems, [], "{kind:?}");
            // Only the call that is never answered is short of time.
            let timeout_ms = if fault == Fault::Hangs { 2_000 } else { 60_000 };
            let outcome = called_within(&found, "c", timeout_ms).await;
            let expected = match fault {
                Fault::Hangs => TransportKind::TimedOut,
                Fault::EndlessBody => TransportKind::TooLarge,
                Fault::GzipBomb => TransportKind::Unreadable,
                Fault::InvalidUtf8 | Fault::WrongContentType => {
                    // The bytes that are not text are replaced, and the reply says so.
                    let reply = outcome.unwrap_or_else(|failure| panic!("{kind:?} {fault:?}: {failure}"));
                    let ReplyBody::Repaired { fixes, .. } = reply.body else { panic!("{kind:?} {fault:?}: {reply:?}") };
                    assert_eq!(fixes, [ReplyBody::INVALID_UTF8], "{kind:?} {fault:?}");
                    continue;
                }
                _ => TransportKind::Reset,
            };
            let failure = outcome.expect_err("it misbehaves");
            assert_eq!(
                (failure.kind, failure.delivery),
                (expected, Delivery::Possible),
                "{kind:?} {fault:?}: {failure}"
            );
            let says_why =
                fault != Fault::GzipBomb || failure.message.contains("compressed (`Content-Encoding: gzip`)");
            assert!(says_why, "{kind:?} {fault:?}: {failure}");
        }
    }
}

#[tokio::test]
async fn a_server_that_misbehaves_when_it_is_listed_is_a_problem_and_nothing_else() {
    for kind in [Kind::ToolProtocol, Kind::OpenApi] {
        for fault in FAULTS.into_iter().filter(|fault| *fault != Fault::Hangs) {
            let server = FaultyServer::start(fault, |_, _| None).await;
            let found = discovered(kind, &server.url).await;
            assert_eq!(found.problems.len(), 1, "{kind:?} {fault:?}: {:?}", found.problems);
            let count: usize = found.catalogue.tools.iter().map(|tool| tool.capabilities.len()).sum();
            assert_eq!(count, 0, "{kind:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_when_it_is_listed_is_given_up() {
    for kind in [Kind::ToolProtocol, Kind::OpenApi] {
        let server = FaultyServer::start(Fault::Hangs, |_, _| None).await;
        let found = tokio::time::timeout(Duration::from_mins(1), discovered(kind, &server.url)).await;
        assert_eq!(found.expect("it is bounded").problems.len(), 1, "{kind:?}");
    }
}

/// What a service with 10,000 capabilities publishes.
fn ten_thousand(target: &str, base: &str) -> String {
    let joined = |one: fn(usize) -> String| (0..10_000).map(one).collect::<Vec<_>>().join(",");
    match target {
        "/api/capabilities" => format!("[{}]", joined(|number| format!(r#"{{"name":"c{number}"}}"#))),
        "/openapi.json" => {
            let path = |number| format!(r#""/c{number}":{{"get":{{"operationId":"c{number}","responses":{{}}}}}}"#);
            let head = format!(r#""openapi":"3.1.0","servers":[{{"url":"{base}"}}]"#);
            format!(r#"{{{head},"paths":{{{}}}}}"#, joined(path))
        }
        _ => r#"{"type":"object"}"#.to_owned(),
    }
}

#[tokio::test]
async fn ten_thousand_capabilities_are_listed() {
    for kind in [Kind::ToolProtocol, Kind::OpenApi] {
        let server = FaultyServer::start(Fault::ClosesAtOnce, |target, base| Some(ten_thousand(target, base))).await;
        let listing = source(kind, &server.url, HttpOptions::default()).list().await.expect("it is a list");
        assert_eq!((listing.capabilities.len(), listing.problems), (10_000, Vec::new()), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_schemas_of_a_service_are_fetched_several_at_a_time() {
    let arrived = Arc::new((Mutex::new(0), Condvar::new()));
    let server = FaultyServer::start(Fault::ClosesAtOnce, move |target, _| {
        if target == "/api/capabilities" {
            return Some(r#"[{"name": "a"}, {"name": "b"}]"#.to_owned());
        }
        // Nobody is answered before both have asked.
        let (count, changed) = &*arrived;
        let mut count = count.lock().expect("not poisoned");
        *count += 1;
        changed.notify_all();
        // The other tasks of this thread must go on, for one of them may be the second request.
        let wait = || changed.wait_timeout_while(count, Duration::from_mins(2), |count| *count < 2);
        let both = tokio::task::block_in_place(wait).expect("not poisoned");
        (*both.0 >= 2).then(|| "{}".to_owned())
    })
    .await;
    assert_eq!(discovered(Kind::ToolProtocol, &server.url).await.problems, []);
}

/// Names that try to leave their place, to deceive, or to be too much.
const HOSTILE_NAMES: [&str; 9] = [
    "../../etc/passwd",
    "..",
    "a/../../b",
    "a\\nb",
    "\\u202egpj.exe",
    "a?b=c#d",
    "%2e%2e%2fadmin",
    "//evil.example/x",
    "a\\u0000b",
];

#[tokio::test]
async fn hostile_names_lead_to_no_other_place() {
    let list: Vec<String> = HOSTILE_NAMES.iter().map(|name| format!(r#"{{"name": "{name}"}}"#)).collect();
    let list = format!("[{}, {{\"name\": \"{}\"}}]", list.join(","), "x".repeat(10_000));
    let server = FaultyServer::start(Fault::ClosesAtOnce, move |target, _| match target {
        "/api/capabilities" => Some(list.clone()),
        _ => Some("{}".to_owned()),
    })
    .await;
    let found = discovered(Kind::ToolProtocol, &server.url).await;
    let names: Vec<String> = found
        .catalogue
        .tools
        .iter()
        .flat_map(|tool| &tool.capabilities)
        .map(|entry| entry.capability.name.to_string())
        .collect();
    assert_eq!(names.len() + found.problems.len(), HOSTILE_NAMES.len() + 1, "{names:?} {:?}", found.problems);
    for name in &names {
        called(&found, name).await.expect("it is answered");
    }
    for target in server.targets() {
        let path = target.split('?').next().expect("a path");
        assert!(path.starts_with("/api/capabilities"), "{target}");
        let decoded = path.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/").replace("%2F", "/");
        assert!(!decoded.split('/').any(|segment| segment == ".."), "{target}");
    }
}

#[tokio::test]
async fn hostile_operation_ids_and_paths_lead_to_no_other_place() {
    let server = FaultyServer::start(Fault::ClosesAtOnce, |target, base| {
        if target != "/openapi.json" {
            return Some("{}".to_owned());
        }
        let operation = |(number, name): (usize, &&str)| {
            let get = format!(r#"{{"get":{{"operationId":"{name}","responses":{{}}}}}}"#);
            format!(r#""/v1/by-id/{number}":{get},"/v1/{name}":{get}"#)
        };
        let paths: Vec<String> = HOSTILE_NAMES.iter().enumerate().map(operation).collect();
        let head = format!(r#""openapi":"3.1.0","info":{{"title":"x","version":"1"}},"servers":[{{"url":"{base}"}}]"#);
        Some(format!(r#"{{{head},"paths":{{{}}}}}"#, paths.join(",")))
    })
    .await;
    let found = discovered(Kind::OpenApi, &server.url).await;
    let names: Vec<String> =
        found.catalogue.tools[0].capabilities.iter().map(|entry| entry.capability.name.to_string()).collect();
    assert!(names.len() >= HOSTILE_NAMES.len(), "the operations at usual paths can be used: {names:?}");
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))), "{names:?}");
    for name in &names {
        // A path that cannot be sent as it is written is not sent.
        let _ = called(&found, name).await;
    }
    for target in server.targets().iter().filter(|target| *target != "/openapi.json") {
        let decoded = target.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/").replace("%2F", "/");
        assert!(target.starts_with("/v1/"), "{target}");
        assert!(!decoded.split('/').any(|segment| segment == ".."), "{target}");
    }
}

#[tokio::test]
async fn cyclic_and_remote_references_of_schemas_are_neither_followed_for_ever_nor_fetched() {
    let elsewhere = FaultyServer::start(Fault::Hangs, |_, _| None).await;
    let remote = format!("{}/secret", elsewhere.url);
    let schemas = [
        (r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##.to_owned(), "the whole schema"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##.to_owned(),
            "a circle",
        ),
        (format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{remote}"}}}}}}"#), "another server"),
        (r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#.to_owned(), "a file"),
    ];
    for (schema, case) in schemas {
        let server = FaultyServer::start(Fault::ClosesAtOnce, move |target, base| match target {
            target if target.ends_with("/schema") => Some(schema.clone()),
            "/openapi.json" => {
                let body =
                    format!(r#""requestBody":{{"content":{{"application/json":{{"schema":{schema}}}}}}},"responses""#);
                Some(DOCUMENT.replace("\"get\"", "\"post\"").replace("\"responses\"", &body).replace("URL", base))
            }
            "/c" => Some("{}".to_owned()),
            target => published(target, base),
        })
        .await;
        for kind in [Kind::ToolProtocol, Kind::OpenApi] {
            let found = discovered(kind, &server.url).await;
            let is_listed = found.catalogue.entry("t", "c").is_some();
            assert!(is_listed || !found.problems.is_empty(), "{kind:?}, {case}: dropped without a message");
            if is_listed {
                called(&found, "c").await.unwrap_or_else(|failure| panic!("{kind:?}, {case}: {failure}"));
            }
        }
    }
    assert_eq!(elsewhere.targets(), Vec::<String>::new(), "nothing is fetched from elsewhere");
}
