//! Guarantees that similar systems broke: no silent failure, no duplicate call, no useless attempt.

use reknit_engine::{AnswerAuthor, EventKind, Outcome, Policy, Status, StepState, Synthesis};
use reknit_mend::{IndependentSteps, PeoplePolicy, ResolutionPolicy, Rung};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

use crate::world::{Play, effect_id, failure_reason, plan, policy, started, step};

const CANNOT_FIX: &str = r#"{"should_retry": false, "reason": "nothing here says what is right"}"#;

fn refusal(message: &str) -> String {
    format!(r#"{{"success": false, "error": {{"code": "X", "message": "{message}", "category": "INPUT_ERROR"}}}}"#)
}

#[test]
fn a_models_plan_never_replaces_a_users_plan() {
    let given = plan(vec![reknit_protocol::Step::new("s", "gone-tool", "read", "")]);
    let play = Play::begin(started(Some(given), policy()));
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.model_calls), (Status::Failed, 0));
    assert!(answer.text.contains("there is no tool `gone-tool`"), "{}", answer.text);
}

#[test]
fn a_second_plan_is_checked_again_and_may_be_empty() {
    let unknown = r#"{"steps": [{"step_id": "s", "agent_name": "u", "metadata": {"capability": "fly"}}]}"#;
    for (second, status, due) in
        [(unknown, None, vec!["plan/ask/3".to_owned()]), (r#"{"steps": []}"#, Some(Status::Impossible), vec![])]
    {
        let mut play = Play::begin(started(None, policy()));
        play.answer_model("plan/ask/1", unknown);
        play.answer_model("plan/ask/2", second);
        assert_eq!(play.run.answer().map(|answer| answer.status), status, "case: {second}");
        assert_eq!(play.due(), due, "case: {second}");
        assert_eq!(play.run.spent().tool_calls, 0);
    }
}

#[test]
fn a_run_whose_steps_all_failed_has_failed_and_lists_their_errors() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}")]);
    play.answer_tool("a/call/1", 403, r#"{"message": "not for you"}"#);
    play.answer_tool("b/call/1", 405, r#"{"message": "not here"}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.text.contains("not for you") && answer.text.contains("not here"), "{}", answer.text);
}

#[test]
fn the_answer_prompt_lists_failures_and_a_template_replaces_a_failed_model() {
    let by_model = Policy { synthesis: Synthesis::Model, ..policy() };
    let steps = vec![step("a", "read", "{}"), step("b", "read", "{}"), step("c", "read", r#"{"x": "{{b}}"}"#)];
    let mut play = Play::begin(started(Some(plan(steps)), by_model));
    play.answer_tool("a/call/1", 200, r#"{"price": 468.285}"#);
    play.answer_tool("b/call/1", 403, r#"{"message": "not for you"}"#);
    let prompt = play.prompt("answer/ask/1");
    for text in ["468.285", "not for you", "it needs `b`, which failed"] {
        assert!(prompt.contains(text), "{text} is not in {prompt}");
    }
    for ask in 1..=3 {
        play.fail_model(&format!("answer/ask/{ask}"), reknit_model_api::ErrorClass::ModelError);
    }
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.written_by, AnswerAuthor::TemplateInstead(_)), "{:?}", answer.written_by);
    assert!(answer.text.contains("468.285") && answer.text.contains("not for you"), "{}", answer.text);
    assert_eq!(answer.status, Status::Partial);
}

#[test]
fn the_tools_message_is_kept_in_every_failure() {
    let cases: [(&str, u16, String); 5] = [
        ("unauthorized", 401, refusal("who are you")),
        ("never retried", 405, refusal("not like this")),
        (
            "not retryable",
            400,
            refusal("who are you").replace("\"INPUT_ERROR\"", "\"INPUT_ERROR\", \"retryable\": false"),
        ),
        ("redirected", 302, r#"{"message": "elsewhere"}"#.to_owned()),
        ("error envelope with status 200", 200, refusal("who are you").replace("INPUT_ERROR", "AUTH_ERROR")),
    ];
    for (case, status, body) in cases {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        play.answer_tool("s/call/1", status, &body);
        let reason = failure_reason(&play);
        let has_message = ["who are you", "not like this", "elsewhere"].iter().any(|message| reason.contains(message));
        assert!(has_message, "case: {case}: {reason}");
    }
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 404, &refusal("no such place"));
    play.answer_model("s/feedback/1", CANNOT_FIX);
    play.answer_model("s/context/1", CANNOT_FIX);
    let reason = failure_reason(&play);
    assert!(reason.contains("no such place") && reason.contains("nothing here says"), "{reason}");
}

#[test]
fn an_error_envelope_with_status_200_is_an_error() {
    let mut play = Play::of_steps(vec![step("s", "keyed", "{}")]);
    play.answer_tool("s/call/1", 200, &refusal("no such place"));
    assert_eq!(play.due(), ["s/feedback/1"]);
    for (category, due) in [
        ("INPUT_ERROR", vec!["s/context/1"]),
        ("NOT_FOUND", vec!["s/context/1"]),
        ("NEW_ERROR", vec!["s/context/1"]),
        ("AUTH_ERROR", vec![]),
    ] {
        let mut policy = policy();
        policy.mending.feedback = 0;
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
        play.answer_tool("s/call/1", 200, &refusal("no such place").replace("INPUT_ERROR", category));
        assert_eq!(play.due(), due, "the category decides as a status would: {category}");
    }
}

#[test]
fn a_step_that_waits_or_is_mended_frees_its_concurrency_slot() {
    let pending_after = |body: &str, status: u16| {
        let mut policy = policy();
        policy.limits.calls_at_once = 1;
        let mut play = Play::begin(started(Some(plan(vec![step("a", "read", "{}"), step("b", "read", "{}")])), policy));
        assert_eq!(play.due(), ["a/call/1"]);
        play.answer_tool("a/call/1", status, body);
        play.due()
    };
    assert_eq!(pending_after("{}", 500), ["a/retry-wait/1", "b/call/1"]);
    assert_eq!(pending_after("{}", 404), ["a/feedback/1", "b/call/1"]);
}

#[test]
fn a_cancellation_does_not_wait_for_backoffs_or_models_and_keeps_results() {
    for (status, waiting) in [(500, "b/retry-wait/1"), (404, "b/feedback/1")] {
        let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}")]);
        play.answer_tool("a/call/1", 200, r#"{"price": 468.285}"#);
        play.answer_tool("b/call/1", status, "{}");
        assert_eq!(play.due(), [waiting]);
        play.happen(EventKind::Cancelled);
        let answer = play.run.answer().expect("the run ends at once");
        assert_eq!(answer.status, Status::Cancelled);
        assert!(answer.text.contains("468.285"), "{}", answer.text);
    }
}

#[test]
fn mending_is_on_by_default() {
    let rules = Policy::default().mending;
    assert_eq!((rules.feedback, rules.context, rules.resolution), (2, 2, ResolutionPolicy::Once));
    assert_eq!(rules.context_statuses, [400, 404, 409, 422]);
    assert_eq!(rules.independent_steps, IndependentSteps::Allowed);
    let mut play = Play::begin(started(
        Some(plan(vec![step("s", "read", r#"{"city": "Tokio"}"#)])),
        Policy { synthesis: Synthesis::Template, ..Policy::default() },
    ));
    play.answer_tool("s/call/1", 404, "{}");
    play.answer_model("s/feedback/1", CANNOT_FIX);
    assert_eq!(play.due(), ["s/context/1"], "the context rung is on by default");
}

#[test]
fn each_rung_has_a_budget_of_its_own() {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"n": 0}"#)]);
    for (call, (rung, ask)) in (1..).zip([("feedback", 1), ("feedback", 2), ("context", 1), ("context", 2)]) {
        play.answer_tool(&format!("s/call/{call}"), 422, "{}");
        play.answer_model(
            &format!("s/{rung}/{ask}"),
            &format!(r#"{{"should_retry": true, "suggested_changes": {{"n": {call}}}}}"#),
        );
    }
    play.answer_tool("s/call/5", 422, r#"{"message": "still no"}"#);
    let reason = failure_reason(&play);
    assert!(reason.contains("still no"), "{reason}");
    assert_eq!(play.run.spent().tool_calls, 5, "the last rejected call is not repeated");
    let rungs: Vec<Rung> = play.run.steps()[0].mends.iter().map(|mend| mend.rung).collect();
    assert_eq!(rungs, [Rung::Feedback, Rung::Feedback, Rung::Context, Rung::Context], "every attempt is recorded");
}

#[test]
fn every_mending_limit_is_respected_also_zero() {
    type Change = fn(&mut Policy);
    let cases: [(&str, Change, u16, &str); 7] = [
        ("no feedback", |policy| policy.mending.feedback = 0, 404, "s/context/1"),
        ("no context", |policy| policy.mending.context = 0, 404, "s/feedback/1"),
        ("neither", |policy| (policy.mending.feedback, policy.mending.context) = (0, 0), 404, ""),
        ("no resends", |policy| policy.resend.times = 0, 500, ""),
        ("one resend", |policy| policy.resend.times = 1, 500, "s/retry-wait/1"),
        (
            "no statuses",
            |policy| {
                policy.mending.feedback = 0;
                policy.mending.context_statuses.clear();
            },
            404,
            "",
        ),
        (
            "another status",
            |policy| {
                policy.mending.feedback = 0;
                policy.mending.context_statuses = vec![418];
            },
            418,
            "s/context/1",
        ),
    ];
    for (case, change, status, due) in cases {
        let mut policy = policy();
        change(&mut policy);
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
        play.answer_tool("s/call/1", status, "{}");
        assert_eq!(play.due().join(" "), due, "case: {case}");
    }
}

#[test]
fn a_correction_works_without_parameters_and_without_a_schema() {
    let bare = reknit_protocol::Step::new("s", "t", "read", "do it");
    let mut play = Play::begin(started(Some(plan(vec![bare])), policy()));
    assert_eq!(play.call("s/call/1").parameters.to_string(), "{}");
    play.answer_tool("s/call/1", 400, &refusal("city is required"));
    let asked = play.due().first().cloned().expect("a model is asked");
    play.answer_model(&asked, CANNOT_FIX);
    play.answer_model("s/context/1", r#"{"should_retry": true, "corrected_parameters": {"city": "Paris"}}"#);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"city":"Paris"}"#);
}

#[test]
fn a_transport_failure_is_retried_without_a_model() {
    for kind in [TransportKind::Refused, TransportKind::Reset, TransportKind::TimedOut] {
        for delivery in [Delivery::NotSent, Delivery::Possible] {
            let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
            for attempt in 1..=3 {
                let failure = TransportFailure { kind, delivery, message: "connection lost".to_owned() };
                play.happen(EventKind::ToolFailed { effect: effect_id(&format!("s/call/{attempt}")), failure });
                assert_eq!(play.due(), [format!("s/retry-wait/{attempt}")], "case: {kind:?} {delivery:?}");
                play.wake(&format!("s/retry-wait/{attempt}"));
            }
            let failure = TransportFailure { kind, delivery, message: "connection lost".to_owned() };
            play.happen(EventKind::ToolFailed { effect: effect_id("s/call/4"), failure });
            assert!(failure_reason(&play).contains("connection lost"));
            assert_eq!(play.run.spent().model_calls, 0);
        }
    }
}

#[test]
fn a_reply_that_is_too_large_is_not_requested_again() {
    for class in ["read", "keyed", "undeclared", "unsafe"] {
        let mut play = Play::of_steps(vec![step("s", class, "{}")]);
        let message = "`t` answered 200, but the body is larger than 16777216 bytes".to_owned();
        let failure = TransportFailure { kind: TransportKind::TooLarge, delivery: Delivery::Possible, message };
        play.happen(EventKind::ToolFailed { effect: effect_id("s/call/1"), failure });
        let reason = failure_reason(&play);
        assert!(
            reason.contains("larger than")
                && reason.contains("the answer is too large, and another call would return the same one"),
            "{reason}"
        );
        assert_eq!((play.run.spent().tool_calls, play.run.spent().model_calls), (1, 0), "case: {class}");
    }
}

#[test]
fn an_error_without_a_retryable_flag_may_be_transient() {
    for status in [429, 503] {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        play.answer_tool("s/call/1", status, r#"{"success": false, "error": {"code": "X", "message": "busy"}}"#);
        assert_eq!(play.due(), ["s/retry-wait/1"], "case: {status}");
    }
}

#[test]
fn changes_that_are_not_an_object_do_not_repeat_the_call() {
    for changes in ["null", "[]", r#"["amount"]"#, r#""amount=1""#, "7"] {
        let mut play = Play::of_steps(vec![step("s", "read", r#"{"n": 0}"#)]);
        play.answer_tool("s/call/1", 422, "{}");
        play.answer_model("s/feedback/1", &format!(r#"{{"should_retry": false, "suggested_changes": {changes}}}"#));
        assert_eq!(play.due(), ["s/context/1"], "case: {changes}");
    }
    for changes in [r#"["n"]"#, r#""n=1""#, "7"] {
        let mut play = Play::of_steps(vec![step("s", "read", r#"{"n": 0}"#)]);
        play.answer_tool("s/call/1", 422, "{}");
        play.answer_model("s/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {changes}}}"#));
        assert_eq!(play.due(), ["s/context/1"], "unreadable changes do not repeat the call: {changes}");
    }
}

#[test]
fn an_effect_id_names_its_step() {
    let mut play =
        Play::of_steps(vec![step("late", "read", "{}"), step("a/b", "read", "{}"), step("early", "read", "{}")]);
    play.answer_tool("early/call/1", 200, "1");
    play.answer_tool("a%2Fb/call/1", 500, "{}");
    assert_eq!(play.due(), ["late/call/1", "a%2Fb/retry-wait/1"]);
    play.wake("a%2Fb/retry-wait/1");
    play.answer_tool("a%2Fb/call/2", 404, "{}");
    play.answer_model("a%2Fb/feedback/1", CANNOT_FIX);
    assert_eq!(play.due(), ["late/call/1", "a%2Fb/context/1"]);
    let states: Vec<StepState> = play.run.steps().into_iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Running, StepState::Mending(Rung::Context), StepState::Done]);
}

#[test]
fn a_run_does_not_wait_for_a_person_if_none_can_be_asked() {
    let mut play = Play::begin(started(
        Some(plan(vec![step("s", "unsafe", r#"{"n": 0}"#)])),
        Policy { people: PeoplePolicy::Nobody, ..policy() },
    ));
    play.answer_tool("s/call/1", 422, "{}");
    assert!(failure_reason(&play).contains("no person can be asked for approval"));
}

/// Steps that are rejected one after the other, each with its error code. `advice` answers for each step.
fn rejected_in_turn(codes: &[&str], advice: impl Fn(usize) -> &'static str) -> Play {
    let steps = (0..codes.len()).map(|nth| step(&format!("s{nth}"), "read", r#"{"n": 0}"#)).collect();
    let mut policy = policy();
    policy.mending.context = 0;
    let mut play = Play::begin(started(Some(plan(steps)), policy));
    for (nth, code) in codes.iter().enumerate() {
        play.answer_tool(&format!("s{nth}/call/1"), 422, &refusal("no").replace("\"X\"", &format!("{code:?}")));
        if play.due().contains(&format!("s{nth}/feedback/1")) {
            play.answer_model(&format!("s{nth}/feedback/1"), advice(nth));
        }
        if play.due().contains(&format!("s{nth}/call/2")) {
            play.answer_tool(&format!("s{nth}/call/2"), 200, "{}");
        }
    }
    play
}

#[test]
fn no_model_is_asked_after_three_steps_with_the_same_error_were_not_helped() {
    const CHANGE_N: &str = r#"{"should_retry": true, "suggested_changes": {"n": 1}}"#;
    let same = ["A"; 6];
    let play = rejected_in_turn(&same, |_| CANNOT_FIX);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.spent.model_calls, 3, "no model is asked from the fourth step on");
    let Outcome::Failed { reason, .. } = &answer.steps[5].outcome else { panic!("{answer:?}") };
    assert!(reason.contains("422 A: no") && reason.contains("other steps failed in the same way"), "{reason}");

    let play = rejected_in_turn(&same, |nth| if nth == 2 { CHANGE_N } else { CANNOT_FIX });
    assert_eq!(play.run.spent().model_calls, 6, "advice that helped once may help again");
    let play = rejected_in_turn(&["A", "A", "A", "B", "A", "B"], |_| CANNOT_FIX);
    assert_eq!(play.run.spent().model_calls, 5, "another error is counted separately");
    let play = rejected_in_turn(&["A", "A", "A", "A", "A"], |_| CHANGE_N);
    assert_eq!(play.run.answer().map(|answer| (answer.status, answer.spent.model_calls)), Some((Status::Complete, 5)));
}
