//! Services and models that fail are given a rest by all runs together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_dialogue::{Answer, ErrorClass, Failure, GateRules, Rules, Usage};
use reknit_engine::{Answer as RunAnswer, AskModel, Outcome, Policy, Started, Status, Synthesis};
use reknit_protocol::Effect;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, Driver, Edge, Ended, Gates, Rests, Segments};
use reknit_testing::ScriptedTool;
use reknit_testing::tool::RunningTool;
use tokio::sync::Semaphore;

use crate::world::{Still, World, plan, step};

/// A network whose tool and whose first model can be ill, and whose tool can be slow.
#[derive(Debug)]
struct Ward {
    ill: AtomicBool,
    slow: AtomicBool,
    /// Who lets slow calls go on.
    nurse: Semaphore,
    seen: Mutex<Vec<String>>,
}

impl Ward {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            ill: AtomicBool::new(true),
            slow: AtomicBool::new(false),
            nurse: Semaphore::new(0),
            seen: Mutex::default(),
        })
    }

    fn note(&self, what: &str) {
        self.seen.lock().expect("nobody panics").push(what.to_owned());
    }

    /// Who was called since it was last asked.
    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().expect("nobody panics"))
    }

    fn is_ill(&self) -> bool {
        self.ill.load(Ordering::SeqCst)
    }
}

impl Edge for Ward {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>> {
        self.note(ask.target.as_str());
        let fails = self.is_ill() && ask.target.as_str() == "first";
        Box::pin(async move {
            if fails {
                return Err(Failure::new(ErrorClass::NetworkError, "down").with_status(503));
            }
            Ok(Answer::complete("fine", "m", Usage::reported(1, 1)))
        })
    }

    fn call<'a>(&'a self, _: &'a CallTool, _: Option<&'a str>) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        self.note("tool");
        Box::pin(async move {
            if self.slow.load(Ordering::SeqCst) {
                self.nurse.acquire().await.expect("it is never closed").forget();
            }
            let status = if self.is_ill() { 500 } else { 200 };
            Ok(ToolReply { status, retry_after_ms: None, body: ReplyBody::Empty })
        })
    }
}

struct Scene {
    world: World,
    ward: Arc<Ward>,
    driver: Driver,
    _tool: RunningTool,
}

impl Scene {
    async fn new() -> Self {
        let tool = ScriptedTool::new("t").capability("read", Effect::Read).start().await.expect("the tool starts");
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        let ward = Ward::new();
        let clock = Arc::new(Still(world.clock.clone()));
        let rests = Rests { models: GateRules::model(), ..Rests::default() };
        let gates = Arc::new(Gates::new(CallLimits::default(), rests, Arc::clone(&clock) as _));
        let driver = Driver::through(world.journal.clone(), Arc::clone(&ward) as _, clock, gates);
        Self { world, ward, driver, _tool: tool }
    }

    fn started(&self, run: &str) -> Started {
        let mut started = self.world.started(run, "x", Some(plan(vec![step("a", "t", "read", "{}")])));
        let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
        policy.resend.times = 0;
        policy.rotation = Rules::prefer_primary();
        started.policy = Arc::new(policy);
        started.targets = vec!["first".into(), "second".into()];
        started
    }

    async fn run(&self, started: Started) -> RunAnswer {
        finished(self.driver.start(started).await)
    }

    /// Ten runs whose only call fails.
    async fn break_the_tool(&self) {
        for number in 0..10 {
            self.run(self.started(&format!("broken-{number}"))).await;
        }
        assert_eq!(self.ward.seen().len(), 10);
    }

    /// Waits until so many runs have found the service resting.
    async fn turned_away(&self, runs: &[&str]) {
        for run in runs {
            self.reached(run, "gate_closed").await;
        }
    }

    async fn reached(&self, run: &str, event: &str) {
        let reached = async {
            loop {
                let records = self.world.journal.events(&(*run).into(), 0).await;
                if records.is_ok_and(|records| records.iter().any(|record| record.kind == event)) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached).await.expect("it comes so far");
    }
}

fn finished(ended: Result<Ended, reknit_runtime::DriveError>) -> RunAnswer {
    match ended.expect("it is driven") {
        Ended::Finished(answer) => *answer,
        Ended::Reported(_) | Ended::Waiting => panic!("it is a run, and nobody is asked"),
    }
}

#[tokio::test]
async fn ten_failed_calls_close_a_service_for_every_run_until_one_finds_it_well_again() {
    for segmented in [false, true] {
        let scene = Scene::new().await;
        scene.break_the_tool().await;
        let (driver, started) = (scene.driver.clone(), scene.started("late"));
        let run = tokio::spawn(async move {
            if segmented { Segments::new(driver).start(started).await } else { driver.start(started).await }
        });
        scene.turned_away(&["late"]).await;
        assert_eq!(scene.ward.seen(), [""; 0], "nobody was called");
        scene.ward.ill.store(false, Ordering::SeqCst);
        scene.world.clock.advance(30_000);
        let answer = finished(run.await.expect("no panic"));
        assert_eq!((answer.status, answer.spent.tool_calls, answer.steps[0].calls), (Status::Complete, 1, 1));
        assert_eq!(scene.ward.seen(), ["tool"]);
    }
}

#[tokio::test]
async fn while_one_run_tries_the_service_the_others_wait_for_what_it_finds() {
    let scene = Scene::new().await;
    scene.break_the_tool().await;
    scene.ward.slow.store(true, Ordering::SeqCst);
    let names = ["x", "y", "z"];
    let runs: Vec<_> = names
        .map(|name| {
            let (driver, started) = (scene.driver.clone(), scene.started(name));
            tokio::spawn(async move { driver.start(started).await })
        })
        .into();
    scene.turned_away(&names).await;
    scene.world.clock.advance(30_000);
    for name in names {
        scene.reached(name, "woke").await;
    }
    while scene.ward.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.ward.seen(), [""; 0], "only one tries");
    scene.ward.ill.store(false, Ordering::SeqCst);
    scene.ward.nurse.add_permits(3);
    for run in runs {
        assert_eq!(finished(run.await.expect("no panic")).status, Status::Complete);
    }
    assert_eq!(scene.ward.seen().len(), 2, "now the others are called");
}

#[tokio::test]
async fn a_try_that_is_given_up_leaves_the_way_to_the_next() {
    let scene = Scene::new().await;
    scene.break_the_tool().await;
    scene.ward.slow.store(true, Ordering::SeqCst);
    scene.world.clock.advance(30_000);
    let (driver, started) = (scene.driver.clone(), scene.started("given-up"));
    let run = tokio::spawn(async move { driver.start(started).await });
    while scene.ward.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    run.abort();
    assert!(run.await.is_err_and(|error| error.is_cancelled()));
    scene.ward.slow.store(false, Ordering::SeqCst);
    scene.ward.ill.store(false, Ordering::SeqCst);
    assert_eq!(scene.run(scene.started("next")).await.status, Status::Complete);
}

#[tokio::test]
async fn a_rest_that_is_longer_than_a_run_may_wait_fails_its_step_and_nothing_is_sent() {
    let scene = Scene::new().await;
    scene.break_the_tool().await;
    let mut started = scene.started("hurried");
    let mut policy = started.policy.as_ref().clone();
    policy.resend.ceiling_ms = 29_999;
    started.policy = Arc::new(policy);
    let answer = scene.run(started).await;
    let Outcome::Failed { reason, .. } = &answer.steps[0].outcome else { panic!("{answer:?}") };
    assert!(reason.starts_with("not sent: `t` is resting; it would be 30 s until then"), "{reason}");
    assert_eq!(scene.ward.seen(), [""; 0]);
}

#[tokio::test]
async fn a_model_that_fails_is_left_alone_by_the_next_runs_and_asked_first_when_it_is_well() {
    let scene = Scene::new().await;
    let asks = |run: &str| {
        let mut started = scene.started(run);
        let policy = Policy { synthesis: Synthesis::Model, ..started.policy.as_ref().clone() };
        started.policy = Arc::new(policy);
        started
    };
    let models = |seen: Vec<String>| seen.into_iter().filter(|who| who != "tool").collect::<Vec<_>>();
    let answer = scene.run(asks("one")).await;
    assert_eq!((answer.text.as_str(), answer.spent.model_calls), ("fine", 3));
    assert_eq!(models(scene.ward.seen()), ["first", "first", "second"], "the failing one gets a second try");
    let answer = scene.run(asks("two")).await;
    assert_eq!((answer.text.as_str(), answer.spent.model_calls), ("fine", 1));
    assert_eq!(models(scene.ward.seen()), ["second"]);
    scene.world.clock.advance(5_000);
    scene.run(asks("three")).await;
    assert_eq!(models(scene.ward.seen()), ["first", "second"], "one try after its rest");
    scene.ward.ill.store(false, Ordering::SeqCst);
    scene.world.clock.advance(10_000);
    scene.run(asks("four")).await;
    assert_eq!(models(scene.ward.seen()), ["first"]);
}
