//! Plans that run although they have problems, once no better plan can be had.

use reknit_engine::{Outcome, RecordKind, Run, RunRecord, Status};

use crate::world::{Play, policy, started};

/// A model writes the same plan until it is not asked again.
fn planned(steps: &str) -> Play {
    let mut policy = policy();
    policy.planning.retries = 1;
    let mut play = Play::begin(started(None, policy));
    for ask in ["plan/ask/1", "plan/ask/2"] {
        assert_eq!(play.due(), [ask], "a better plan is asked for first");
        play.answer_model(ask, &format!(r#"{{"steps": [{steps}]}}"#));
    }
    play
}

fn step(id: &str, tool: &str, capability: &str, parameters: &str) -> String {
    format!(
        r#"{{"step_id": "{id}", "agent_name": "{tool}", "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}"#
    )
}

#[test]
fn a_literal_that_does_not_fit_is_left_to_its_step_after_the_last_retry() {
    let good = step("good", "t", "read", r#"{"x": 100}"#);
    let bad = step("bad", "t", "convert", r#"{"amount": "a lot"}"#);
    let mut play = planned(&format!("{good}, {bad}"));
    assert!(play.due().contains(&"good/call/1".to_owned()), "the other step runs: {:?}", play.due());
    assert!(!play.due().contains(&"bad/call/1".to_owned()), "the wrong value is not sent: {:?}", play.due());
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("the same run");
    assert_eq!(restored.pending(), play.run.pending());
    play.answer_tool("good/call/1", 200, "{}");
    assert!(play.run.answer().is_none_or(|answer| answer.status != Status::Complete));
}

#[test]
fn a_step_with_an_unknown_tool_is_left_out_after_the_last_retry() {
    let good = step("good", "t", "read", r#"{"x": 100}"#);
    let mut play = planned(&format!("{good}, {}", step("fly", "plane", "fly", "{}")));
    assert_eq!(play.due(), ["good/call/1"]);
    play.answer_tool("good/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Partial);
    let reason = "left out of the plan: step `fly`: there is no tool `plane` (there is `t`)";
    let outcomes: Vec<String> = answer.steps.iter().map(|step| format!("{} {:?}", step.step, step.outcome)).collect();
    assert_eq!(outcomes[1..], [format!("fly {:?}", Outcome::Skipped { reason: reason.to_owned() })]);
    assert!(answer.text.contains(&format!("Missing:\n- fly (fly): skipped: {reason}")), "{}", answer.text);
}

#[test]
fn a_plan_with_an_unknown_tool_that_is_needed_is_refused() {
    let fly = step("fly", "plane", "fly", "{}");
    let play = planned(&format!("{fly}, {}", step("next", "t", "read", r#"{"x": "{{fly.y}}"}"#)));
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
    let only = planned(&fly);
    assert_eq!(only.run.answer().map(|answer| answer.status), Some(Status::Failed), "no step is left");
}

#[test]
fn a_parameter_that_the_tool_does_not_have_is_left_out_after_the_last_retry() {
    let good = step("good", "t", "read", r#"{"x": 100}"#);
    let extra = step("extra", "t", "convert", r#"{"amount": 100, "lang": "en"}"#);
    let play = planned(&format!("{good}, {extra}"));
    assert_eq!(play.due(), ["good/call/1", "extra/call/1"]);
    assert_eq!(play.call("extra/call/1").parameters.to_string(), r#"{"amount":100}"#);
    let repairs = accepted_repairs(&play);
    assert_eq!(
        repairs,
        ["left out a parameter: `extra.lang`: `convert` has no parameter `lang` (there is `amount`, `to`)"]
    );
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("the same run");
    assert_eq!(restored.pending(), play.run.pending());
}

#[test]
fn a_missing_parameter_is_left_to_its_step_after_the_last_retry() {
    let good = step("good", "t", "read", r#"{"x": 100}"#);
    let mut play = planned(&format!("{good}, {}", step("bad", "t", "convert", r#"{"to": "KRW"}"#)));
    assert_eq!(play.due(), ["good/call/1", "bad/resolution/1"]);
    assert_eq!(
        accepted_repairs(&play),
        ["kept a step that lacks a parameter: step `bad`: `convert` needs the parameter `amount`"]
    );
    let mut declined = play.clone();
    play.answer_model("bad/resolution/1", r#"{"amount": 100}"#);
    assert_eq!(play.call("bad/call/1").parameters.to_string(), r#"{"to":"KRW","amount":100}"#);
    declined.answer_model("bad/resolution/1", "{}");
    assert!(!declined.due().contains(&"bad/call/1".to_owned()), "{:?}", declined.due());
    declined.answer_tool("good/call/1", 200, "{}");
}

fn accepted_repairs(play: &Play) -> Vec<String> {
    let repairs = play.records.iter().find_map(|record| match &record.kind {
        RecordKind::Run(RunRecord::PlanAccepted { repairs, .. }) => Some(repairs.clone()),
        _ => None,
    });
    repairs.expect("a plan was accepted")
}

#[test]
fn a_call_that_changes_something_is_not_made_without_a_parameter_that_its_tool_does_not_have() {
    let mut policy = policy();
    policy.planning.retries = 0;
    policy.effects.classes.insert("t/convert".to_owned(), reknit_protocol::SideEffect::Unsafe);
    let mut play = Play::begin(started(None, policy));
    let extra = step("extra", "t", "convert", r#"{"amount": 100, "dry_run": true}"#);
    let good = step("good", "t", "read", r#"{"x": 100}"#);
    play.answer_model("plan/ask/1", &format!(r#"{{"steps": [{good}, {extra}]}}"#));
    assert!(play.due().contains(&"good/call/1".to_owned()), "{:?}", play.due());
    assert!(!play.due().contains(&"extra/call/1".to_owned()), "{:?}", play.due());
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("the same run");
    assert_eq!(restored.pending(), play.run.pending());
}
