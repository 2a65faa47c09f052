//! All runs share the circuit breakers of tools and models.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{Answer as RunAnswer, AskModel, Outcome, Policy, Started, Status, Synthesis};
use reknit_fakes::ScriptedTool;
use reknit_fakes::tool::RunningTool;
use reknit_model_api::{BreakerRules, ErrorClass, ModelAnswer, ModelFailure, RotationRules, Usage};
use reknit_protocol::SideEffect;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{
    BoxFuture, BreakerPolicy, Breakers, CallLimits, DriveOutcome, Driver, Runtime, ToolLimits, Transport,
};
use tokio::sync::Semaphore;

use crate::drive::fixture::{Fixture, ManualClock, plan, step};

/// A transport whose tool and whose first model can be down, and whose tool can be slow.
#[derive(Debug)]
struct FaultyTransport {
    /// Whether the tool is down.
    is_down: AtomicBool,
    /// Whether the first model is down.
    is_model_down: AtomicBool,
    is_slow: AtomicBool,
    /// A slow call takes a permit before it returns.
    slow_calls: Semaphore,
    log: Mutex<Vec<String>>,
}

impl FaultyTransport {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            is_down: AtomicBool::new(true),
            is_model_down: AtomicBool::new(true),
            is_slow: AtomicBool::new(false),
            slow_calls: Semaphore::new(0),
            log: Mutex::default(),
        })
    }

    fn note(&self, name: &str) {
        self.log.lock().expect("the lock is not poisoned").push(name.to_owned());
    }

    /// The tool and the models that were called since the last time.
    fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().expect("the lock is not poisoned"))
    }

    fn is_down(&self) -> bool {
        self.is_down.load(Ordering::SeqCst)
    }
}

impl Transport for FaultyTransport {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        self.note(ask.target.as_str());
        let fails = self.is_model_down.load(Ordering::SeqCst) && ask.target.as_str() == "first";
        Box::pin(async move {
            if fails {
                return Err(ModelFailure::new(ErrorClass::NetworkError, "down").with_status(503));
            }
            Ok(ModelAnswer::complete("fine", "m", Usage::reported(1, 1)))
        })
    }

    fn call<'a>(&'a self, _: &'a CallTool, _: Option<&'a str>) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        self.note("tool");
        Box::pin(async move {
            if self.is_slow.load(Ordering::SeqCst) {
                self.slow_calls.acquire().await.expect("the semaphore is not closed").forget();
            }
            let status = if self.is_down() { 500 } else { 200 };
            Ok(ToolReply { status, retry_after_ms: None, body: ReplyBody::Empty, job: None })
        })
    }
}

struct Scene {
    fixture: Fixture,
    transport: Arc<FaultyTransport>,
    driver: Driver,
    _tool: RunningTool,
}

impl Scene {
    async fn new() -> Self {
        let tool = ScriptedTool::new("t").capability("read", SideEffect::Read).start().await.expect("the tool starts");
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        let transport = FaultyTransport::new();
        let clock = Arc::new(ManualClock(fixture.clock.clone()));
        let policy = BreakerPolicy { models: BreakerRules::for_model_with_fallback(), ..BreakerPolicy::default() };
        let breakers = Arc::new(Breakers::new(CallLimits::default(), policy, Arc::clone(&clock) as _));
        let driver = Driver::with_breakers(fixture.journal.clone(), Arc::clone(&transport) as _, clock, breakers);
        Self { fixture, transport, driver, _tool: tool }
    }

    fn started(&self, run: &str) -> Started {
        let mut started = self.fixture.started(run, "x", Some(plan(vec![step("a", "t", "read", "{}")])));
        let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
        policy.resend.times = 0;
        policy.rotation = RotationRules::prefer_primary();
        started.policy = Arc::new(policy);
        started.targets = vec!["first".into(), "second".into()];
        started
    }

    async fn run(&self, started: Started) -> RunAnswer {
        finished(self.driver.start(started).await)
    }

    /// Opens the breaker of the tool with ten runs whose only call fails.
    async fn open_breaker(&self) {
        for number in 0..10 {
            self.run(self.started(&format!("broken-{number}"))).await;
        }
        assert_eq!(self.transport.take_calls().len(), 10);
    }

    /// Waits until each run has met the open breaker.
    async fn wait_for_rejections(&self, runs: &[&str]) {
        for run in runs {
            self.wait_for_event(run, "breaker_open").await;
        }
    }

    async fn wait_for_event(&self, run: &str, event: &str) {
        let reached = async {
            loop {
                let records = self.fixture.journal.events(&(*run).into(), 0).await;
                if records.is_ok_and(|records| records.iter().any(|record| record.kind == event)) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(2), reached).await.expect("the run gets there in time");
    }
}

fn finished(ended: Result<DriveOutcome, reknit_runtime::DriveError>) -> RunAnswer {
    match ended.expect("the run is driven") {
        DriveOutcome::Finished(answer) => *answer,
        DriveOutcome::Reported(_) | DriveOutcome::Waiting => panic!("the run has no answer"),
    }
}

#[tokio::test]
async fn ten_failed_calls_open_the_breaker_for_every_run_until_a_probe_succeeds() {
    for segmented in [false, true] {
        let scene = Scene::new().await;
        scene.open_breaker().await;
        let (driver, started) = (scene.driver.clone(), scene.started("late"));
        let run = tokio::spawn(async move {
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await }
        });
        scene.wait_for_rejections(&["late"]).await;
        assert_eq!(scene.transport.take_calls(), [""; 0], "the tool was not called");
        scene.transport.is_down.store(false, Ordering::SeqCst);
        scene.fixture.clock.advance(30_000);
        let answer = finished(run.await.expect("the task does not panic"));
        assert_eq!((answer.status, answer.spent.tool_calls, answer.steps[0].calls), (Status::Complete, 1, 1));
        assert_eq!(scene.transport.take_calls(), ["tool"]);
    }
}

#[tokio::test]
async fn while_one_run_probes_the_tool_the_others_wait_for_the_result() {
    let scene = Scene::new().await;
    scene.open_breaker().await;
    scene.transport.is_slow.store(true, Ordering::SeqCst);
    let names = ["x", "y", "z"];
    let runs: Vec<_> = names
        .map(|name| {
            let (driver, started) = (scene.driver.clone(), scene.started(name));
            tokio::spawn(async move { driver.start(started).await })
        })
        .into();
    scene.wait_for_rejections(&names).await;
    scene.fixture.clock.advance(30_000);
    for name in names {
        scene.wait_for_event(name, "woke").await;
    }
    while scene.transport.take_calls().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.transport.take_calls(), [""; 0], "only one run probes");
    scene.transport.is_down.store(false, Ordering::SeqCst);
    scene.transport.slow_calls.add_permits(3);
    for run in runs {
        assert_eq!(finished(run.await.expect("the task does not panic")).status, Status::Complete);
    }
    assert_eq!(scene.transport.take_calls().len(), 2, "the other runs call the tool now");
}

#[tokio::test]
async fn a_dropped_probe_lets_the_next_run_probe() {
    let scene = Scene::new().await;
    scene.open_breaker().await;
    scene.transport.is_slow.store(true, Ordering::SeqCst);
    scene.fixture.clock.advance(30_000);
    let (driver, started) = (scene.driver.clone(), scene.started("dropped"));
    let run = tokio::spawn(async move { driver.start(started).await });
    while scene.transport.take_calls().is_empty() {
        tokio::task::yield_now().await;
    }
    run.abort();
    assert!(run.await.is_err_and(|error| error.is_cancelled()));
    scene.transport.is_slow.store(false, Ordering::SeqCst);
    scene.transport.is_down.store(false, Ordering::SeqCst);
    assert_eq!(scene.run(scene.started("next")).await.status, Status::Complete);
}

/// A plan with four calls that do not wait for each other, with limits of its tool.
async fn limited(limits: ToolLimits) -> (Scene, tokio::task::JoinHandle<RunAnswer>) {
    let mut scene = Scene::new().await;
    scene.transport.is_down.store(false, Ordering::SeqCst);
    scene.transport.is_slow.store(limits.rate.is_none(), Ordering::SeqCst);
    let clock = Arc::new(ManualClock(scene.fixture.clock.clone()));
    let breakers = Breakers::new(CallLimits::default(), BreakerPolicy::default(), Arc::clone(&clock) as _)
        .with_tool_limits(BTreeMap::from([("t".to_owned(), limits)]));
    let (journal, transport) = (scene.fixture.journal.clone(), Arc::clone(&scene.transport) as _);
    scene.driver = Driver::with_breakers(journal, transport, clock, Arc::new(breakers));
    let mut started = scene.started("limited");
    started.plan = Some(plan(["a", "b", "c", "d"].map(|id| step(id, "t", "read", "{}")).into()));
    let driver = scene.driver.clone();
    let run = tokio::spawn(async move { finished(driver.start(started).await) });
    (scene, run)
}

/// How many calls are made until nothing happens any more.
async fn calls_so_far(scene: &Scene, at_least: usize) -> usize {
    let mut count = 0;
    while count < at_least {
        count += scene.transport.take_calls().len();
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    count + scene.transport.take_calls().len()
}

#[tokio::test]
async fn a_tool_with_its_own_limit_gets_no_more_calls_at_once() {
    let (scene, run) = limited(ToolLimits { concurrent: Some(2), rate: None }).await;
    assert_eq!(calls_so_far(&scene, 2).await, 2);
    scene.transport.slow_calls.add_permits(1);
    assert_eq!(calls_so_far(&scene, 1).await, 1);
    scene.transport.slow_calls.add_permits(3);
    assert_eq!(run.await.expect("the task does not panic").status, Status::Complete);
}

#[tokio::test]
async fn the_limits_of_the_configuration_are_those_of_the_driver() {
    let mut scene = Scene::new().await;
    scene.transport.is_down.store(false, Ordering::SeqCst);
    scene.transport.is_slow.store(true, Ordering::SeqCst);
    let config = Runtime::builder().tool_limits("t", ToolLimits { concurrent: Some(2), rate: None }).build();
    let catalogue = scene.fixture.found.catalogue.clone();
    let reknit = Runtime::with_transport(Arc::clone(&scene.transport) as _, catalogue, config.expect("it is valid"));
    scene.driver = reknit.expect("it starts").driver();
    let mut started = scene.started("limited");
    started.plan = Some(plan(["a", "b", "c"].map(|id| step(id, "t", "read", "{}")).into()));
    let driver = scene.driver.clone();
    let run = tokio::spawn(async move { finished(driver.start(started).await) });
    assert_eq!(calls_so_far(&scene, 2).await, 2);
    scene.transport.slow_calls.add_permits(3);
    assert_eq!(run.await.expect("the task does not panic").status, Status::Complete);
}

#[tokio::test]
async fn a_tool_with_a_rate_gets_no_more_calls_in_a_time_and_the_others_wait() {
    let (scene, run) = limited(ToolLimits { concurrent: None, rate: "3/s".parse().ok() }).await;
    assert_eq!(calls_so_far(&scene, 3).await, 3);
    scene.fixture.clock.advance(999);
    assert_eq!(calls_so_far(&scene, 0).await, 0);
    scene.fixture.clock.advance(1);
    let answer = run.await.expect("the task does not panic");
    assert_eq!((answer.status, answer.spent.tool_calls), (Status::Complete, 4));
}

#[tokio::test]
async fn a_step_fails_without_a_call_if_the_breaker_stays_open_longer_than_the_run_may_wait() {
    let scene = Scene::new().await;
    scene.open_breaker().await;
    let mut started = scene.started("hurried");
    let mut policy = started.policy.as_ref().clone();
    policy.resend.max_retry_after_ms = 29_999;
    started.policy = Arc::new(policy);
    let answer = scene.run(started).await;
    let Outcome::Failed { reason, .. } = &answer.steps[0].outcome else { panic!("{answer:?}") };
    assert!(reason.starts_with("not sent: the circuit breaker of `t` is open; it stays open for 30 s;"), "{reason}");
    assert_eq!(scene.transport.take_calls(), [""; 0]);
}

#[tokio::test]
async fn later_runs_skip_a_failing_model_and_ask_it_first_again_once_it_recovers() {
    let scene = Scene::new().await;
    scene.transport.is_down.store(false, Ordering::SeqCst);
    let started = |run: &str| {
        let mut started = scene.started(run);
        let policy = Policy { synthesis: Synthesis::Model, ..started.policy.as_ref().clone() };
        started.policy = Arc::new(policy);
        started
    };
    let models = |calls: Vec<String>| calls.into_iter().filter(|name| name != "tool").collect::<Vec<_>>();
    let answer = scene.run(started("one")).await;
    assert_eq!((answer.text.as_str(), answer.spent.model_calls), ("fine", 3));
    assert_eq!(
        models(scene.transport.take_calls()),
        ["first", "first", "second"],
        "the failing model gets a second attempt"
    );
    let answer = scene.run(started("two")).await;
    assert_eq!((answer.text.as_str(), answer.spent.model_calls), ("fine", 1));
    assert_eq!(models(scene.transport.take_calls()), ["second"]);
    scene.fixture.clock.advance(5_000);
    scene.run(started("three")).await;
    assert_eq!(models(scene.transport.take_calls()), ["first", "second"], "one probe once the breaker may close");
    scene.transport.is_model_down.store(false, Ordering::SeqCst);
    scene.fixture.clock.advance(10_000);
    scene.run(started("four")).await;
    assert_eq!(models(scene.transport.take_calls()), ["first"]);
}
