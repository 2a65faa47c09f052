//! Runs that end early: cancelled, out of budget, past the deadline.

use reknit_engine::{Effect, EventKind, Policy, Run, Status, Synthesis};

use crate::world::{Play, effect_id, plan, policy, started, step};

fn start_with(change: impl FnOnce(&mut Policy)) -> Play {
    let mut policy = policy();
    change(&mut policy);
    Play::begin(started(
        Some(plan(vec![step("a", "read", "{}"), step("b", "keyed", "{}"), step("c", "read", r#"{"x": "{{a}}"}"#)])),
        policy,
    ))
}

#[test]
fn a_cancellation_aborts_pending_calls_and_starts_no_new_ones() {
    let mut play = start_with(|_| ());
    play.happen(EventKind::Cancelled);
    let aborted: Vec<String> = play
        .run
        .pending()
        .iter()
        .filter_map(|effect| match effect {
            Effect::Abort { effect, .. } => Some(effect.to_string()),
            Effect::CallTool(call) => panic!("{} must not start", call.id),
            _ => None,
        })
        .collect();
    assert_eq!(aborted, ["a/call/1", "b/call/1"]);
    play.answer_tool("a/call/1", 200, "1");
    play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Cancelled);
    insta::assert_snapshot!(answer.text, @"
    The run was cancelled.

    Missing:
    - b (keyed): failed (the call may have taken effect): the process that made the call ended before the answer came; the run was cancelled
    - c (read): skipped: the run was cancelled

    Done:
    - a (read): 1
    ");
}

#[test]
fn a_call_that_outlasts_the_drain_time_is_reported_as_given_up() {
    let mut play = start_with(|policy| policy.limits.drain_ms = 5_000);
    play.answer_tool("a/call/1", 200, "1");
    play.answer_tool("c/call/1", 200, "1");
    play.happen(EventKind::Cancelled);
    play.now_ms += 5_000;
    play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
    let answer = play.run.answer().expect("the run has ended");
    let given_up = "given up: no answer came within 5 s after the run was told to end; the run was cancelled";
    assert!(answer.text.contains(given_up), "{}", answer.text);
}

#[test]
fn a_run_resumed_only_to_be_cancelled_sends_and_mends_nothing() {
    for cancelled_later in [false, true] {
        let mut play = start_with(|_| ());
        let spent = play.run.spent().tool_calls;
        play.now_ms += 60_000;
        play.happen(EventKind::Resumed);
        play.now_ms += i64::from(cancelled_later);
        play.happen(EventKind::Cancelled);
        play.happen(EventKind::Interrupted { effect: effect_id("a/call/1") });
        play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
        let answer = play.run.answer().expect("the run has ended");
        assert!(answer.steps.iter().all(|step| step.mends.is_empty()), "{}", answer.text);
        // A run that is cancelled later has already repeated the read.
        assert_eq!(answer.spent.tool_calls, spent + u32::from(cancelled_later));
    }
}

#[test]
fn a_cancellation_while_planning_ends_the_run_at_once() {
    let mut play = Play::begin(started(None, policy()));
    play.happen(EventKind::Cancelled);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Cancelled));
}

#[test]
fn the_limit_of_tool_calls_ends_the_run() {
    let mut play = start_with(|policy| policy.limits.tool_calls = 2);
    play.answer_tool("a/call/1", 200, "1");
    assert_eq!(play.due(), ["b/call/1"]);
    play.answer_tool("b/call/1", 200, "1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.tool_calls), (Status::BudgetExhausted, 2));
}

#[test]
fn a_limit_that_prevented_nothing_does_not_change_the_status() {
    let mut play = start_with(|policy| policy.limits.model_calls = 0);
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
fn the_last_model_call_is_reserved_for_the_answer() {
    let mut play = start_with(|policy| {
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
fn a_snapshot_with_an_invalid_plan_is_rejected() {
    let snapshot = start_with(|_| ()).run.snapshot().expect("a run can be written to a snapshot");
    let error =
        Run::restore(&snapshot.replace(r#""agent_name":"t""#, r#""agent_name":"gone""#)).expect_err("no such tool");
    assert!(error.to_string().contains("there is no tool `gone`"), "{error}");
}

#[test]
fn the_deadline_ends_the_run_with_its_results() {
    let mut play = start_with(|policy| policy.limits.active_ms = Some(5_000));
    play.answer_tool("a/call/1", 200, "1");
    play.wake("run/deadline/1");
    assert_eq!(play.now_ms, 6_000);
    play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
    play.happen(EventKind::Interrupted { effect: effect_id("c/call/1") });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn a_call_repeated_after_a_crash_counts_again() {
    let mut play = start_with(|policy| policy.limits.tool_calls = 3);
    assert_eq!(play.run.spent().tool_calls, 2);
    play.happen(EventKind::Resumed);
    assert_eq!(play.run.spent().tool_calls, 3, "the read is sent again; the keyed call was not sent before");
    play.happen(EventKind::Resumed);
    assert_eq!(play.due(), ["b/call/1"], "the budget does not allow the read again");
    play.answer_tool("b/call/1", 200, "1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.tool_calls), (Status::BudgetExhausted, 3));
}

#[test]
fn downtime_and_waiting_for_a_person_are_not_active_time() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "unsafe", r#"{"x": "{{a}}"}"#)]);
    play.now_ms += 2_000;
    play.answer_tool("a/call/1", 500, "{}");
    play.now_ms += 1_000_000;
    play.happen(EventKind::Resumed);
    play.wake("a/retry-wait/1");
    play.answer_tool("a/call/2", 200, "1");
    play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
    assert!(play.run.is_waiting_for_person());
    let before = play.run.spent().active_ms;
    assert!((2_000..5_000).contains(&before), "the time before the crash counts: {before}");
    play.now_ms += 1_000_000;
    play.happen(EventKind::Cancelled);
    assert_eq!(play.run.spent().active_ms, before);
}

#[test]
fn a_deadline_fires_once_also_while_calls_are_being_aborted() {
    let mut play = start_with(|_| ());
    play.wake("run/deadline/1");
    let due: Vec<String> =
        play.run.pending().iter().filter_map(|effect| effect.id().map(ToString::to_string)).collect();
    assert_eq!(due, Vec::<String>::new(), "only calls are still pending");
    play.happen(EventKind::Interrupted { effect: effect_id("a/call/1") });
    play.happen(EventKind::Interrupted { effect: effect_id("b/call/1") });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn an_answer_lists_mends_that_helped_and_mends_that_were_tried() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}")]);
    let busy = r#"{"success": false, "error": {"code": "X", "message": "busy", "category": "SERVICE_ERROR"}}"#;
    play.answer_tool("a/call/1", 503, busy);
    play.wake("a/retry-wait/1");
    play.answer_tool("a/call/2", 200, "1");
    play.answer_tool("b/call/1", 503, busy);
    play.wake("b/retry-wait/1");
    play.answer_tool("b/call/2", 403, "{}");
    insta::assert_snapshot!(play.run.answer().expect("the run has ended").text, @"
    Some steps were done.

    Missing:
    - b (read): failed: 403: the tool answered 403 and said nothing more; the tool denied access; no other parameters can change that

    Done:
    - a (read): 1

    Mended:
    - a by resend: sent again after 1064 ms, for 503 X: busy

    Tried:
    - b: sent again once, not answered
    ");
}
