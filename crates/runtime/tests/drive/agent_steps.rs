//! Steps that run an agent: sessions with journals of their own, which the driver of the plan starts, joins and cancels.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{
    Answer, ApprovalRule, Decision, Effect, Machine, Outcome, Policy, Started, Status, StepState, SubAgent, Synthesis,
};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{CallBarrier, Reply};
use reknit_plan::{AGENT_TOOL, AgentAnnouncement};
use reknit_protocol::{EffectId, RunId, Step, Value};
use reknit_runtime::RunOwner;
use reknit_runtime::{DriveOutcome, Fork, ForkChanges, load_run, signals};
use tokio_util::sync::CancellationToken;

use crate::drive::fixture::{object, plan};
use crate::drive::sessions::{REPORT, Scene};

fn clerk(task: &str) -> Step {
    Step::new("clerk", AGENT_TOOL, "clerk", "").with_parameters(object(&format!(r#"{{"task": "{task}"}}"#)))
}

fn started(scene: &Scene, steps: Vec<Step>) -> Started {
    with_policy(scene, steps, Policy { synthesis: Synthesis::Template, ..Policy::default() })
}

/// The start of a plan whose agent has the same policy.
fn with_policy(scene: &Scene, steps: Vec<Step>, policy: Policy) -> Started {
    let mut session = scene.started();
    (session.run, session.input) = (RunId::new(""), String::new());
    session.policy = Arc::new(policy.clone());
    let announced = AgentAnnouncement { name: "clerk".to_owned(), description: String::new(), report_type: "string" };
    let started = scene.fixture.started("r", "a plan", Some(plan(steps)));
    Started {
        catalogue: Arc::new(started.catalogue.with_agents([announced]).expect("no tool is called `agent`")),
        agents: vec![SubAgent { name: "clerk".to_owned(), description: String::new(), session }],
        policy: Arc::new(policy),
        ..started
    }
}

fn finished(outcome: DriveOutcome) -> Answer {
    match outcome {
        DriveOutcome::Finished(answer) => *answer,
        other => panic!("the run has not ended: {other:?}"),
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(2), future).await.expect("it ends in time")
}

fn reply(text: &str) -> Reply {
    let calls = Value::parse(text).expect("JSON");
    let call = calls.get("calls").and_then(|calls| calls.as_array()).and_then(|calls| calls.first()).expect("a call");
    let part = |name: &str| call.get(name).and_then(Value::as_str).expect("a text").to_owned();
    Reply::text("").with_tool_call(part("name"), part("arguments"))
}

const LOOK_UP: &str = r#"{"calls": [{"name": "shop__look_up", "arguments": "{\"id\": 7}"}]}"#;
const ORDER: &str = r#"{"calls": [{"name": "shop__order", "arguments": "{\"id\": 7}"}]}"#;

#[tokio::test]
async fn the_report_of_an_agent_is_the_result_of_its_step_and_its_session_is_a_run_of_its_own() {
    let scene = Scene::of(&[LOOK_UP, REPORT]).await;
    let order = Step::new("order", "shop", "order", "").with_parameters(object(r#"{"note": "{{clerk.report}}"}"#));
    let started = started(&scene, vec![clerk("Where is order 7?"), order]);
    let answer = finished(within(scene.fixture.driver().start(started)).await.expect("the run is driven"));
    assert_eq!(answer.status, Status::Complete, "{}", answer.text);
    let calls = scene.shop.calls();
    assert_eq!(
        calls.iter().map(|call| call.parameters.to_string()).collect::<Vec<_>>(),
        [r#"{"id":7}"#, r#"{"note":"It was sent."}"#]
    );
    let session = answer.steps[0].session.clone().expect("the step has a session");
    assert!(session.as_str().starts_with("r."), "{session}");
    let stored = scene.fixture.driver().stored_outcome(&session).await.expect("the session is stored");
    let Some(DriveOutcome::Reported(report)) = stored else { panic!("no report: {stored:?}") };
    assert_eq!(report.content, "It was sent.");
    // The agent, its look-up and the order; the two questions of the agent.
    assert_eq!((answer.spent.tool_calls, answer.spent.model_calls), (3, 2));
    assert_eq!(report.spent.model_calls, 2);
}

#[tokio::test]
async fn an_agent_that_reports_a_failure_fails_its_step_and_a_retry_starts_no_second_session() {
    let failure = r#"{"calls": [{"name": "agent__final_report", "arguments": "{\"report_content\": \"There is no order 7.\", \"status\": \"failure\"}"}]}"#;
    let scene = Scene::of(&[failure, REPORT]).await;
    let started = started(&scene, vec![clerk("Where is order 7?")]);
    let answer = finished(within(scene.fixture.driver().start(started)).await.expect("the run is driven"));
    let Outcome::Failed { reason, .. } = &answer.steps[0].outcome else { panic!("{:?}", answer.steps[0]) };
    assert!(reason.starts_with("the agent reports a failure: There is no order 7. (session r."), "{reason}");
    let spent = answer.spent.model_calls;
    let again = within(scene.fixture.driver().retry(&RunId::new("r"))).await.expect("the run is retried");
    let again = finished(again);
    assert_eq!(again.status, Status::Failed);
    assert_eq!(again.spent.model_calls, spent, "what a session spent counts once");
    assert_eq!(scene.fixture.journal.runs(&reknit_journal::RunFilter::newest(9)).await.expect("runs").len(), 2);
}

/// A scene whose model waits at a barrier before its second answer.
async fn waiting_scene() -> (Scene, CallBarrier) {
    let barrier = CallBarrier::new();
    let script = Script::new()
        .once(RequestMatcher::any(), reply(LOOK_UP))
        .on(RequestMatcher::any(), reply(REPORT).wait_at(&barrier));
    (Scene::with_script(script).await, barrier)
}

#[tokio::test]
async fn cancelling_the_run_cancels_the_session_of_its_agent() {
    let (scene, barrier) = waiting_scene().await;
    let cancel = CancellationToken::new();
    let driver = scene.fixture.driver().with_cancel_token(cancel.clone());
    let started = started(&scene, vec![clerk("Where is order 7?")]);
    let task = tokio::spawn(async move { driver.start(started).await });
    within(barrier.wait_for_arrivals(1)).await;
    cancel.cancel();
    let answer = finished(within(task).await.expect("no panic").expect("the run is driven"));
    assert_eq!(answer.status, Status::Cancelled);
    assert_eq!(session_status(&scene, &answer).await.as_deref(), Some("cancelled"));
}

async fn session_status(scene: &Scene, answer: &Answer) -> Option<String> {
    let session = answer.steps[0].session.clone().expect("the step has a session");
    scene.fixture.journal.summary(&session).await.expect("the session exists").status
}

#[tokio::test]
async fn a_run_that_is_cancelled_after_a_crash_cancels_the_session_that_nobody_drives() {
    let (scene, barrier) = waiting_scene().await;
    let (driver, started) = (scene.fixture.driver(), started(&scene, vec![clerk("Where is order 7?")]));
    let task = tokio::spawn(async move { driver.start(started).await });
    within(barrier.wait_for_arrivals(1)).await;
    task.abort();
    assert!(task.await.is_err(), "the task is aborted");
    scene.fixture.journal.send(&RunId::new("r"), signals::cancel(), 0).await.expect("the message is sent");
    scene.fixture.clock.advance(60_000);
    let answer = finished(within(scene.fixture.driver().join(&RunId::new("r"))).await.expect("the run is resumed"));
    assert_eq!(answer.status, Status::Cancelled);
    assert_eq!(session_status(&scene, &answer).await.as_deref(), Some("cancelled"));
}

#[tokio::test]
async fn the_time_limit_of_a_step_cancels_the_session_of_its_agent() {
    let (scene, barrier) = waiting_scene().await;
    let mut step = clerk("Where is order 7?");
    step.metadata.insert("limit_ms", 5_000);
    let (driver, started) = (scene.fixture.driver(), started(&scene, vec![step]));
    let task = tokio::spawn(async move { driver.start(started).await });
    within(barrier.wait_for_arrivals(1)).await;
    scene.fixture.clock.advance(5_000);
    let answer = finished(within(task).await.expect("no panic").expect("the run is driven"));
    assert_eq!(answer.status, Status::Failed, "{}", answer.text);
    assert_eq!(session_status(&scene, &answer).await.as_deref(), Some("cancelled"));
}

#[tokio::test]
async fn whoever_retries_a_run_its_sessions_stay_those_of_its_owner() {
    let failure = r#"{"calls": [{"name": "agent__final_report", "arguments": "{\"report_content\": \"There is no order 7.\", \"status\": \"failure\"}"}]}"#;
    let scene = Scene::of(&[failure, REPORT]).await;
    let owner = |name: &str| {
        let name = name.to_owned();
        Some(Arc::new(RunOwner { name, tools: None, monthly_budget: None, sees_all_runs: true }))
    };
    let started = started(&scene, vec![clerk("Where is order 7?")]);
    let ann = scene.fixture.driver().with_owner(owner("ann"));
    let answer = finished(within(ann.start(started)).await.expect("the run is driven"));
    let session = answer.steps[0].session.clone().expect("the step has a session");
    let summary = scene.fixture.journal.summary(&session).await.expect("the session exists");
    assert_eq!(summary.owner.as_deref(), Some("ann"));
    let root = scene.fixture.driver().with_owner(owner("root"));
    let again = finished(within(root.retry(&RunId::new("r"))).await.expect("the run is retried"));
    let Outcome::Failed { reason, .. } = &again.steps[0].outcome else { panic!("{:?}", again.steps[0]) };
    assert!(reason.starts_with("the agent reports a failure"), "{reason}");
}

#[tokio::test]
async fn a_run_waits_for_a_session_that_waits_for_a_person_and_goes_on_after_the_decision() {
    let scene = Scene::of(&[ORDER, REPORT]).await;
    let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
    policy.approvals.rules = vec![ApprovalRule { capability: Some("shop/order".to_owned()), class: None, when: None }];
    let started = with_policy(&scene, vec![clerk("Order it.")], policy);
    let (driver, clock) = (scene.fixture.driver(), scene.fixture.clock.clone());
    let task = tokio::spawn(async move { driver.start(started).await });
    let run = RunId::new("r");
    let waiting = async {
        loop {
            let Machine::Run(run) = load(&scene, &run).await else { panic!("it is a run") };
            if let Some((_, view)) = run.step("clerk")
                && matches!(view.state, StepState::AwaitingJob { .. })
            {
                return view.session.expect("the step has a session");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let session = within(waiting).await;
    assert!(scene.shop.calls().is_empty());
    let events = scene.fixture.journal.events(&session, 0).await.expect("the session exists").len();
    // The run asks several times; the session gets no event by that.
    for _ in 0..3 {
        clock.advance(60_000);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(scene.fixture.journal.events(&session, 0).await.expect("the session exists").len(), events);
    let (effect, hash) = question(&load(&scene, &session).await);
    let decision = signals::decide(effect, hash, Decision::Approve);
    scene.fixture.journal.send(&session, decision, 0).await.expect("the decision is sent");
    let ticking = clock.clone();
    let ticker = tokio::spawn(async move {
        loop {
            ticking.advance(60_000);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let answer = finished(within(task).await.expect("no panic").expect("the run is driven"));
    ticker.abort();
    assert_eq!((answer.status, scene.shop.calls().len()), (Status::Complete, 1), "{}", answer.text);
}

async fn load(scene: &Scene, run: &RunId) -> Machine {
    loop {
        if let Ok(saved) = load_run(&scene.fixture.journal, run).await {
            return saved.machine;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn question(machine: &Machine) -> (EffectId, String) {
    let asked = machine.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some((ask.id.clone(), ask.hash.clone())),
        _ => None,
    });
    asked.expect("a person is asked")
}

#[tokio::test]
async fn a_fork_does_not_run_the_agents_before_its_point_again_and_those_after_it_send_nothing_either() {
    let scene = Scene::of(&[ORDER, REPORT, ORDER, REPORT]).await;
    let note = Step::new("note", "shop", "look_up", "").with_parameters(object(r#"{"id": "{{clerk.report}}"}"#));
    let started = started(&scene, vec![clerk("Order it."), note]);
    let answer = finished(within(scene.fixture.driver().start(started)).await.expect("the run is driven"));
    assert_eq!(answer.status, Status::Complete, "{}", answer.text);
    let called = |capability: &str| scene.shop.calls_of(capability).len();
    assert_eq!((called("order"), called("look_up")), (1, 1));
    let fork = async |at: &str| {
        let id = RunId::new(format!("fork-{at}"));
        let fork =
            Fork::of(&scene.fixture.journal, &RunId::new("r"), at, &ForkChanges::default(), (id, 2_000_000)).await;
        let outcome = within(scene.fixture.driver().start_fork(fork.expect("it can be forked"))).await;
        finished(outcome.expect("the fork is driven"))
    };
    let after = fork("note").await;
    assert_eq!(after.status, Status::Complete, "{}", after.text);
    assert_eq!((called("order"), called("look_up")), (1, 2), "only the step at the point is done again");
    let whole = fork("clerk").await;
    assert_eq!(whole.status, Status::Complete, "{}", whole.text);
    assert_eq!(called("order"), 1, "the agent of the fork gets the recorded answer");
}
