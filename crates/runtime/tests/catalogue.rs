//! What is known about tools while they come and go.
#![cfg(test)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_engine::Outcome;
use reknit_fakes::ScriptedTool;
use reknit_plan::{Catalogue, CatalogueEntry};
use reknit_protocol::{
    CallTool, Capability, Plan, ReplyBody, SideEffect, ToolName, ToolReply, TransportFailure, Value,
};
use reknit_registry::RedisUrl;
use reknit_runtime::telemetry::log::{Log, LogSettings};
use reknit_runtime::{DriveOutcome, Runtime};
use reknit_tools::{BoxFuture, DefinitionAuthor, ListedCapability, Listing, Route, ToolSource};
use tracing::level_filters::LevelFilter;

fn names(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.tools.iter().flat_map(|tool| &tool.capabilities).map(|entry| entry.capability.name.as_str()).collect()
}

#[tokio::test]
async fn a_tool_that_is_down_keeps_its_last_known_capabilities_also_across_restarts() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let url = tool.base_url();
    let start = || {
        let folder = folder.path().display().to_string();
        Runtime::from_builder(Runtime::builder().tool("shop", &url).catalogue_folder(&folder))
    };
    let reknit = start().await.expect("it starts");
    assert_eq!(names(&reknit.current_catalogue()), ["price"]);
    drop(tool);
    let problems = reknit.refresh_tools().await;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("its last known capabilities are used"), "{problems:?}");
    assert_eq!(names(&reknit.current_catalogue()), ["price"]);
    let restarted = start().await.expect("it starts");
    assert_eq!(names(&restarted.catalogue), ["price"]);
    let message = &restarted.problems[0].message;
    assert_eq!(message, "connection refused; is the tool running? (its last known capabilities are used)");
    let folder = folder.path().display().to_string();
    let moved = Runtime::builder().tool("shop", "http://127.0.0.1:9").catalogue_folder(&folder);
    let moved = Runtime::from_builder(moved);
    let moved = moved.await.expect("it starts");
    assert_eq!(names(&moved.catalogue), Vec::<&str>::new(), "at another address there is another service");
    let elsewhere = Runtime::from_builder(Runtime::builder().tool("shop", &url)).await.expect("it starts");
    assert_eq!(names(&elsewhere.catalogue), Vec::<&str>::new(), "without a folder nothing is known");
}

#[tokio::test]
async fn what_a_tool_announces_without_effect_is_noted_at_the_start() {
    let schema = r#"{"type": "object", "properties": {"item": {"type": "strng"}}}"#;
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read);
    let tool = tool.schema(Value::parse(schema).expect("it is JSON")).start().await.expect("it starts");
    let reknit = Runtime::from_builder(Runtime::builder().tool("shop", &tool.base_url())).await.expect("it starts");
    let [note] = reknit.notes.as_slice() else { panic!("{:?}", reknit.notes) };
    assert!(note.message.starts_with("schema of `price`: ") && note.message.contains("strng"), "{note}");
}

/// A source that has one more capability whenever it is asked.
#[derive(Debug)]
struct Growing {
    name: ToolName,
    asked: AtomicUsize,
}

#[derive(Debug)]
struct Answer(u16);

impl Route for Answer {
    fn call<'a>(
        &'a self,
        _call: &'a CallTool,
        _traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        let reply = ToolReply { status: self.0, retry_after_ms: None, body: ReplyBody::Json(Value::Null), job: None };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

impl ToolSource for Growing {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn address(&self) -> String {
        "nowhere".to_owned()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        let count = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let capability = |number: usize| ListedCapability {
            entry: CatalogueEntry::new(Capability::new(format!("c{number}")), None).expect("there is no schema"),
            route: Arc::new(Answer(200)),
        };
        let capabilities = (1..=count).map(capability).collect();
        Box::pin(std::future::ready(Ok(Listing { capabilities, ..Listing::default() })))
    }

    /// Else what it adds would be withheld.
    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::User
    }
}

#[tokio::test(start_paused = true)]
async fn capabilities_that_are_added_while_the_process_runs_are_found_in_the_background() {
    let source = || Arc::new(Growing { name: "growing".into(), asked: AtomicUsize::new(0) });
    let reknit = Runtime::builder().tool_source(source()).catalogue_refresh(Duration::from_secs(5));
    let reknit = Runtime::from_builder(reknit).await.expect("it starts");
    assert_eq!(names(&reknit.current_catalogue()), ["c1"]);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(names(&reknit.current_catalogue()), ["c1", "c2"]);
    assert_eq!(names(&reknit.started("x", None).catalogue), ["c1", "c2"], "a new run knows them");
    let step = r#"{"step_id": "s", "agent_name": "growing", "instruction": "", "metadata": {"capability": "c2", "parameters": {}}}"#;
    let plan = format!(r#"{{"plan_id": "p", "original_request": "x", "steps": [{step}]}}"#);
    let plan = Plan::from_value(&Value::parse(&plan).expect("JSON")).expect("a plan");
    let outcome = reknit.driver().start(reknit.started("x", Some(plan))).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(answer.steps[0].outcome, Outcome::Done(_)), "it can be called: {:?}", answer.steps);
    let never = Runtime::builder().tool_source(source()).catalogue_refresh(Duration::ZERO);
    let never = Runtime::from_builder(never).await.expect("it starts");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(names(&never.current_catalogue()), ["c1"]);
}

#[tokio::test]
async fn a_registry_that_is_down_prevents_neither_the_start_nor_the_use_of_configured_tools() {
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let url = RedisUrl::parse("redis://me:hunter2@127.0.0.1:9").expect("an address");
    let builder = || Runtime::builder().tool("shop", &tool.base_url()).discovery_redis(url.clone());
    let reknit = Runtime::from_builder(builder()).await.expect("it starts");
    assert_eq!(names(&reknit.catalogue), ["price"]);
    let problem = &reknit.problems[0].to_string();
    let expected = "tool `registry` at redis://[redacted]@127.0.0.1:9 (gomind): cannot connect to Redis at ";
    assert!(problem.starts_with(expected) && !problem.contains("hunter2"), "{problem}");
    let without = Runtime::from_builder(builder().discovery(false)).await.expect("it starts");
    assert!(without.problems.is_empty(), "{:?}", without.problems);
}

#[tokio::test(start_paused = true)]
async fn what_a_refresh_in_the_background_finds_is_logged_once() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    let settings = LogSettings { level: LevelFilter::INFO, ..LogSettings::default() };
    let log = Log::new(settings, move |line| written.lock().expect("no panic").push(line.to_owned()));
    let _log = tracing::subscriber::set_default(log);
    let source = Arc::new(Failing { name: "shaky".into(), asked: AtomicUsize::new(0) });
    let reknit = Runtime::builder().tool_source(source).catalogue_refresh(Duration::from_secs(5));
    let _reknit = Runtime::from_builder(reknit).await.expect("it starts");
    assert_eq!(lines.lock().expect("no panic").len(), 0, "the caller gets the problems of the start");
    tokio::time::sleep(Duration::from_secs(21)).await;
    let lines = lines.lock().expect("no panic").clone();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.contains("WARN") && line.contains("tool `shaky` at nowhere: it has gone"), "{line}");
}

/// A source that answers once.
#[derive(Debug)]
struct Failing {
    name: ToolName,
    asked: AtomicUsize,
}

impl ToolSource for Failing {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn address(&self) -> String {
        "nowhere".to_owned()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        let is_first = self.asked.fetch_add(1, Ordering::SeqCst) == 0;
        let listing = if is_first { Ok(Listing::default()) } else { Err("it has gone".to_owned()) };
        Box::pin(std::future::ready(listing))
    }
}
