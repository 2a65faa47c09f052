//! Runs that an engine elsewhere drives: this process begins them there, passes on what people decide, and keeps a copy.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_engine::{Decision, Effect, Event, EventKind, Machine};
use reknit_journal::{DueEffect, RunSignal};
use reknit_plan::read_plan_file;
use reknit_protocol::{ReplyBody, RunId, ToolError, ToolReply, Value};
use reknit_runtime::{
    BoxFuture, DriveError, DriveOutcome, RemoteEngine, RemoteError, RemoteEvent, RestoreError, Runtime, load_run,
    signals, system_ms,
};

/// An engine that answers every call at once, in memory.
#[derive(Debug, Default)]
struct Elsewhere {
    runs: Mutex<HashMap<RunId, RunElsewhere>>,
    is_away: AtomicBool,
    /// It says that other effects became due than did.
    decides_otherwise: AtomicBool,
}

#[derive(Debug)]
struct RunElsewhere {
    machine: Machine,
    events: Vec<RemoteEvent>,
    known: BTreeSet<String>,
}

fn due(before: &[Effect], after: &[Effect]) -> Vec<DueEffect> {
    let is_new = |effect: &&Effect| before.iter().all(|other| other.id() != effect.id());
    let due = |effect: &Effect| Some(DueEffect::new(effect.id()?.to_string(), effect.digest()));
    after.iter().filter(is_new).filter_map(due).collect()
}

impl RunElsewhere {
    fn apply(&mut self, event: &Event) {
        let before = self.machine.pending();
        self.machine.apply(event).expect("the event can be applied");
        let due = due(&before, &self.machine.pending());
        self.events.push(RemoteEvent { body: serde_json::to_string(event).expect("an event is JSON"), due });
    }

    fn answer_calls(&mut self) {
        loop {
            let pending = self.machine.pending();
            let call = pending.iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id.clone()),
                _ => None,
            });
            let Some(effect) = call else { return };
            let body = ReplyBody::Json(Value::from(9));
            let reply = ToolReply { status: 200, retry_after_ms: None, body, job: None };
            self.apply(&Event { at_ms: self.machine.now_ms() + 1, kind: EventKind::ToolAnswered { effect, reply } });
        }
    }
}

impl Elsewhere {
    fn check(&self) -> Result<(), RemoteError> {
        if self.is_away.load(Ordering::Relaxed) {
            let (address, problem) = ("http://elsewhere".to_owned(), "connection refused".to_owned());
            return Err(RemoteError::Unreachable { address, problem });
        }
        Ok(())
    }

    fn texts(&self, run: &RunId) -> Vec<String> {
        self.runs.lock().expect("nobody panicked")[run].events.iter().map(|event| event.body.clone()).collect()
    }
}

impl RemoteEngine for Elsewhere {
    fn begin<'a>(&'a self, run: &'a RunId, first: &'a str) -> BoxFuture<'a, Result<(), RemoteError>> {
        Box::pin(async move {
            self.check()?;
            let mut runs = self.runs.lock().expect("nobody panicked");
            if !runs.contains_key(run) {
                let event: Event = serde_json::from_str(first).expect("the first event is JSON");
                let (machine, _) = Machine::begin(&event).expect("the run begins");
                let first = RemoteEvent { body: first.to_owned(), due: due(&[], &machine.pending()) };
                let mut begun = RunElsewhere { machine, events: vec![first], known: BTreeSet::new() };
                begun.answer_calls();
                runs.insert(run.clone(), begun);
            }
            Ok(())
        })
    }

    fn events<'a>(&'a self, run: &'a RunId, from: u64) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move {
            self.check()?;
            let from = usize::try_from(from).expect("a short run");
            let mut events = self.runs.lock().expect("nobody panicked")[run].events[from..].to_vec();
            if self.decides_otherwise.load(Ordering::Relaxed) {
                for event in &mut events {
                    event.due.push(DueEffect::new("other/call/1", "digest"));
                }
            }
            Ok(events)
        })
    }

    fn send<'a>(&'a self, run: &'a RunId, id: &'a str, event: &'a Event) -> BoxFuture<'a, Result<(), RemoteError>> {
        Box::pin(async move {
            self.check()?;
            let mut runs = self.runs.lock().expect("nobody panicked");
            let run = runs.get_mut(run).expect("the run has begun");
            if run.known.insert(id.to_owned()) {
                let at_ms = event.at_ms.max(run.machine.now_ms());
                run.apply(&Event { at_ms, kind: event.kind.clone() });
                run.answer_calls();
            }
            Ok(())
        })
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Square {
    #[expect(dead_code, reason = "only its schema is used: the engine elsewhere answers")]
    side: f64,
}

async fn runtime(engine: &Arc<Elsewhere>) -> Runtime {
    let area = async |_: Square| -> Result<f64, ToolError> { panic!("no call is made here") };
    let reknit = Runtime::builder().tool_fn("geometry", "area", area).start().await.expect("it starts");
    reknit.with_remote(Arc::clone(engine) as _)
}

const PLAN: &str =
    "steps: [{id: one, tool: geometry/area, with: {side: 3}}, {id: two, tool: geometry/area, with: {side: 4}}]";
const ASKS: &str = "steps: [{id: one, approve: true, tool: geometry/area, with: {side: 3}}]";

fn started(reknit: &Runtime, plan: &str) -> reknit_engine::Started {
    let (plan, _) = read_plan_file(plan).expect("the plan can be read");
    reknit.started("squares", Some(plan))
}

async fn copied(reknit: &Runtime, run: &RunId) -> Vec<String> {
    let events = reknit.journal.events(run, 0).await.expect("the journal can be read");
    events.into_iter().map(|event| event.body).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_an_engine_elsewhere_drives_is_copied_event_by_event() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let start = started(&reknit, PLAN);
    let run = start.run.clone();
    let outcome = reknit.driver().start(start).await.expect("the run ends");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    assert_eq!(copied(&reknit, &run).await, engine.texts(&run));
    let summary = reknit.journal.summary(&run).await.expect("it is in the journal");
    assert_eq!(summary.status.as_deref(), Some("complete"));
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_passed_on_and_the_run_goes_on() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let start = started(&reknit, ASKS);
    let run = start.run.clone();
    assert_eq!(reknit.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
    let question = load_run(&reknit.journal, &run).await.expect("the copy can be read").questions().remove(0);
    let decision = signals::decide(question.id, question.hash, Decision::Approve);
    reknit.journal.send(&run, decision, system_ms()).await.expect("the decision is stored");
    let outcome = reknit.driver().join(&run).await.expect("the run ends");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    assert_eq!(copied(&reknit, &run).await, engine.texts(&run));
    assert!(reknit.journal.inbox(&run).await.expect("the inbox can be read").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_only_with_the_kind_of_engine_that_began_it() {
    let engine = Arc::new(Elsewhere::default());
    let area = async |_: Square| Ok::<f64, ToolError>(9.0);
    let embedded = Runtime::builder().tool_fn("geometry", "area", area).start().await.expect("it starts");
    let remote = embedded.clone().with_remote(Arc::clone(&engine) as _);
    for (own, other) in [(&remote, &embedded), (&embedded, &remote)] {
        let start = started(own, ASKS);
        let run = start.run.clone();
        assert_eq!(own.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
        let saved = load_run(&own.journal, &run).await.expect("the run can be read");
        assert_eq!(own.missing_for(&saved.machine), Vec::<String>::new());
        assert_eq!(other.missing_for(&saved.machine).len(), 1);
        let question = saved.questions().remove(0);
        let decision = signals::decide(question.id, question.hash, Decision::Approve);
        own.journal.send(&run, decision, system_ms()).await.expect("the decision is stored");
        let refused = other.driver().join(&run).await.expect_err("it is driven elsewhere");
        assert!(matches!(refused, DriveError::OtherEngine { .. }), "{refused:?}");
        let outcome = own.driver().join(&run).await.expect("the run ends");
        assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn messages_that_arrive_while_the_engine_is_away_are_passed_on_once() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let start = started(&reknit, ASKS);
    let run = start.run.clone();
    assert_eq!(reknit.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
    engine.is_away.store(true, Ordering::Relaxed);
    let question = load_run(&reknit.journal, &run).await.expect("the copy can be read").questions().remove(0);
    let decision = signals::decide(question.id, question.hash, Decision::Approve);
    reknit.journal.send(&run, decision, system_ms()).await.expect("the decision is stored");
    let (driver, id) = (reknit.driver(), run.clone());
    let joined = tokio::spawn(async move { driver.join(&id).await });
    tokio::time::sleep(Duration::from_secs(3)).await;
    // The mailbox now reads the whole inbox again.
    reknit.journal.send(&run, RunSignal::new("note", "{}"), system_ms()).await.expect("the message is stored");
    tokio::time::sleep(Duration::from_secs(3)).await;
    engine.is_away.store(false, Ordering::Relaxed);
    let outcome = joined.await.expect("nobody panicked").expect("the run ends");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    let texts = engine.texts(&run);
    assert_eq!(texts.iter().filter(|text| text.contains("person_decided")).count(), 1, "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_started_while_the_engine_is_away_begins_when_it_is_back() {
    let engine = Arc::new(Elsewhere::default());
    engine.is_away.store(true, Ordering::Relaxed);
    let reknit = runtime(&engine).await;
    let start = started(&reknit, PLAN);
    let run = start.run.clone();
    let given_up = tokio::time::timeout(Duration::from_secs(5), reknit.driver().start(start)).await;
    assert!(given_up.is_err(), "the engine is away");
    engine.is_away.store(false, Ordering::Relaxed);
    let outcome = reknit.driver().join(&run).await.expect("the run ends");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_decides_otherwise_than_the_engine_is_parked() {
    let engine = Arc::new(Elsewhere::default());
    engine.decides_otherwise.store(true, Ordering::Relaxed);
    let reknit = runtime(&engine).await;
    let start = started(&reknit, PLAN);
    let run = start.run.clone();
    let error = reknit.driver().start(start).await.expect_err("the copy differs");
    assert!(matches!(error, DriveError::Restore(RestoreError::Mismatch { seq: 1, .. })), "{error:?}");
    let summary = reknit.journal.summary(&run).await.expect("it is in the journal");
    assert!(summary.parked.is_some() && summary.len == 1, "{summary:?}");
}
