//! Measures what a call of a tool costs beside bare `reqwest` and bare `rmcp`, how long an import of 1,000 operations takes, and how long a search
//! in 4,000 capabilities takes. All numbers of a comparison come from one run, in turns.
#![expect(clippy::print_stdout, reason = "it is a program for people")]

mod mcp;

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use reknit_protocol::{CallTool, Object, SideEffect};
use reknit_tools::{Client, Discovery, DocumentLocation, OpenApiOptions, OpenApiService, discover};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Calls of one turn, and turns.
const CALLS: usize = 500;
const TURNS: usize = 30;
/// The bars.
const MAX_OVERHEAD: Duration = Duration::from_micros(30);
const MAX_IMPORT: Duration = Duration::from_secs(1);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some(mcp::SERVE) {
        mcp::serve_stdio()?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let calls_hold = runtime.block_on(calls())?;
    runtime.block_on(mcp::calls())?;
    let all_hold = [calls_hold, runtime.block_on(import())?, runtime.block_on(search())?];
    Ok(if all_hold.iter().all(|holds| *holds) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn report(name: &str, figure: &str, bar: &str, holds: bool) -> bool {
    println!("{name:45} {figure:40} bar: {bar:25} {}", if holds { "holds" } else { "DOES NOT HOLD" });
    holds
}

/// A document with this many operations, each with a body of its own that refers to shared schemas.
fn document(server: &str, operations: usize) -> String {
    let mut paths = String::new();
    for number in 0..operations {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            paths,
            r##"{comma}"/items{number}/{{id}}":{{"get":{{"operationId":"get_item_{number}","summary":"Returns item {number}",
            "parameters":[{{"name":"id","in":"path","required":true,"schema":{{"type":"string"}}}},
            {{"name":"limit","in":"query","schema":{{"type":"integer","minimum":1}}}}],
            "responses":{{"200":{{"description":"","content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/Item"}}}}}}}}}}}}}}"##
        );
    }
    format!(
        r##"{{"openapi":"3.1.0","info":{{"title":"Bench","version":"1"}},"servers":[{{"url":"{server}"}}],"components":{{"schemas":{{
        "Item":{{"type":"object","properties":{{"id":{{"type":"string"}},"parent":{{"$ref":"#/components/schemas/Item"}}}}}}}}}},
        "paths":{{{paths}}}}}"##
    )
}

async fn imported(server: &str, operations: usize) -> Result<(Discovery, Duration), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("reknit-bench-{}-{operations}.json", std::process::id()));
    std::fs::write(&file, document(server, operations))?;
    let mut options = OpenApiOptions::new("bench", DocumentLocation::File(file.clone()));
    options.url = Some(server.parse()?);
    let service = Arc::new(OpenApiService::new(options, Client::new()?));
    let start = Instant::now();
    let found = discover(&[service]).await;
    let time = start.elapsed();
    std::fs::remove_file(&file)?;
    assert_eq!(found.problems, []);
    Ok((found, time))
}

async fn calls() -> Result<bool, Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let app = Router::new().route("/items0/{id}", get(|| async { r#"{"id": "7", "price": 12.5}"# }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let (found, _) = imported(&url, 1).await?;
    let call = CallTool {
        id: "s/call/1".parse()?,
        step: "s".into(),
        tool: "bench".into(),
        capability: "get_item_0".into(),
        parameters: Object::from([("id", "7".into()), ("limit", 3.into())]),
        side_effect: SideEffect::Read,
        idempotency_key: None,
        business_key: None,
        timeout_ms: 10_000,
        job: None,
        callback: None,
    };
    let bare = reqwest::Client::builder().no_proxy().build()?;
    let target: reqwest::Url = format!("{url}/items0/7?limit=3").parse()?;
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..CALLS {
            found.tools.call(&call).await?;
        }
        ours = ours.min(start.elapsed());
        let start = Instant::now();
        for _ in 0..CALLS {
            bare.get(target.clone()).send().await?.bytes().await?;
        }
        theirs = theirs.min(start.elapsed());
    }
    let count = u32::try_from(CALLS)?;
    let (ours, theirs) = (ours / count, theirs / count);
    let overhead = ours.saturating_sub(theirs);
    let figure = format!("{ours:?}, bare reqwest {theirs:?}, {overhead:?} more");
    Ok(report("a call over HTTP", &figure, "at most 30 µs more", overhead <= MAX_OVERHEAD))
}

async fn import() -> Result<bool, Box<dyn Error>> {
    let before = resident_kb()?;
    let (found, time) = imported("http://127.0.0.1:9", 1_000).await?;
    let memory = resident_kb()?.saturating_sub(before);
    let count = found.catalogue.tools.iter().map(|tool| tool.capabilities.len()).sum::<usize>();
    let figure = format!("{time:?}, {} MB", memory / 1_000);
    Ok(report(&format!("an import of {count} operations"), &figure, "under 1 s", time < MAX_IMPORT && count == 1_000))
}

async fn search() -> Result<bool, Box<dyn Error>> {
    let (found, _) = imported("http://127.0.0.1:9", 4_000).await?;
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        let matches = found.catalogue.matches("return the item 1234 with its limit");
        fastest = fastest.min(start.elapsed());
        assert_eq!(matches.first().map(String::as_str), Some("bench/get_item_1234"));
    }
    println!("{:45} {:40}", "a search in 4,000 capabilities", format!("{fastest:?}"));
    Ok(true)
}

/// The resident memory of this process.
fn resident_kb() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
