//! Forks: what they have of their origin, and what they do not send.

use std::sync::Arc;

use reknit_engine::{ApprovalRule, AskScope, Decision, ForkOrigin, ForkWrites, Policy, Started, Status};
use reknit_fakes::Reply;
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_protocol::{KeyRule, RunId, SideEffect, Value};
use reknit_runtime::{DriveOutcome, Fork, ForkChanges, ForkError, load_run, signals};

use crate::drive::fixture::{Fixture, plan, step, with_one_plan};

/// A shop that is busy at the first call.
async fn shop() -> RunningTool {
    let data = |text: &str| Reply::data(Value::parse(text).expect("JSON"));
    let shop = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("order", SideEffect::Keyed)
        .capability("pay", SideEffect::Keyed)
        .once("price", CallMatcher::any(), Reply::status(503).retry_after(30))
        .on("price", CallMatcher::any(), data(r#"{"price": 12}"#))
        .on("order", CallMatcher::any(), data(r#"{"order": "o-1"}"#))
        .on("pay", CallMatcher::any(), data(r#"{"paid": true}"#));
    shop.start().await.expect("the shop starts")
}

/// A run that waited for the shop and for a person, and has paid.
async fn paid(shop: &RunningTool) -> Fixture {
    let mut policy: Policy = with_one_plan();
    policy.approvals.rules = vec![ApprovalRule { capability: Some("shop/order".to_owned()), class: None, when: None }];
    policy.effects.keys.insert("shop/order".to_owned(), KeyRule { window_s: 60, ..KeyRule::new(["at"]) });
    approved(shop, policy, r#"{"order": "{{order.order}}", "amount": "{{price.price}}"}"#).await
}

/// A run that a person has approved, and that has paid with these parameters.
async fn approved(shop: &RunningTool, policy: Policy, payment: &str) -> Fixture {
    let fixture = Fixture::new(&[("shop".to_owned(), shop.base_url())], None).await;
    let steps = vec![
        step("price", "shop", "price", "{}"),
        step("order", "shop", "order", r#"{"at": "{{price.price}}"}"#),
        step("pay", "shop", "pay", payment),
    ];
    let started = Started { policy: Arc::new(policy), ..fixture.started("r", "pay", Some(plan(steps))) };
    let run = RunId::new("r");
    assert_eq!(fixture.driver().start(started).await.expect("it starts"), DriveOutcome::Waiting);
    let question = load_run(&fixture.journal, &run).await.expect("the run").machine.questions().remove(0);
    let decision = signals::decide(question.id, question.hash, Decision::Approve);
    fixture.journal.send(&run, decision, 0).await.expect("the decision is sent");
    let outcome = fixture.driver().resume(&run).await.expect("it goes on");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
    fixture
}

fn called(shop: &RunningTool) -> Vec<String> {
    shop.calls().iter().map(|call| format!("{} {}", call.capability, call.parameters)).collect()
}

async fn fork(fixture: &Fixture, at: &str, changes: &ForkChanges) -> Result<Fork, ForkError> {
    let now_ms = i64::try_from(fixture.clock.now_ms()).expect("the test is short");
    Fork::of(&fixture.journal, &RunId::new("r"), at, changes, (RunId::new("fork"), now_ms)).await
}

#[tokio::test]
async fn a_fork_has_the_answers_the_waits_and_the_decisions_of_its_origin_before_the_point() {
    let shop = shop().await;
    let fixture = paid(&shop).await;
    let (before, calls) = (fixture.clock.now_ms(), called(&shop).len());
    let parameters = vec![("amount".to_owned(), Value::from(5_u32))];
    let changes = ForkChanges { parameters, writes: ForkWrites::Sent, ..ForkChanges::default() };
    let fork = fork(&fixture, "pay", &changes).await.expect("it can be forked");
    let id = fork.run().clone();
    let outcome = fixture.driver().start_fork(fork).await.expect("it is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
    assert_eq!(called(&shop)[calls..], [r#"pay {"order":"o-1","amount":5}"#], "only the changed call is sent");
    assert_eq!(fixture.clock.now_ms(), before, "nothing was waited for");
    let (run, events) = fixture.restore(id.as_str()).await;
    let origin = ForkOrigin { run: "r".into(), at: "pay".to_owned(), writes: ForkWrites::Sent };
    assert_eq!(run.started().fork, Some(origin));
    assert!(events.iter().any(|event| event.kind.name() == "person_decided"));
}

#[tokio::test]
async fn a_fork_sends_no_write_and_a_driver_that_takes_it_over_does_not_either() {
    let shop = shop().await;
    let fixture = paid(&shop).await;
    let calls = called(&shop);
    let parameters = vec![("at".to_owned(), Value::from(99_u32))];
    let changes = ForkChanges { parameters, ..ForkChanges::default() };
    let fork = fork(&fixture, "order", &changes).await.expect("it can be forked");
    let run = fork.run().clone();
    assert_eq!(fixture.driver().start_fork(fork).await.expect("it is driven"), DriveOutcome::Waiting);
    let question = load_run(&fixture.journal, &run).await.expect("the fork").machine.questions().remove(0);
    let decision = signals::decide(question.id, question.hash, Decision::Approve);
    fixture.journal.send(&run, decision, 0).await.expect("the decision is sent");
    let outcome = fixture.driver().resume(&run).await.expect("it goes on");
    let DriveOutcome::Finished(answer) = outcome else { panic!("it has ended") };
    assert!(answer.text.contains("this fork does not send it"), "{}", answer.text);
    assert_eq!(called(&shop), calls);
}

#[tokio::test]
async fn a_change_before_the_point_is_refused() {
    let shop = shop().await;
    let fixture = paid(&shop).await;
    let mut policy = with_one_plan();
    policy.approvals.rules.clear();
    let changes = ForkChanges { policy: Some(Arc::new(policy)), ..ForkChanges::default() };
    let Err(ForkError::Differs { fork_at, .. }) = fork(&fixture, "pay", &changes).await else {
        panic!("nobody would be asked about the order any more")
    };
    assert_eq!(fork_at, "order");
    fork(&fixture, &fork_at, &changes).await.expect("it can be forked there");
    let Err(ForkError::NoSuchPoint { known, .. }) = fork(&fixture, "ship", &changes).await else {
        panic!("there is no such step")
    };
    assert_eq!(known, ["price", "order", "pay"]);
}

#[tokio::test]
async fn a_fork_that_sends_writes_has_no_approval_of_something_else() {
    let shop = shop().await;
    let mut policy = with_one_plan();
    policy.approvals.ask = AskScope::Plan;
    let fixture = approved(&shop, policy, r#"{"order": "{{order.order}}", "amount": 50}"#).await;
    let change = |amount: u32, writes| ForkChanges {
        parameters: vec![("amount".to_owned(), Value::from(amount))],
        writes,
        ..ForkChanges::default()
    };
    let Err(ForkError::Differs { fork_at, .. }) = fork(&fixture, "pay", &change(5_000, ForkWrites::Sent)).await else {
        panic!("a person approved the plan with another amount")
    };
    assert_eq!(fork_at, "plan");
    fork(&fixture, "pay", &change(5_000, ForkWrites::Recorded)).await.expect("nothing is sent");
}

#[tokio::test]
async fn a_call_that_a_fork_does_not_send_takes_no_business_key() {
    let shop = shop().await;
    let fixture = paid(&shop).await;
    let keys = || async { fixture.journal.business_keys().await.expect("the journal is readable") };
    let before = keys().await;
    assert_eq!(before.len(), 1);
    fixture.clock.advance(120_000);
    let fork = fork(&fixture, "order", &ForkChanges::default()).await.expect("it can be forked");
    let run = fork.run().clone();
    assert_eq!(fixture.driver().start_fork(fork).await.expect("it is driven"), DriveOutcome::Waiting);
    let question = load_run(&fixture.journal, &run).await.expect("the fork").machine.questions().remove(0);
    let decision = signals::decide(question.id, question.hash, Decision::Approve);
    fixture.journal.send(&run, decision, 0).await.expect("the decision is sent");
    let outcome = fixture.driver().resume(&run).await.expect("it goes on");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
    assert_eq!(keys().await, before, "the next real order for the same deed is sent");
}
