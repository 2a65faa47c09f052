//! A run from its request to its answer.

use reknit_engine::{AnswerAuthor, Outcome, Status, Synthesis};
use reknit_protocol::Value;

use crate::world::{Play, answer, json, plan, policy, started, step};

#[test]
fn a_request_becomes_a_plan_that_runs_and_is_answered() {
    let mut play = Play::begin(started(None, reknit_engine::Policy { synthesis: Synthesis::Model, ..policy() }));
    assert_eq!(play.due(), ["plan/ask/1"]);
    play.answer_model(
        "plan/ask/1",
        "Sure!\n```json\n{\"steps\": [{\"step_id\": \"s1\", \"agent_name\": \"t\", \"instruction\": \"x\",
          \"metadata\": {\"capability\": \"read\", \"parameters\": {\"symbol\": \"TSLA\"}}},]}\n```",
    );
    assert_eq!(play.due(), ["s1/call/1"]);
    play.answer_tool("s1/call/1", 200, r#"{"success": true, "data": {"price": 468.285}}"#);
    assert_eq!(play.due(), ["answer/ask/1"]);
    assert!(play.prompt("answer/ask/1").contains("468.285"));
    play.answer_model("answer/ask/1", "It is 468.285.");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.text.as_str()), (Status::Complete, "It is 468.285."));
    assert_eq!(answer.written_by, AnswerAuthor::Model);
    assert_eq!(answer.spent.model_calls, 2);
}

#[test]
fn a_rejected_plan_is_asked_for_again_with_its_problems() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model(
        "plan/ask/1",
        r#"{"steps": [{"step_id": "s1", "agent_name": "u", "metadata": {"capability": "fly"}},
                      {"step_id": "s2", "agent_name": "t", "metadata": {"capability": "reed", "parameters": {"x": "{{s9.y}}"}}}]}"#,
    );
    let prompt = play.prompt("plan/ask/2");
    for problem in ["there is no tool `u`", "no capability `reed` (did you mean `read`?)", "s9"] {
        assert!(prompt.contains(problem), "{problem} is not in {prompt}");
    }
    play.answer_model("plan/ask/2", "no JSON here");
    play.answer_model("plan/ask/3", "nor here");
    let answer = play.run.answer().expect("the third attempt is the last");
    assert_eq!(answer.status, Status::Failed);
}

#[test]
fn an_empty_answer_counts_as_a_failure_and_the_next_model_is_asked() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", " \n");
    assert_eq!(play.due(), ["plan/ask/2"]);
    play.answer_model("plan/ask/2", "");
    play.answer_model("plan/ask/3", "");
    let answer = play.run.answer().expect("the third attempt is the last");
    insta::assert_snapshot!(answer.text, @"no model wrote a plan: invalid response: no text (finish reason `complete`); no answer after 3 attempts");
    assert_eq!(answer.spent.input_tokens, 30, "tokens of empty answers count");
}

#[test]
fn an_unambiguous_name_is_corrected_and_recorded() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model(
        "plan/ask/1",
        r#"{"steps": [{"step_id": "s1", "agent_name": "convert", "metadata": {"capability": "convert", "parameters": {"amount": 1}}},
                      {"step_id": "s2", "agent_name": "T", "metadata": {"capability": "Read"}}]}"#,
    );
    assert_eq!(play.due(), ["s1/call/1", "s2/call/1"]);
    assert_eq!(play.call("s2/call/1").capability.as_str(), "read");
    insta::assert_snapshot!(play.run.plan_repairs().join("\n"), @"
    step `s1`: corrected the tool `convert` to `t`
    step `s2`: corrected the tool `T` to `t`
    step `s2`: corrected the capability `Read` to `read`
    ");
}

#[test]
fn a_plan_without_steps_makes_the_run_impossible() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", r#"{"plan_id": "none", "original_request": "x", "steps": []}"#);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Impossible));
}

#[test]
fn a_truncated_plan_never_runs() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model(
        "plan/ask/1",
        r#"{"steps": [{"step_id": "s1", "agent_name": "t", "metadata": {"capability": "read", "parameters": {}}}, {"step_id": "s2", "#,
    );
    assert_eq!(play.due(), ["plan/ask/2"]);
    assert!(play.prompt("plan/ask/2").contains("the plan is incomplete"));
}

#[test]
fn a_step_starts_when_its_own_dependencies_are_done() {
    let mut play = Play::of_steps(vec![
        step("a", "read", "{}"),
        step("b", "read", "{}"),
        step("c", "read", r#"{"x": "{{a.v}}"}"#),
        step("d", "read", r#"{"x": "{{b.v}}"}"#),
    ]);
    assert_eq!(play.due(), ["a/call/1", "b/call/1"]);
    play.answer_tool("a/call/1", 200, r#"{"v": 1.50}"#);
    assert_eq!(play.due(), ["b/call/1", "c/call/1"]);
    assert_eq!(play.call("c/call/1").parameters.to_string(), r#"{"x":1.50}"#);
}

#[test]
fn a_failed_step_skips_only_its_dependents() {
    let mut play = Play::of_steps(vec![
        step("a", "read", "{}"),
        step("b", "read", r#"{"x": "{{a}}"}"#),
        step("c", "read", r#"{"x": "{{b}}"}"#),
        step("d", "read", "{}"),
    ]);
    play.answer_tool("a/call/1", 403, r#"{"message": "no"}"#);
    play.answer_tool("d/call/1", 200, "[1, 2]");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Partial);
    insta::assert_snapshot!(answer.text, @"
    Some steps were done.

    Missing:
    - a (read): failed: 403: no; the tool denied access; no other parameters can change that
    - b (read): skipped: it needs `a`, which failed
    - c (read): skipped: it needs `b`, which was skipped

    Done:
    - d (read): [1,2]
    ");
}

#[test]
fn the_limit_of_concurrent_calls_holds() {
    let steps = (0..8).map(|index| step(&format!("s{index}"), "read", "{}")).collect();
    let mut play = Play::of_steps(steps);
    assert_eq!(play.due().len(), 5);
    play.answer_tool("s2/call/1", 200, "1");
    assert_eq!(play.due(), ["s0/call/1", "s1/call/1", "s3/call/1", "s4/call/1", "s5/call/1"]);
}

#[test]
fn every_successful_reply_is_a_result_in_any_json_form() {
    for (status, body, expected) in [
        (200, r#"{"success": true, "data": 1}"#, r#"{"success": true, "data": 1}"#),
        (201, r#"["a"]"#, r#"["a"]"#),
        (202, "\"later\"", "\"later\""),
        (204, "", "null"),
    ] {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        play.answer_tool("s/call/1", status, body);
        assert_eq!(answer(&play).steps[0].outcome, Outcome::Done(json(expected).into()), "case: {status}");
    }
}

#[test]
fn unknown_and_missing_parameters_are_found_before_any_step_runs() {
    let plan = plan(vec![step("a", "convert", r#"{"amount": 1, "two": "KRW"}"#), step("b", "convert", "{}")]);
    let answer = Play::begin(started(Some(plan), policy())).run.answer().cloned().expect("the run has ended");
    for problem in ["`convert` has no parameter `two` (did you mean `to`?)", "`convert` needs the parameter `amount`"] {
        assert!(answer.text.contains(problem), "{problem} is not in {}", answer.text);
    }
}

#[test]
fn an_invalid_plan_of_a_user_fails_with_its_problems() {
    let play = Play::begin(started(
        Some(plan(vec![step("a", "read", r#"{"x": "{{b}}"}"#), step("b", "read", r#"{"x": "{{a}}"}"#)])),
        policy(),
    ));
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Failed);
    assert!(
        answer.text.contains("these steps wait for each other: `a` reads from `b`, `b` reads from `a`"),
        "{}",
        answer.text
    );
    assert_eq!(play.run.result("a"), None::<&Value>);
}

#[test]
fn a_raw_answer_is_the_results_as_json_without_a_model() {
    let raw = reknit_engine::Policy { synthesis: Synthesis::Raw, ..policy() };
    let mut play = Play::begin(started(Some(plan(vec![step("a", "read", "{}"), step("b", "read", "{}")])), raw));
    play.answer_tool("a/call/1", 200, r#"{"success": true, "data": {"price": 12.50}}"#);
    play.answer_tool("b/call/1", 401, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.text.as_str()), (Status::Partial, r#"{"a":{"price":12.50}}"#));
    assert_eq!((&answer.written_by, answer.spent.model_calls), (&AnswerAuthor::Raw, 0));
}

#[test]
fn without_any_result_code_writes_the_answer_and_no_model_is_asked() {
    let policy = reknit_engine::Policy { synthesis: Synthesis::Model, ..policy() };
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
    play.answer_tool("s/call/1", 403, "{}");
    let answer = play.run.answer().expect("the run has ended without a question to a model");
    assert_eq!((answer.status, &answer.written_by), (Status::Failed, &AnswerAuthor::Template));
    assert!(answer.text.starts_with("Nothing could be done.\n\nMissing:\n- s (read): failed"), "{}", answer.text);
}

#[test]
fn a_template_states_failures_before_results() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}")]);
    play.answer_tool("a/call/1", 200, r#"{"x": 1}"#);
    play.answer_tool("b/call/1", 403, "{}");
    let text = &play.run.answer().expect("the run has ended").text;
    let (missing, done) = (text.find("Missing:"), text.find("Done:"));
    assert!(missing.is_some() && missing < done, "{text}");
}
