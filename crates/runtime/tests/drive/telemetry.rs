//! What is passed on about runs, by both drivers and after a crash.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use reknit_demo::Demo;
use reknit_engine::Plans;
use reknit_engine::telemetry::{Kind, Signal, Span};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::telemetry::{Propagation, Sink, Telemetry, Told};
use reknit_runtime::{Driver, Ended, Segments};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Reply, ScriptedTool};

use crate::sessions::{REPORT, Scene};
use crate::world::{World, plan, step};

/// Keeps all that is told.
#[derive(Debug, Clone, Default)]
struct Ear(Arc<Mutex<Vec<Signal>>>);

impl Sink for Ear {
    fn take(&self, told: &Told<'_>) {
        self.0.lock().expect("nobody broke it").extend(told.signals.iter().cloned());
    }
}

impl Ear {
    fn listen(&self, driver: Driver) -> Driver {
        self.listen_within(None, Propagation::Sent, driver)
    }

    fn listen_within(&self, parent: Option<&str>, propagation: Propagation, driver: Driver) -> Driver {
        let telemetry = Telemetry::none().with(Arc::new(self.clone()));
        let parent = parent.map(|parent| parent.parse().expect("a parent"));
        driver.telling(telemetry.tracing(parent, propagation))
    }

    /// What was counted, by name and labels.
    fn counted(&self) -> BTreeMap<String, u64> {
        let mut counted = BTreeMap::new();
        for signal in self.0.lock().expect("nobody broke it").iter() {
            if let Signal::Metric(metric) = signal
                && metric.kind == Kind::Counter
            {
                *counted.entry(format!("{} {:?}", metric.name, metric.labels)).or_default() += metric.value;
            }
        }
        counted
    }

    fn spans(&self) -> Vec<Span> {
        let signals = self.0.lock().expect("nobody broke it");
        let spans = signals.iter().filter_map(|signal| if let Signal::Span(span) = signal { Some(span) } else { None });
        spans.map(|span| (**span).clone()).collect()
    }
}

#[tokio::test]
async fn both_drivers_tell_the_same_story() {
    let mut told = Vec::new();
    for segments in [false, true] {
        let demo = Demo::start().await.expect("the demo starts");
        let world = World::new(&demo.tools.endpoints(), Some(&demo.model_base_url())).await;
        let ear = Ear::default();
        let (driver, started) = (ear.listen(world.driver()), world.started("r", demo.request, None));
        let ended = if segments { Segments::new(driver).start(started).await } else { driver.start(started).await };
        assert!(matches!(ended, Ok(Ended::Finished(_))), "{ended:?}");
        let mut names: Vec<&str> = ear.spans().iter().map(|span| span.name).collect();
        names.sort_unstable();
        told.push((ear.counted(), names));
    }
    assert_eq!(told[0], told[1]);
    let (counted, _) = &told[0];
    assert!(counted.keys().any(|name| name.starts_with("orchestration.semantic_retry.applied")), "{counted:?}");
}

/// A tool with a capability that does not answer its first call.
async fn half_silent() -> RunningTool {
    let tool = ScriptedTool::new("t")
        .capability("quick", SideEffect::Read)
        .capability("slow", SideEffect::Read)
        .on("quick", When::any(), Reply::data("done"))
        .once("slow", When::any(), Reply::silence())
        .on("slow", When::any(), Reply::data("done"));
    tool.start().await.expect("the tool starts")
}

#[tokio::test]
async fn a_process_that_takes_a_run_over_tells_only_what_is_new_in_the_same_trace() {
    for segments in [false, true] {
        let tool = half_silent().await;
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        let steps = vec![step("a", "t", "quick", "{}"), step("b", "t", "slow", "{}").after("a")];
        let started = world.started("r", "x", Some(plan(steps)));
        let before = Ear::default();
        let driver = before.listen(world.driver());
        let first = tokio::spawn(async move {
            if segments { Segments::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.called(2).await;
        first.abort();
        assert!(first.await.is_err_and(|error| error.is_cancelled()));
        let early: Vec<&str> = before.spans().iter().map(|span| span.name).collect();
        assert_eq!(early, ["http.client.request", "orchestration.step_execution"]);

        // Its lease is over.
        world.clock.advance_to(1_000_000 + 31_000);
        let after = Ear::default();
        let driver = after.listen(world.driver());
        let run = RunId::new("r");
        let ended = if segments { Segments::new(driver).resume(&run).await } else { driver.resume(&run).await };
        assert!(matches!(ended, Ok(Ended::Finished(_))), "{ended:?}");
        let late = after.spans();
        let names: Vec<&str> = late.iter().map(|span| span.name).collect();
        assert_eq!(names, ["http.client.request", "orchestration.step_execution", "orchestration.process_request"]);
        let root = &late[2];
        assert_eq!((root.start_ms, root.parent), (1_000_000, None), "it is told from its real beginning");
        assert_eq!(before.spans()[1].parent, Some(root.id), "what was told before is a part of it");
        assert_eq!(late[0].start_ms, 1_031_000, "the call began anew");
        let calls = |ear: &Ear| ear.counted().iter().filter(|(name, _)| name.starts_with("tool.call.total")).count();
        assert_eq!((calls(&before), calls(&after)), (1, 1));
        let called = tool.calls().last().and_then(|call| call.traceparent.clone()).expect("the tool is told");
        assert_eq!(called, format!("00-{}-{}-01", root.trace, late[0].id));
    }
}

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SOMEBODY_ELSE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn a_run_stays_in_the_trace_that_it_began_in_whoever_takes_it_over() {
    for (segments, first_parent) in [(false, Some(CALLER)), (true, Some(CALLER)), (false, None)] {
        let tool = half_silent().await;
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        let steps = vec![step("a", "t", "quick", "{}"), step("b", "t", "slow", "{}").after("a")];
        let started = world.started("r", "x", Some(plan(steps)));
        let before = Ear::default();
        let driver = before.listen_within(first_parent, Propagation::Sent, world.driver());
        let first = tokio::spawn(async move {
            if segments { Segments::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.called(2).await;
        first.abort();
        assert!(first.await.is_err_and(|error| error.is_cancelled()));
        world.clock.advance_to(1_000_000 + 31_000);
        let after = Ear::default();
        let driver = after.listen_within(Some(SOMEBODY_ELSE), Propagation::Sent, world.driver());
        let run = RunId::new("r");
        let ended = if segments { Segments::new(driver).resume(&run).await } else { driver.resume(&run).await };
        assert!(matches!(ended, Ok(Ended::Finished(_))), "{ended:?}");
        let root = after.spans().pop().expect("the run is told last");
        assert_eq!(root.parent.map(|parent| parent.to_string()).as_deref(), first_parent.map(|parent| &parent[36..52]));
        assert!(before.spans().iter().chain(&after.spans()).all(|span| span.trace == root.trace));
        let sent: Vec<String> = tool.calls().into_iter().filter_map(|call| call.traceparent).collect();
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|sent| sent[3..35] == root.trace.to_string()), "{sent:?}");
    }
}

#[tokio::test]
async fn where_nobody_records_spans_the_callers_own_is_passed_on_unchanged() {
    for caller in [Some(CALLER), None] {
        let tool = half_silent().await;
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        let started = world.started("r", "x", Some(plan(vec![step("a", "t", "quick", "{}")])));
        let driver = Ear::default().listen_within(caller, Propagation::PassedOn, world.driver());
        let ended = driver.start(started).await;
        assert!(matches!(ended, Ok(Ended::Finished(_))), "{ended:?}");
        assert_eq!(tool.calls()[0].traceparent.as_deref(), caller);
    }
}

#[tokio::test]
async fn the_steps_of_a_plan_in_a_turn_are_spans_in_it_and_their_calls_know_them() {
    const PLAN: &str = r#"{"calls": [{"name": "agent__run_plan", "arguments":
        "{\"steps\": [{\"id\": \"a\", \"tool\": \"look_up\"}, {\"id\": \"b\", \"tool\": \"order\", \"after\": [\"a\"]}]}"}]}"#;
    for segments in [false, true] {
        let scene = Scene::of(&[PLAN, REPORT]).await;
        let ear = Ear::default();
        let (driver, mut started) = (ear.listen(scene.world.driver()), scene.started());
        started.rules.plans = Plans::Allowed;
        let ended = if segments { Segments::new(driver).start(started).await } else { driver.start(started).await };
        assert!(matches!(ended, Ok(Ended::Reported(_))), "{ended:?}");
        let spans = ear.spans();
        let above = |span: &Span| spans.iter().find(|other| Some(other.id) == span.parent);
        let way = |span: &Span| {
            let mut names = vec![span.name];
            let mut next = above(span);
            while let Some(span) = next {
                names.push(span.name);
                next = above(span);
            }
            names.join(" in ")
        };
        let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "http.client.request").collect();
        for (call, made) in calls.iter().zip(scene.shop.calls()) {
            assert_eq!(
                way(call),
                "http.client.request in orchestration.step_execution in orchestration.process_request in agent.turn \
                 in agent.session"
            );
            assert_eq!(made.traceparent, Some(format!("00-{}-{}-01", call.trace, call.id)));
        }
        assert_eq!((calls.len(), scene.shop.calls().len()), (2, 2));
        let counted = ear.counted();
        let of = |name: &str| counted.iter().filter(|(known, _)| known.starts_with(name)).map(|(_, count)| count).sum();
        let totals: [u64; 3] = ["tool.call.total", "orchestration.steps.total", "orchestration.requests.total"].map(of);
        assert_eq!(totals, [2, 2, 1]);
    }
}
