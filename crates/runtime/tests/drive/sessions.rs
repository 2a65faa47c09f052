//! Sessions over HTTP: a scripted model with real status codes and faults, and a clock that the tests advance.

use std::sync::Arc;
use std::time::Duration;

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{
    Event, Machine, Metadata, Policy, Record, Report, ReportSource, SessionExit, SessionRecord, SessionRules,
    SessionStarted, SessionTexts,
};
use reknit_engine::{EventKind, MACHINE_VERSION, Templates};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{RunId, SideEffect, Value};
use reknit_runtime::DriveOutcome;
use tokio_util::sync::CancellationToken;

use crate::drive::fixture::Fixture;

/// A session with a shop as its tool and a scripted model.
pub(crate) struct Scene {
    pub(crate) fixture: Fixture,
    pub(crate) shop: RunningTool,
    model: ScriptedModel,
}

fn any() -> reknit_fakes::tool::CallMatcher {
    reknit_fakes::tool::CallMatcher::any()
}

/// A script of replies, one after the other.
fn script(replies: &str) -> Script {
    let replies = Value::parse(replies).expect("JSON");
    let rules = replies
        .as_array()
        .expect("a list")
        .iter()
        .enumerate()
        .map(|(index, reply)| format!(r#"{{"when": {{"nth": {}}}, "reply": {reply}}}"#, index + 1));
    let text = format!(r#"{{"rules": [{}]}}"#, rules.collect::<Vec<_>>().join(", "));
    Script::from_value(&Value::parse(&text).expect("JSON")).expect("a script")
}

const LOOK_UP: &str = r#"{"calls": [{"name": "shop__look_up", "arguments": "{\"id\": 7}"}]}"#;
const ORDER: &str = r#"{"calls": [{"name": "shop__order", "arguments": "{\"id\": 7}"}]}"#;
pub(crate) const REPORT: &str =
    r#"{"calls": [{"name": "agent__final_report", "arguments": "{\"report_content\": \"It was sent.\"}"}]}"#;

/// A result of some 30,000 bytes.
fn stock() -> Value {
    let items = (0..900).map(|number| format!(r#"{{"item": {number}, "name": "thing {number}"}}"#));
    Value::parse(&format!("[{}]", items.collect::<Vec<_>>().join(", "))).expect("JSON")
}

impl Scene {
    async fn new(script: Script) -> Self {
        let shop = ScriptedTool::new("shop")
            .capability("look_up", SideEffect::Read)
            .capability("order", SideEffect::Keyed)
            .capability("stock", SideEffect::Read)
            .on("stock", any(), Reply::data(stock()))
            .on("look_up", any(), Reply::data(Value::parse(r#"{"state": "sent"}"#).expect("JSON")))
            .on("order", any(), Reply::data(Value::parse(r#"{"order": 9}"#).expect("JSON")));
        let shop = shop.start().await.expect("the shop starts");
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let tools = [("shop".to_owned(), shop.base_url())];
        let fixture = Fixture::new(&tools, Some(&model.base_url())).await;
        Self { fixture, shop, model }
    }

    pub(crate) async fn with_script(script: Script) -> Self {
        Self::new(script).await
    }

    /// A scene for tests that start their own models.
    pub(crate) async fn without_model() -> Self {
        Self::new(Script::new()).await
    }

    pub(crate) async fn of(replies: &[&str]) -> Self {
        Self::new(script(&format!("[{}]", replies.join(", ")))).await
    }

    pub(crate) fn started(&self) -> SessionStarted {
        SessionStarted {
            run: "s".into(),
            agent: "clerk".to_owned(),
            prompt: "You are a clerk.".to_owned(),
            input: "Where is order 7?".to_owned(),
            attachments: Vec::new(),
            metadata: Metadata::default(),
            agents: Vec::new(),
            catalogue: Arc::new(self.fixture.found.catalogue.clone()),
            unavailable: Vec::new(),
            targets: vec!["scripted".into()],
            rules: SessionRules::default(),
            policy: Arc::new(Policy::default()),
            templates: Arc::new(Templates::default()),
            words: Arc::new(SessionTexts::default()),
            seed: 7,
            trace_parent: None,
            fork: None,
            machine_version: MACHINE_VERSION,
        }
    }

    async fn report(&self) -> Report {
        let ended = self.fixture.driver().start(self.started()).await.expect("the run is driven");
        reported(ended)
    }

    /// What the session decided, from its events.
    pub(crate) async fn records(&self) -> Vec<SessionRecord> {
        let records = self.fixture.journal.events(&RunId::new("s"), 0).await.expect("the session exists");
        let events: Vec<Event> =
            records.iter().map(|record| serde_json::from_str(&record.body).expect("an event")).collect();
        let (_, decided) = Machine::replay(&events).expect("the events are valid").expect("there are events");
        decided.iter().flatten().filter_map(Record::as_own_session).cloned().collect()
    }
}

pub(crate) fn reported(ended: DriveOutcome) -> Report {
    match ended {
        DriveOutcome::Reported(report) => *report,
        other => panic!("the session has no report: {other:?}"),
    }
}

#[tokio::test]
async fn a_session_calls_tools_and_ends_with_its_report() {
    let scene = Scene::of(&[LOOK_UP, REPORT]).await;
    let report = scene.report().await;
    assert_eq!((report.content.as_str(), report.exit), ("It was sent.", SessionExit::FinalAnswer));
    assert_eq!(scene.shop.calls().len(), 1);
    let last = scene.model.requests().pop().expect("the model was asked");
    assert_eq!(last.messages.last().map(|message| message.role.as_str()), Some("tool"));
    assert!(last.text().contains(r#"{"state":"sent"}"#), "{}", last.text());
    assert_eq!(
        scene.fixture.journal.summary(&RunId::new("s")).await.expect("the session exists").status.as_deref(),
        Some("complete")
    );
}

#[tokio::test]
async fn the_segmented_driver_returns_the_same_report() {
    let (one, other) = (Scene::of(&[LOOK_UP, ORDER, REPORT]).await, Scene::of(&[LOOK_UP, ORDER, REPORT]).await);
    let regular = one.report().await;
    let ended = SegmentedDriver::new(other.fixture.driver()).start(other.started()).await.expect("the run is driven");
    let segmented = reported(ended);
    assert_eq!(
        (regular.content, regular.turn, regular.spent.tool_calls),
        (segmented.content, segmented.turn, segmented.spent.tool_calls)
    );
    assert_eq!(other.shop.calls().len(), 2, "no call was made twice");
}

#[tokio::test]
async fn every_provider_fault_costs_one_attempt_and_the_next_attempt_succeeds() {
    for (fault, status) in [
        (r#"{"status": 429, "retry_after": 2}"#, "rate_limit"),
        (r#"{"status": 500}"#, "network_error"),
        (r#"{"fault": "reset"}"#, "network_error"),
        (r#"{"text": "a long answer that is cut on its way", "fault": {"cut_after": 40}}"#, "network_error"),
        (r#"{"text": "It was sent."}"#, "text_only"),
        (r#"{"text": ""}"#, "empty_response"),
        (r#"{"text": "", "reasoning": "hm"}"#, "reasoning_only"),
        (r#"{"text": "It w", "finish_reason": "length"}"#, "truncated"),
        (r#"{"text": "", "finish_reason": "content_filter"}"#, "refused"),
        (r#"{"calls": [{"name": "fly", "arguments": "{}"}]}"#, "unknown_tool"),
        (r#"{"calls": [{"name": "shop__order", "arguments": "{{{"}]}"#, "malformed_tool_call"),
        (r#"{"calls": [{"name": "agent__final_report", "arguments": "{}"}]}"#, "final_report_rejected"),
    ] {
        let scene = Scene::of(&[fault, REPORT]).await;
        let report = scene.report().await;
        let records = scene.records().await;
        let attempts: Vec<&str> = records.iter().filter_map(status_of).collect();
        assert_eq!(attempts, [status, "final_report"], "{fault}");
        assert_eq!((report.source, report.turn), (ReportSource::ToolCall, 1), "{fault}");
        assert!(scene.shop.calls().is_empty(), "{fault}");
    }
}

fn status_of(record: &SessionRecord) -> Option<&'static str> {
    match record {
        SessionRecord::Attempt(attempt) => Some(attempt.status.as_str()),
        _ => None,
    }
}

#[tokio::test]
async fn a_rejected_api_key_ends_the_session_with_a_report_after_one_request() {
    for (status, exit) in [(401, SessionExit::AuthFailure), (402, SessionExit::QuotaExceeded)] {
        let scene = Scene::of(&[&format!(r#"{{"status": {status}}}"#)]).await;
        let report = scene.report().await;
        assert_eq!((report.exit, report.source), (exit, ReportSource::Synthetic));
        assert_eq!(scene.model.requests().len(), 1);
        let status = scene.fixture.journal.summary(&RunId::new("s")).await.expect("the session exists").status;
        assert_eq!(status.as_deref(), Some("failed"));
    }
}

#[tokio::test]
async fn a_session_waits_as_long_as_a_rate_limit_asks_for() {
    let scene = Scene::of(&[r#"{"status": 429, "retry_after": 7}"#, REPORT]).await;
    let before = scene.fixture.clock.now_ms();
    let report = scene.report().await;
    assert_eq!(scene.fixture.clock.now_ms() - before, 7_000);
    assert_eq!(report.totals.backoff_ms, 7_000);
}

#[tokio::test]
async fn a_stopped_session_still_writes_its_report() {
    let barrier = reknit_fakes::CallBarrier::new();
    let script = Script::new()
        .on(RequestMatcher::any().says("wants you to stop"), reply(REPORT))
        .once(RequestMatcher::any(), reply(LOOK_UP))
        .on(RequestMatcher::any(), reply(LOOK_UP).wait_at(&barrier));
    let scene = Scene::new(script).await;
    let stop = CancellationToken::new();
    let driver = scene.fixture.driver().with_stop_token(stop.clone());
    let started = scene.started();
    let task = tokio::spawn(async move { driver.start(started).await });
    tokio::time::timeout(Duration::from_mins(2), scene.model.wait_for_requests(2))
        .await
        .expect("the run gets there in time");
    stop.cancel();
    let ended = tokio::time::timeout(Duration::from_mins(2), task).await.expect("the run ends in time");
    let report = reported(ended.expect("the task does not panic").expect("the run is driven"));
    assert_eq!((report.exit, report.content.as_str()), (SessionExit::UserStop, "It was sent."));
}

#[tokio::test]
async fn a_resumed_session_continues_where_it_was_and_repeats_no_call() {
    let barrier = reknit_fakes::CallBarrier::new();
    let script = Script::new()
        .once(RequestMatcher::any(), reply(ORDER))
        .once(RequestMatcher::any(), reply(REPORT).wait_at(&barrier))
        .on(RequestMatcher::any(), reply(REPORT));
    let scene = Scene::new(script).await;
    let (driver, started) = (scene.fixture.driver(), scene.started());
    let task = tokio::spawn(async move { driver.start(started).await });
    tokio::time::timeout(Duration::from_mins(2), scene.model.wait_for_requests(2))
        .await
        .expect("the run gets there in time");
    task.abort();
    assert!(task.await.is_err(), "the task is aborted");
    scene.fixture.clock.advance(60_000);
    let ended = scene.fixture.driver().resume(&RunId::new("s")).await.expect("the session is resumed");
    let report = reported(ended);
    assert_eq!((report.content.as_str(), report.totals.attempts), ("It was sent.", 2));
    assert_eq!(scene.shop.calls().len(), 1, "the order was made once");
    let events = scene.fixture.journal.events(&RunId::new("s"), 0).await.expect("the session exists");
    assert!(events.iter().any(|event| event.kind == EventKind::Resumed.name()));
}

fn reply(text: &str) -> Reply {
    let calls = Value::parse(text).expect("JSON");
    let call = calls.get("calls").and_then(|calls| calls.as_array()).and_then(|calls| calls.first()).expect("a call");
    let part = |name: &str| call.get(name).and_then(Value::as_str).expect("a text").to_owned();
    Reply::text("").with_tool_call(part("name"), part("arguments"))
}
