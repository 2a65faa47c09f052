//! Recorded runs in today's gate.

use reknit_engine::{AskScope, ParameterRole, Policy, RoleRule, Started};
use reknit_fakes::Reply;
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_mend::PeoplePolicy;
use reknit_protocol::{RunId, SideEffect, Value};
use reknit_runtime::GateReplay;

use crate::drive::fixture::{Fixture, plan, step, with_one_plan};

async fn parcels() -> RunningTool {
    let refusal = r#"{"error": "city 'Tokoy' not found, did you mean 'Tokyo'?"}"#;
    ScriptedTool::new("parcels")
        .capability("send", SideEffect::Keyed)
        .once("send", CallMatcher::any(), Reply::status(400).body(refusal))
        .on("send", CallMatcher::any(), Reply::data(Value::parse(r#"{"sent": true}"#).expect("JSON")))
        .start()
        .await
        .expect("it starts")
}

fn content() -> RoleRule {
    RoleRule { capability: "parcels/*".to_owned(), parameter: "city".to_owned(), role: ParameterRole::Content }
}

/// A run in which a rule corrected a city without asking, because its role was `content`.
async fn recorded(tool: &RunningTool, policy: Policy) -> Fixture {
    let policy = Policy { people: PeoplePolicy::Ask, ..policy };
    let fixture = Fixture::new(&[("parcels".to_owned(), tool.base_url())], None).await;
    let steps = vec![step("post", "parcels", "send", r#"{"city": "Tokoy"}"#)];
    let begun = fixture.started("r", "a parcel", Some(plan(steps)));
    let started = Started { policy: policy.into(), targets: Vec::new(), ..begun };
    fixture.driver().start(started).await.expect("it starts");
    fixture
}

async fn replayed(fixture: &Fixture, rules: Option<Vec<RoleRule>>) -> GateReplay {
    let (mut replay, rules) = (GateReplay::default(), rules.map(|roles| (roles, Vec::new())));
    replay.add(&fixture.journal, &RunId::new("r"), &rules).await.expect("the run");
    replay
}

#[tokio::test]
async fn a_question_that_a_recorded_run_did_not_ask_is_counted_and_approved() {
    let tool = parcels().await;
    let mut policy = with_one_plan();
    policy.effects.roles = vec![content()];
    let fixture = recorded(&tool, policy).await;
    let as_recorded = replayed(&fixture, None).await;
    assert_eq!((as_recorded.runs, as_recorded.calls, as_recorded.count()), (1, 2, 0), "{as_recorded:?}");

    let replay = replayed(&fixture, Some(Vec::new())).await;
    assert_eq!((replay.calls, replay.count()), (2, 1), "{replay:?}");
    assert!(replay.not_followed.is_empty(), "the run goes on as it did: {replay:?}");
    let (rule, capabilities) = replay.questions.first_key_value().expect("a question");
    let questions = &capabilities["parcels/send"];
    assert!(rule.starts_with("gate-") && questions.answered_then == 0, "{replay:?}");
    assert!(questions.reasons["r"].contains("`city` is not changed without approval"), "{replay:?}");
    assert_eq!(replayed(&fixture, Some(vec![content()])).await.count(), 0);
}

#[tokio::test]
async fn a_question_that_waits_in_a_recorded_run_is_one_of_today() {
    let tool = parcels().await;
    let mut policy = with_one_plan();
    policy.approvals.ask = AskScope::All;
    let replay = replayed(&recorded(&tool, policy).await, None).await;
    assert_eq!((replay.calls, replay.count()), (0, 1), "{replay:?}");
    assert_eq!(replay.questions["approve"]["parcels/send"].answered_then, 0);
}
