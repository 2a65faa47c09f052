//! Ends before the end: cancelled, out of budget, out of time.

use reknit_engine::{Effect, Policy, Run, Status, Synthesis, What};

use crate::world::{Play, plan, policy, started, step};

fn with(change: impl FnOnce(&mut Policy)) -> Play {
    let mut policy = policy();
    change(&mut policy);
    Play::begin(started(
        Some(plan(vec![step("a", "read", "{}"), step("b", "keyed", "{}"), step("c", "read", r#"{"x": "{{a}}"}"#)])),
        policy,
    ))
}

#[test]
fn after_a_cancellation_nothing_starts_and_what_is_under_way_is_stopped() {
    let mut play = with(|_| ());
    play.happen(What::Cancelled);
    let aborted: Vec<String> = play
        .run
        .pending()
        .iter()
        .filter_map(|effect| match effect {
            Effect::Abort { effect, .. } => Some(effect.to_string()),
            Effect::CallTool(call) => panic!("{} must not be made", call.id),
            _ => None,
        })
        .collect();
    assert_eq!(aborted, ["a/call/1", "b/call/1"]);
    play.answer_tool("a/call/1", 200, "1");
    play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Cancelled);
    insta::assert_snapshot!(answer.text, @r"
    The run was cancelled.

    Done:
    - a (read): 1

    Missing:
    - b (keyed): failed (it may have happened all the same): the process that made the call ended before the answer came; the run was cancelled
    - c (read): skipped: the run was cancelled
    ");
}

#[test]
fn a_call_that_outlasts_the_drain_time_is_given_up_and_not_said_to_be_lost() {
    let mut play = with(|policy| policy.limits.drain_ms = 5_000);
    play.answer_tool("a/call/1", 200, "1");
    play.answer_tool("c/call/1", 200, "1");
    play.happen(What::Cancelled);
    play.now_ms += 5_000;
    play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
    let answer = play.run.answer().expect("the run has ended");
    let given_up = "given up: no answer came within 5 s after the run was told to end; the run was cancelled";
    assert!(answer.text.contains(given_up), "{}", answer.text);
}

#[test]
fn who_takes_a_run_over_to_end_it_sends_nothing_again_and_counts_nothing() {
    for told_while_driven in [false, true] {
        let mut play = with(|_| ());
        let spent = play.run.spent().tool_calls;
        play.now_ms += 60_000;
        play.happen(What::Resumed);
        play.now_ms += i64::from(told_while_driven);
        play.happen(What::Cancelled);
        play.happen(What::Interrupted { effect: "a/call/1".parse().unwrap() });
        play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
        let answer = play.run.answer().expect("the run has ended");
        assert!(answer.steps.iter().all(|step| step.mends.is_empty()), "{}", answer.text);
        // Of a run that was driven on, the read was begun once more.
        assert_eq!(answer.spent.tool_calls, spent + u32::from(told_while_driven));
    }
}

#[test]
fn a_cancellation_while_planning_ends_the_run_at_once() {
    let mut play = Play::begin(started(None, policy()));
    play.happen(What::Cancelled);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Cancelled));
}

#[test]
fn no_more_tools_are_called_than_allowed() {
    let mut play = with(|policy| policy.limits.tool_calls = 2);
    play.answer_tool("a/call/1", 200, "1");
    assert_eq!(play.due(), ["b/call/1"]);
    play.answer_tool("b/call/1", 200, "1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.tool_calls), (Status::BudgetExhausted, 2));
}

#[test]
fn a_limit_that_kept_nothing_from_being_done_is_not_the_end_of_the_story() {
    let mut play = with(|policy| policy.limits.model_calls = 0);
    play.answer_tool(
        "b/call/1",
        503,
        r#"{"success": false, "error": {"code": "X", "message": "busy", "category": "SERVICE_ERROR"}}"#,
    );
    play.wake("b/retry-wait/1");
    play.answer_tool(
        "b/call/2",
        503,
        r#"{"success": false, "error": {"code": "X", "message": "busy", "category": "SERVICE_ERROR"}}"#,
    );
    play.wake("b/retry-wait/2");
    for effect in ["b/call/3", "a/call/1", "c/call/1"] {
        play.answer_tool(effect, 200, "1");
    }
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Complete));
}

#[test]
fn the_last_question_is_kept_for_the_answer() {
    let mut play = with(|policy| {
        policy.limits.model_calls = 1;
        policy.synthesis = Synthesis::Model;
    });
    play.answer_tool("a/call/1", 400, "{}");
    play.answer_tool("b/call/1", 200, "1");
    assert_eq!(play.due(), ["answer/ask/1"]);
    play.answer_model("answer/ask/1", "One thing is missing.");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.model_calls), (Status::BudgetExhausted, 1));
}

#[test]
fn a_snapshot_whose_plan_cannot_run_is_refused_and_not_read_as_an_empty_one() {
    let snapshot = with(|_| ()).run.snapshot().expect("it can be written");
    let error =
        Run::restore(&snapshot.replace(r#""agent_name":"t""#, r#""agent_name":"gone""#)).expect_err("no such tool");
    assert!(error.to_string().contains("there is no tool `gone`"), "{error}");
}

#[test]
fn time_that_runs_out_ends_the_run_with_what_there_is() {
    let mut play = with(|policy| policy.limits.active_ms = 5_000);
    play.answer_tool("a/call/1", 200, "1");
    play.wake("run/deadline/1");
    assert_eq!(play.now_ms, 6_000);
    play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
    play.happen(What::Interrupted { effect: "c/call/1".parse().unwrap() });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn what_is_done_again_after_a_crash_is_paid_for_again() {
    let mut play = with(|policy| policy.limits.tool_calls = 3);
    assert_eq!(play.run.spent().tool_calls, 2);
    play.happen(What::Resumed);
    assert_eq!(play.run.spent().tool_calls, 3, "the read is sent again; the keyed call was never claimed");
    play.happen(What::Resumed);
    assert_eq!(play.due(), ["b/call/1"], "there is nothing left to pay for the read with");
    play.answer_tool("b/call/1", 200, "1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.tool_calls), (Status::BudgetExhausted, 3));
}

#[test]
fn time_without_a_process_and_time_with_a_person_do_not_count() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "unsafe", r#"{"x": "{{a}}"}"#)]);
    play.now_ms += 2_000;
    play.answer_tool("a/call/1", 500, "{}");
    play.now_ms += 1_000_000;
    play.happen(What::Resumed);
    play.wake("a/retry-wait/1");
    play.answer_tool("a/call/2", 200, "1");
    play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
    assert!(play.run.is_waiting_for_person());
    let before = play.run.spent().active_ms;
    assert!((2_000..5_000).contains(&before), "what was before the crash counts: {before}");
    play.now_ms += 1_000_000;
    play.happen(What::Cancelled);
    assert_eq!(play.run.spent().active_ms, before);
}

#[test]
fn a_deadline_comes_only_once_also_while_calls_are_being_stopped() {
    let mut play = with(|_| ());
    play.wake("run/deadline/1");
    let due: Vec<String> =
        play.run.pending().iter().filter_map(|effect| effect.id().map(ToString::to_string)).collect();
    assert_eq!(due, Vec::<String>::new(), "only what is under way is still waited for");
    play.happen(What::Interrupted { effect: "a/call/1".parse().unwrap() });
    play.happen(What::Interrupted { effect: "b/call/1".parse().unwrap() });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn what_did_not_help_is_said_to_be_tried_and_not_mended() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}")]);
    let busy = r#"{"success": false, "error": {"code": "X", "message": "busy", "category": "SERVICE_ERROR"}}"#;
    play.answer_tool("a/call/1", 503, busy);
    play.wake("a/retry-wait/1");
    play.answer_tool("a/call/2", 200, "1");
    play.answer_tool("b/call/1", 503, busy);
    play.wake("b/retry-wait/1");
    play.answer_tool("b/call/2", 403, "{}");
    insta::assert_snapshot!(play.run.answer().expect("the run has ended").text, @r#"
    Some of it was done.

    Done:
    - a (read): 1

    Mended:
    - a by resend: sent again after 1165 ms, for 503 X: busy

    Tried:
    - b by resend: sent again after 1092 ms, for 503 X: busy

    Missing:
    - b (read): failed: 403: the tool answered 403 and said nothing more; the tool does not let us in; no other parameters can change that
    "#);
}
