//! Operations on runs: which decision counts, what a cancel does, and what is refused.

use reknit_engine::{AskPerson, AskScope, Decision, Policy, Started, Status};
use reknit_fakes::Reply;
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_journal::{Holder, LeaseTerm};
use reknit_protocol::{Object, RunId, SideEffect, Value};
use reknit_runtime::operations::{self, CancelOutcome, FoundRun, QuestionDecision};
use reknit_runtime::{DecisionOutcome, DriveOutcome, Refusal, RefusalCode, load_run, signals};

use crate::drive::fixture::{Fixture, plan, step, with_one_plan};

async fn bank() -> RunningTool {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}}"#;
    let bank = ScriptedTool::new("bank")
        .capability("pay", SideEffect::Unsafe)
        .schema(Value::parse(schema).expect("JSON"))
        .on("pay", CallMatcher::any(), Reply::data(Value::parse(r#"{"paid": true}"#).expect("JSON")));
    bank.start().await.expect("the bank starts")
}

/// A run that asks whether it may pay, and its question.
async fn waiting(bank: &RunningTool) -> (Fixture, AskPerson) {
    let fixture = Fixture::new(&[("bank".to_owned(), bank.base_url())], None).await;
    let mut policy: Policy = with_one_plan();
    policy.approvals.ask = AskScope::All;
    let steps = vec![step("pay", "bank", "pay", r#"{"amount": 150}"#)];
    let started = Started { policy: policy.into(), ..fixture.started("r", "pay", Some(plan(steps))) };
    assert_eq!(fixture.driver().start(started).await.expect("it starts"), DriveOutcome::Waiting);
    let question = load_run(&fixture.journal, &RunId::new("r")).await.expect("the run").machine.questions().remove(0);
    (fixture, question)
}

async fn decide(fixture: &Fixture, ask: &AskPerson, decision: Decision) -> Result<DecisionOutcome, Refusal> {
    let now_ms = fixture.clock.now_ms().cast_signed();
    operations::decide(&fixture.journal, &RunId::new("r"), QuestionDecision::about(ask, decision), now_ms).await
}

async fn refusal(fixture: &Fixture, ask: &AskPerson, decision: Decision) -> (RefusalCode, String) {
    let refusal = decide(fixture, ask, decision).await.expect_err("it is refused");
    (refusal.code(), refusal.to_string())
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: Some(reason.to_owned()) }
}

#[tokio::test]
async fn the_first_decision_counts_and_the_same_again_changes_nothing() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    assert_eq!(decide(&fixture, &ask, denied(" too much ")).await.expect("it is stored"), DecisionOutcome::Made);
    assert_eq!(decide(&fixture, &ask, denied("too much")).await.expect("it is"), DecisionOutcome::AlreadyMade);
    let words = "the question `pay/approval/1` of run `r` is decided already: denied".to_owned();
    assert_eq!(refusal(&fixture, &ask, Decision::Approve).await, (RefusalCode::AlreadyDecided, words.clone()));
    // Also of two messages that were not sent by the operation.
    let late = signals::decide(ask.id.clone(), ask.hash.clone(), Decision::Approve);
    fixture.journal.send(&RunId::new("r"), late, 1_000_000).await.expect("it is sent");
    let outcome = fixture.driver().resume(&RunId::new("r")).await.expect("it goes on");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!((answer.status, bank.call_count()), (Status::Failed, 0), "{}", answer.text);
    // The run has read the decision, and has ended.
    assert_eq!(decide(&fixture, &ask, denied("too much")).await.expect("it is"), DecisionOutcome::AlreadyMade);
    assert_eq!(refusal(&fixture, &ask, Decision::Approve).await, (RefusalCode::AlreadyDecided, words));
}

#[tokio::test]
async fn a_decision_that_the_run_reads_at_the_same_moment_counts_against_a_later_one() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    let open = load_run(&fixture.journal, &RunId::new("r")).await.expect("the run").machine;
    decide(&fixture, &ask, denied("no")).await.expect("it is stored");
    fixture.driver().resume(&RunId::new("r")).await.expect("it goes on");
    // Who looked at the run before that finds an empty inbox now.
    assert_eq!(open.questions(), std::slice::from_ref(&ask));
    assert_eq!(refusal(&fixture, &ask, Decision::Approve).await.0, RefusalCode::AlreadyDecided);
}

#[tokio::test]
async fn a_decision_that_is_no_answer_or_about_something_else_is_refused_before_it_is_stored() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    let edit = |amount: i64| Decision::Edit { parameters: Object::from([("amount", amount.into())]) };
    let (code, words) = refusal(&fixture, &ask, edit(0)).await;
    assert_eq!(code, RefusalCode::InvalidEdit);
    assert!(words.contains("`$.amount`: expected at least 1, found 0"), "{words}");
    for decision in [Decision::Happened { result: Value::Null }, Decision::DidNotHappen, Decision::Check] {
        let (code, words) = refusal(&fixture, &ask, decision).await;
        assert_eq!(code, RefusalCode::WrongDecision);
        assert_eq!(words, "the call of step `pay` was not sent yet: approve or deny it");
    }
    let other = AskPerson { hash: "0".to_owned(), ..ask.clone() };
    assert_eq!(refusal(&fixture, &other, Decision::Approve).await.0, RefusalCode::QuestionChanged);
    let other = AskPerson { id: "pay/approval/2".parse().expect("an id"), ..ask.clone() };
    assert_eq!(refusal(&fixture, &other, Decision::Approve).await.0, RefusalCode::NotAsked);
    assert_eq!(fixture.journal.inbox(&RunId::new("r")).await.expect("the inbox"), []);
    decide(&fixture, &ask, edit(5)).await.expect("it is stored");
    fixture.driver().resume(&RunId::new("r")).await.expect("it goes on");
    assert_eq!(bank.calls()[0].parameters.to_string(), r#"{"amount":5}"#);
}

#[tokio::test]
async fn a_decision_after_the_time_for_it_is_refused() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    fixture.clock.advance_to(ask.expires_ms.cast_unsigned());
    assert_eq!(refusal(&fixture, &ask, Decision::Approve).await.0, RefusalCode::QuestionExpired);
    assert_eq!(fixture.journal.inbox(&RunId::new("r")).await.expect("the inbox"), []);
}

#[tokio::test]
async fn a_run_is_cancelled_once_and_an_ended_one_is_not_cancelled() {
    let bank = bank().await;
    let (fixture, _) = waiting(&bank).await;
    let run = RunId::new("r");
    for _ in 0..2 {
        let outcome = operations::cancel(&fixture.journal, &run, 1_000_000).await.expect("it is stored");
        assert_eq!(outcome, CancelOutcome::Asked);
    }
    assert_eq!(fixture.journal.inbox(&run).await.expect("the inbox").len(), 1);
    fixture.driver().resume(&run).await.expect("it goes on");
    let refusal = operations::cancel(&fixture.journal, &run, 1_000_000).await.expect_err("it has ended");
    assert_eq!(
        (refusal.code(), refusal.to_string()),
        (RefusalCode::RunEnded, "run `r` has ended (cancelled)".to_owned())
    );
}

#[tokio::test]
async fn a_parked_run_that_is_cancelled_ends_without_going_on() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    let (run, now_ms) = (RunId::new("r"), fixture.clock.now_ms().cast_signed());
    let term = LeaseTerm { now_ms, ttl_ms: 1_000 };
    let lease = fixture.journal.acquire(&run, &Holder::this_process(), term).await.expect("it is free");
    fixture.journal.park(&lease, "{}").await.expect("it is parked");
    assert_eq!(refusal(&fixture, &ask, Decision::Approve).await.0, RefusalCode::RunParked);
    let outcome = operations::cancel(&fixture.journal, &run, now_ms).await.expect("it ends");
    assert_eq!((outcome, bank.call_count()), (CancelOutcome::Ended, 0));
    let summary = fixture.journal.summary(&run).await.expect("the run");
    assert_eq!((summary.status.as_deref(), summary.parked), (Some("cancelled"), None));
}

#[tokio::test]
async fn a_run_that_goes_on_is_resumed_and_not_retried_and_one_that_is_done_is_neither() {
    let bank = bank().await;
    let (fixture, ask) = waiting(&bank).await;
    let run = RunId::new("r");
    let found = || operations::resumable(&fixture.journal, &run, 1_000_000);
    assert!(matches!(found().await, Ok(FoundRun::Open(_))));
    let code = async || RefusalCode::of(&operations::retriable(&fixture.journal, &run).await.expect_err("not now"));
    assert_eq!(code().await, RefusalCode::RunUnfinished);
    decide(&fixture, &ask, Decision::Approve).await.expect("it is stored");
    fixture.driver().resume(&run).await.expect("it goes on");
    assert!(matches!(found().await, Ok(FoundRun::Ended(DriveOutcome::Finished(_)))));
    assert_eq!(code().await, RefusalCode::NotRetriable);
    let message = operations::continuable(&fixture.journal, &run).await.expect_err("no session");
    assert_eq!(RefusalCode::of(&message), RefusalCode::NotASession);
}
