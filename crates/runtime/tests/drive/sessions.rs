//! Sessions over the wire: a scripted model with real status codes and faults, on a clock that stands still.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{Event, Exit, Machine, Policy, Report, ReportSource, Session, SessionRules, SessionStarted, Words};
use reknit_engine::{MACHINE_VERSION, Templates, What};
use reknit_protocol::{Effect, RunId, Value};
use reknit_runtime::{Ended, Segments};
use reknit_testing::model::{Script, When};
use reknit_testing::tool::{RunningTool, ScriptedTool};
use reknit_testing::{Reply, ScriptedModel};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// A shop, a scripted model, and a driver that knows both.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) shop: RunningTool,
    model: ScriptedModel,
}

fn any() -> reknit_testing::tool::When {
    reknit_testing::tool::When::any()
}

/// A script from data: what the model answers, one after the other.
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
            .capability("look_up", Effect::Read)
            .capability("order", Effect::Keyed)
            .capability("stock", Effect::Read)
            .on("stock", any(), Reply::data(stock()))
            .on("look_up", any(), Reply::data(Value::parse(r#"{"state": "sent"}"#).expect("JSON")))
            .on("order", any(), Reply::data(Value::parse(r#"{"order": 9}"#).expect("JSON")));
        let shop = shop.start().await.expect("the shop opens");
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let tools = [("shop".to_owned(), shop.base_url())];
        let world = World::new(&tools, Some(&model.base_url())).await;
        Self { world, shop, model }
    }

    /// For who brings models along.
    pub(crate) async fn without_a_model() -> Self {
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
            agents: Vec::new(),
            catalogue: Arc::new(self.world.found.catalogue.clone()),
            targets: vec!["scripted".into()],
            rules: SessionRules::default(),
            policy: Arc::new(Policy::default()),
            templates: Arc::new(Templates::default()),
            words: Arc::new(Words::default()),
            seed: 7,
            trace_parent: None,
            machine_version: MACHINE_VERSION,
        }
    }

    async fn report(&self) -> Report {
        let ended = self.world.driver().start(self.started()).await.expect("it is driven");
        reported(ended)
    }

    /// The session as its events tell it.
    pub(crate) async fn read_back(&self) -> Session {
        let records = self.world.journal.events(&RunId::new("s"), 0).await.expect("the session is there");
        let events: Vec<Event> =
            records.iter().map(|record| serde_json::from_str(&record.body).expect("an event")).collect();
        let mut machine = Machine::begin(&events[0]).expect("it begins");
        for event in &events[1..] {
            machine.apply(event).expect("the event is taken in");
        }
        machine.as_session().expect("it is one").clone()
    }
}

pub(crate) fn reported(ended: Ended) -> Report {
    match ended {
        Ended::Reported(report) => *report,
        other => panic!("it has no report: {other:?}"),
    }
}

#[tokio::test]
async fn a_session_calls_tools_over_the_wire_and_ends_with_its_report() {
    let scene = Scene::of(&[LOOK_UP, REPORT]).await;
    let report = scene.report().await;
    assert_eq!((report.content.as_str(), report.exit), ("It was sent.", Exit::FinalAnswer));
    assert_eq!(scene.shop.calls().len(), 1);
    let last = scene.model.requests().pop().expect("it was asked");
    assert_eq!(last.messages.last().map(|message| message.role.as_str()), Some("tool"));
    assert!(last.text().contains(r#"{"state":"sent"}"#), "{}", last.text());
    assert_eq!(
        scene.world.journal.summary(&RunId::new("s")).await.expect("it is there").status.as_deref(),
        Some("complete")
    );
}

#[tokio::test]
async fn a_driver_that_keeps_nothing_comes_to_the_same_report() {
    let (one, other) = (Scene::of(&[LOOK_UP, ORDER, REPORT]).await, Scene::of(&[LOOK_UP, ORDER, REPORT]).await);
    let steady = one.report().await;
    let segments = Segments::new(other.world.driver()).start(other.started()).await.expect("it is driven");
    let segmented = reported(segments);
    assert_eq!(
        (steady.content, steady.turn, steady.spent.tool_calls),
        (segmented.content, segmented.turn, segmented.spent.tool_calls)
    );
    assert_eq!(other.shop.calls().len(), 2, "no call was made twice");
}

#[tokio::test]
async fn every_fault_of_a_provider_is_an_attempt_and_the_next_one_answers() {
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
        let session = scene.read_back().await;
        let attempts: Vec<&str> = session.records().iter().filter_map(status_of).collect();
        assert_eq!(attempts, [status, "final_report"], "{fault}");
        assert_eq!((report.source, report.turn), (ReportSource::ToolCall, 1), "{fault}");
        assert!(scene.shop.calls().is_empty(), "{fault}");
    }
}

fn status_of(record: &reknit_engine::Record) -> Option<&'static str> {
    match record {
        reknit_engine::Record::Attempt(attempt) => Some(attempt.status.as_str()),
        _ => None,
    }
}

#[tokio::test]
async fn a_refused_key_ends_the_session_with_a_report_after_one_request() {
    for (status, exit) in [(401, Exit::AuthFailure), (402, Exit::QuotaExceeded)] {
        let scene = Scene::of(&[&format!(r#"{{"status": {status}}}"#)]).await;
        let report = scene.report().await;
        assert_eq!((report.exit, report.source), (exit, ReportSource::Synthetic));
        assert_eq!(scene.model.requests().len(), 1);
        let status = scene.world.journal.summary(&RunId::new("s")).await.expect("it is there").status;
        assert_eq!(status.as_deref(), Some("failed"));
    }
}

#[tokio::test]
async fn a_limit_is_waited_for_on_the_clock_and_no_longer_than_asked() {
    let scene = Scene::of(&[r#"{"status": 429, "retry_after": 7}"#, REPORT]).await;
    let before = scene.world.clock.now_ms();
    let report = scene.report().await;
    assert_eq!(scene.world.clock.now_ms() - before, 7_000);
    assert_eq!(report.totals.backoff_ms, 7_000);
}

#[tokio::test]
async fn somebody_who_stops_a_session_gets_a_report_of_what_was_done() {
    let gate = reknit_testing::Gate::new();
    let script = Script::new()
        .on(When::any().says("wants you to stop"), reply(REPORT))
        .once(When::any(), reply(LOOK_UP))
        .on(When::any(), reply(LOOK_UP).gate(&gate));
    let scene = Scene::new(script).await;
    let stop = CancellationToken::new();
    let driver = scene.world.driver().stopped_by(stop.clone());
    let started = scene.started();
    let task = tokio::spawn(async move { driver.start(started).await });
    tokio::time::timeout(Duration::from_secs(20), scene.model.asked(2)).await.expect("it comes so far");
    stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(20), task).await.expect("it ends");
    let report = reported(ended.expect("no panic").expect("it is driven"));
    assert_eq!((report.exit, report.content.as_str()), (Exit::UserStop, "It was sent."));
}

#[tokio::test]
async fn a_session_that_was_left_goes_on_where_it_was_and_calls_nothing_twice() {
    let gate = reknit_testing::Gate::new();
    let script = Script::new()
        .once(When::any(), reply(ORDER))
        .once(When::any(), reply(REPORT).gate(&gate))
        .on(When::any(), reply(REPORT));
    let scene = Scene::new(script).await;
    let (driver, started) = (scene.world.driver(), scene.started());
    let task = tokio::spawn(async move { driver.start(started).await });
    tokio::time::timeout(Duration::from_secs(20), scene.model.asked(2)).await.expect("it comes so far");
    task.abort();
    assert!(task.await.is_err(), "its process is gone");
    scene.world.clock.advance(60_000);
    let ended = scene.world.driver().resume(&RunId::new("s")).await.expect("it is driven on");
    let report = reported(ended);
    assert_eq!((report.content.as_str(), report.totals.attempts), ("It was sent.", 2));
    assert_eq!(scene.shop.calls().len(), 1, "the order was made once");
    let events = scene.world.journal.events(&RunId::new("s"), 0).await.expect("it is there");
    assert!(events.iter().any(|event| event.kind == What::Resumed.name()));
}

fn reply(text: &str) -> Reply {
    let calls = Value::parse(text).expect("JSON");
    let call = calls.get("calls").and_then(|calls| calls.as_array()).and_then(|calls| calls.first()).expect("a call");
    let part = |name: &str| call.get(name).and_then(Value::as_str).expect("a text").to_owned();
    Reply::text("").call(part("name"), part("arguments"))
}
