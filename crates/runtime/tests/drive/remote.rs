//! Runs that an engine elsewhere drives: this process begins them there, passes on what people decide, and keeps a copy.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_engine::{Decision, Effect, Event, EventKind, Machine};
use reknit_journal::{Append, DueEffect, Holder, Lease, LeaseTerm, Reopening, RunSignal};
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
    /// So many calls are rejected from now on.
    rejected_calls: AtomicU32,
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

    fn answer_calls(&mut self, rejected: &AtomicU32) {
        loop {
            let pending = self.machine.pending();
            let call = pending.iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id.clone()),
                _ => None,
            });
            let Some(effect) = call else { return };
            let is_rejected =
                rejected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
            let (status, value) = if is_rejected { (403, Value::from("not now")) } else { (200, Value::from(9)) };
            let reply = ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(value), job: None };
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
    fn begin<'a>(&'a self, run: &'a RunId, first: &'a str) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move {
            self.check()?;
            let mut runs = self.runs.lock().expect("nobody panicked");
            if !runs.contains_key(run) {
                let event: Event = serde_json::from_str(first).expect("the first event is JSON");
                let (machine, _) = Machine::begin(&event).expect("the run begins");
                let first = RemoteEvent { body: first.to_owned(), due: due(&[], &machine.pending()) };
                let mut begun = RunElsewhere { machine, events: vec![first], known: BTreeSet::new() };
                begun.answer_calls(&self.rejected_calls);
                runs.insert(run.clone(), begun);
            }
            // Some of what has happened.
            let count = usize::from(!self.decides_otherwise.load(Ordering::Relaxed));
            Ok(runs[run].events.iter().skip(1).take(count).cloned().collect())
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

    fn send<'a>(&'a self, run: &'a RunId, id: &'a str, event: &'a Event) -> BoxFuture<'a, Result<u64, RemoteError>> {
        Box::pin(async move {
            self.check()?;
            let mut runs = self.runs.lock().expect("nobody panicked");
            let run = runs.get_mut(run).expect("the run has begun");
            let goes_on = matches!(event.kind, EventKind::Retried | EventKind::FollowedUp { .. });
            if run.known.insert(id.to_owned()) && (goes_on || run.machine.ending().is_none()) {
                let at_ms = event.at_ms.max(run.machine.now_ms());
                run.apply(&Event { at_ms, kind: event.kind.clone() });
                run.answer_calls(&self.rejected_calls);
            }
            Ok(run.events.len() as u64)
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
    let reknit = Runtime::from_builder(Runtime::builder().tool_fn("geometry", "area", area)).await.expect("it starts");
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
    let question = load_run(&reknit.journal, &run).await.expect("the copy can be read").machine.questions().remove(0);
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
    let embedded =
        Runtime::from_builder(Runtime::builder().tool_fn("geometry", "area", area)).await.expect("it starts");
    let remote = embedded.clone().with_remote(Arc::clone(&engine) as _);
    for (own, other) in [(&remote, &embedded), (&embedded, &remote)] {
        let start = started(own, ASKS);
        let run = start.run.clone();
        assert_eq!(own.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
        let saved = load_run(&own.journal, &run).await.expect("the run can be read");
        assert_eq!(own.missing_for(&saved.machine), Vec::<String>::new());
        assert_eq!(other.missing_for(&saved.machine).len(), 1);
        let question = saved.machine.questions().remove(0);
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
    let question = load_run(&reknit.journal, &run).await.expect("the copy can be read").machine.questions().remove(0);
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

/// A run that failed, because its call was rejected.
async fn failed_run(engine: &Arc<Elsewhere>, reknit: &Runtime) -> RunId {
    engine.rejected_calls.store(1, Ordering::Relaxed);
    let start = started(reknit, "steps: [{id: one, tool: geometry/area, with: {side: 3}}]");
    let run = start.run.clone();
    reknit.driver().start(start).await.expect("the run ends");
    let status = reknit.journal.summary(&run).await.expect("it is in the journal").status;
    assert_eq!(status.as_deref(), Some("failed"), "{:?}", engine.texts(&run));
    run
}

/// What a process does first that opens a run again. Then it dies.
async fn reopen_and_die(reknit: &Runtime, run: &RunId) -> Lease {
    let summary = reknit.journal.summary(run).await.expect("it is in the journal");
    let reopening = Reopening { expected_len: summary.len, cost_so_far: 0, reservation: None };
    let term = LeaseTerm { now_ms: system_ms() - 3_600_000, ttl_ms: 1_000 };
    reknit.journal.reopen(run, &Holder::this_process(), term, reopening).await.expect("the run has ended")
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_process_died_while_it_opened_it_again_has_its_ending_again() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let run = failed_run(&engine, &reknit).await;
    reopen_and_die(&reknit, &run).await;
    assert_eq!(reknit.journal.summary(&run).await.expect("it is in the journal").status, None);
    let outcome = reknit.driver().resume(&run).await.expect("the run has ended");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    let summary = reknit.journal.summary(&run).await.expect("it is in the journal");
    assert_eq!((summary.status.as_deref(), summary.lease), (Some("failed"), None));
    assert_eq!(copied(&reknit, &run).await, engine.texts(&run));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_the_engine_was_told_to_go_on_with_is_followed_by_the_next_process() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let run = failed_run(&engine, &reknit).await;
    reopen_and_die(&reknit, &run).await;
    reknit.journal.send(&run, signals::cancel(), system_ms()).await.expect("it is stored");
    let retried = Event { at_ms: system_ms() + 1_000, kind: EventKind::Retried };
    engine.send(&run, "reopened", &retried).await.expect("the run is there");
    reknit.driver().resume(&run).await.expect("the run ends");
    let summary = reknit.journal.summary(&run).await.expect("it is in the journal");
    assert_eq!(summary.status.as_deref(), Some("complete"));
    assert_eq!(copied(&reknit, &run).await, engine.texts(&run));
}

#[tokio::test(start_paused = true)]
async fn a_message_from_before_the_end_does_not_reach_a_run_that_is_opened_again() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let start = started(&reknit, ASKS);
    let run = start.run.clone();
    assert_eq!(reknit.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
    decide(&reknit, &run, Decision::Approve, system_ms()).await;
    engine.rejected_calls.store(1, Ordering::Relaxed);
    reknit.driver().join(&run).await.expect("the run fails");
    // A cancellation that came together with the end.
    let lease = reopen_and_die(&reknit, &run).await;
    reknit.journal.send(&run, signals::cancel(), system_ms()).await.expect("it is stored");
    let len = reknit.journal.summary(&run).await.expect("it is in the journal").len;
    reknit.journal.append(&lease, Append::at(len).ending("failed", system_ms())).await.expect("the run ends again");
    let outcome = reknit.driver().retry(&run).await.expect("the run goes on");
    assert!(reknit.journal.inbox(&run).await.expect("the inbox can be read").is_empty());
    let texts = engine.texts(&run);
    assert!(!texts.iter().any(|text| text.contains(r#""cancelled""#)), "{outcome:?}: {texts:?}");
}

async fn decide(reknit: &Runtime, run: &RunId, decision: Decision, at_ms: i64) {
    let question = load_run(&reknit.journal, run).await.expect("the copy can be read").machine.questions().remove(0);
    let decision = signals::decide(question.id, question.hash, decision);
    reknit.journal.send(run, decision, at_ms).await.expect("the decision is stored");
}

#[tokio::test(start_paused = true)]
async fn a_decision_in_time_counts_and_a_later_one_after_the_expiry_does_not() {
    let engine = Arc::new(Elsewhere::default());
    let reknit = runtime(&engine).await;
    let start = started(&reknit, ASKS);
    let run = start.run.clone();
    assert_eq!(reknit.driver().start(start).await.expect("the run waits"), DriveOutcome::Waiting);
    let expires_ms =
        load_run(&reknit.journal, &run).await.expect("it can be read").machine.questions().remove(0).expires_ms;
    decide(&reknit, &run, Decision::Deny { reason: None }, expires_ms - 1).await;
    decide(&reknit, &run, Decision::Approve, expires_ms + 1).await;
    // The clock of the run is behind the system's by what the test took so far.
    let minute_ms = 60_000;
    let left_ms = u64::try_from(expires_ms - system_ms()).expect("in future");
    tokio::time::sleep(Duration::from_millis(left_ms + minute_ms)).await;
    reknit.driver().resume(&run).await.expect("the run ends");
    let texts = engine.texts(&run);
    let decided: Vec<&String> = texts.iter().filter(|text| text.contains("person_decided")).collect();
    assert!(matches!(&decided[..], [denied] if denied.contains("deny")), "{texts:?}");
}
