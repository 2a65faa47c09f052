//! The telemetry of runs, from both drivers and after a crash.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_demo::Demo;
use reknit_engine::Plans;
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::telemetry::{Propagation, SignalBatch, Sink, Telemetry};
use reknit_runtime::{DriveOutcome, Driver};
use reknit_telemetry::{Signal, SignalKind, Span};

use crate::drive::fixture::{Fixture, plan, step};
use crate::drive::sessions::{REPORT, Scene};

/// A sink that keeps all signals.
#[derive(Debug, Clone, Default)]
struct RecordingSink(Arc<Mutex<Vec<Signal>>>);

impl Sink for RecordingSink {
    fn take(&self, batch: &SignalBatch<'_>) {
        self.0.lock().expect("the lock is not poisoned").extend(batch.signals.iter().cloned());
    }
}

impl RecordingSink {
    fn attach(&self, driver: Driver) -> Driver {
        self.attach_with_parent(None, Propagation::Sent, driver)
    }

    fn attach_with_parent(&self, parent: Option<&str>, propagation: Propagation, driver: Driver) -> Driver {
        let telemetry = Telemetry::none().with(Arc::new(self.clone()));
        let parent = parent.map(|parent| parent.parse().expect("a parent"));
        driver.with_telemetry(telemetry.tracing(parent, propagation))
    }

    /// The sums of the counters, by name and labels.
    fn counters(&self) -> BTreeMap<String, u64> {
        let mut counters = BTreeMap::new();
        for signal in self.0.lock().expect("the lock is not poisoned").iter() {
            if let Signal::Metric(metric) = signal
                && metric.kind == SignalKind::Counter
            {
                *counters.entry(format!("{} {:?}", metric.name, metric.labels)).or_default() += metric.value;
            }
        }
        counters
    }

    fn spans(&self) -> Vec<Span> {
        let signals = self.0.lock().expect("the lock is not poisoned");
        let spans = signals.iter().filter_map(|signal| if let Signal::Span(span) = signal { Some(span) } else { None });
        spans.map(|span| (**span).clone()).collect()
    }
}

#[tokio::test]
async fn both_drivers_send_the_same_telemetry() {
    let mut sent = Vec::new();
    for segmented in [false, true] {
        let demo = Demo::start().await.expect("the demo starts");
        let fixture = Fixture::new(&demo.tools.endpoints(), Some(&demo.model_base_url())).await;
        let sink = RecordingSink::default();
        let (driver, started) = (sink.attach(fixture.driver()), fixture.started("r", demo.request, None));
        let ended =
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await };
        assert!(matches!(ended, Ok(DriveOutcome::Finished(_))), "{ended:?}");
        let mut names: Vec<&str> = sink.spans().iter().map(|span| span.name).collect();
        names.sort_unstable();
        sent.push((sink.counters(), names));
    }
    assert_eq!(sent[0], sent[1]);
    let (counters, _) = &sent[0];
    assert!(counters.keys().any(|name| name.starts_with("orchestration.semantic_retry.applied")), "{counters:?}");
}

/// A tool with a capability that does not answer its first call.
async fn tool_with_a_silent_call() -> RunningTool {
    let tool = ScriptedTool::new("t")
        .capability("quick", SideEffect::Read)
        .capability("slow", SideEffect::Read)
        .on("quick", CallMatcher::any(), Reply::data("done"))
        .once("slow", CallMatcher::any(), Reply::silence())
        .on("slow", CallMatcher::any(), Reply::data("done"));
    tool.start().await.expect("the tool starts")
}

#[tokio::test]
async fn a_resumed_run_sends_only_new_signals_in_the_same_trace() {
    for segmented in [false, true] {
        let tool = tool_with_a_silent_call().await;
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        let steps = vec![step("a", "t", "quick", "{}"), step("b", "t", "slow", "{}").after("a")];
        let started = fixture.started("r", "x", Some(plan(steps)));
        let before = RecordingSink::default();
        let driver = before.attach(fixture.driver());
        let first = tokio::spawn(async move {
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.wait_for_calls(2).await;
        first.abort();
        assert!(first.await.is_err_and(|error| error.is_cancelled()));
        let early: Vec<&str> = before.spans().iter().map(|span| span.name).collect();
        assert_eq!(early, ["http.client.request", "orchestration.step_execution"]);

        // The lease expires.
        fixture.clock.advance_to(1_000_000 + 31_000);
        let after = RecordingSink::default();
        let driver = after.attach(fixture.driver());
        let run = RunId::new("r");
        let ended = if segmented { SegmentedDriver::new(driver).resume(&run).await } else { driver.resume(&run).await };
        assert!(matches!(ended, Ok(DriveOutcome::Finished(_))), "{ended:?}");
        let late = after.spans();
        let names: Vec<&str> = late.iter().map(|span| span.name).collect();
        assert_eq!(names, ["http.client.request", "orchestration.step_execution", "orchestration.process_request"]);
        let root = &late[2];
        assert_eq!((root.start_ms, root.parent), (1_000_000, None), "the span starts with the run");
        assert_eq!(before.spans()[1].parent, Some(root.id), "the earlier spans are its children");
        assert_eq!(late[0].start_ms, 1_031_000, "the call is made again");
        let calls = |sink: &RecordingSink| {
            sink.counters().iter().filter(|(name, _)| name.starts_with("tool.call.total")).count()
        };
        assert_eq!((calls(&before), calls(&after)), (1, 1));
        let called = tool.calls().last().and_then(|call| call.traceparent.clone()).expect("the call has a traceparent");
        assert_eq!(called, format!("00-{}-{}-01", root.trace, late[0].id));
    }
}

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER_CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn a_resumed_run_stays_in_the_trace_that_it_started_in() {
    for (segmented, first_parent) in [(false, Some(CALLER)), (true, Some(CALLER)), (false, None)] {
        let tool = tool_with_a_silent_call().await;
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        let steps = vec![step("a", "t", "quick", "{}"), step("b", "t", "slow", "{}").after("a")];
        let started = fixture.started("r", "x", Some(plan(steps)));
        let before = RecordingSink::default();
        let driver = before.attach_with_parent(first_parent, Propagation::Sent, fixture.driver());
        let first = tokio::spawn(async move {
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.wait_for_calls(2).await;
        first.abort();
        assert!(first.await.is_err_and(|error| error.is_cancelled()));
        fixture.clock.advance_to(1_000_000 + 31_000);
        let after = RecordingSink::default();
        let driver = after.attach_with_parent(Some(OTHER_CALLER), Propagation::Sent, fixture.driver());
        let run = RunId::new("r");
        let ended = if segmented { SegmentedDriver::new(driver).resume(&run).await } else { driver.resume(&run).await };
        assert!(matches!(ended, Ok(DriveOutcome::Finished(_))), "{ended:?}");
        let root = after.spans().pop().expect("the span of the run is the last one");
        assert_eq!(root.parent.map(|parent| parent.to_string()).as_deref(), first_parent.map(|parent| &parent[36..52]));
        assert!(before.spans().iter().chain(&after.spans()).all(|span| span.trace == root.trace));
        let sent: Vec<String> = tool.calls().into_iter().filter_map(|call| call.traceparent).collect();
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|sent| sent[3..35] == root.trace.to_string()), "{sent:?}");
    }
}

#[tokio::test]
async fn tools_get_the_traceparent_of_the_caller_if_spans_are_not_recorded() {
    for caller in [Some(CALLER), None] {
        let tool = tool_with_a_silent_call().await;
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "quick", "{}")])));
        let driver = RecordingSink::default().attach_with_parent(caller, Propagation::PassedOn, fixture.driver());
        let ended = driver.start(started).await;
        assert!(matches!(ended, Ok(DriveOutcome::Finished(_))), "{ended:?}");
        assert_eq!(tool.calls()[0].traceparent.as_deref(), caller);
    }
}

#[tokio::test]
async fn the_steps_of_a_plan_in_a_turn_are_spans_below_the_turn_and_the_parents_of_their_calls() {
    const PLAN: &str = r#"{"calls": [{"name": "agent__run_plan", "arguments":
        "{\"steps\": [{\"id\": \"a\", \"tool\": \"look_up\"}, {\"id\": \"b\", \"tool\": \"order\", \"after\": [\"a\"]}]}"}]}"#;
    for segmented in [false, true] {
        let scene = Scene::of(&[PLAN, REPORT]).await;
        let sink = RecordingSink::default();
        let (driver, mut started) = (sink.attach(scene.fixture.driver()), scene.started());
        started.rules.plans = Plans::Allowed;
        let ended =
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await };
        assert!(matches!(ended, Ok(DriveOutcome::Reported(_))), "{ended:?}");
        let spans = sink.spans();
        let parent = |span: &Span| spans.iter().find(|other| Some(other.id) == span.parent);
        let path = |span: &Span| {
            let mut names = vec![span.name];
            let mut next = parent(span);
            while let Some(span) = next {
                names.push(span.name);
                next = parent(span);
            }
            names.join(" in ")
        };
        let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "http.client.request").collect();
        for (call, made) in calls.iter().zip(scene.shop.calls()) {
            assert_eq!(
                path(call),
                "http.client.request in orchestration.step_execution in orchestration.process_request in agent.turn \
                 in agent.session"
            );
            assert_eq!(made.traceparent, Some(format!("00-{}-{}-01", call.trace, call.id)));
        }
        assert_eq!((calls.len(), scene.shop.calls().len()), (2, 2));
        let counters = sink.counters();
        let total = |name: &str| counters.iter().filter(|(key, _)| key.starts_with(name)).map(|(_, count)| count).sum();
        let totals: [u64; 3] =
            ["tool.call.total", "orchestration.steps.total", "orchestration.requests.total"].map(total);
        assert_eq!(totals, [2, 2, 1]);
    }
}
