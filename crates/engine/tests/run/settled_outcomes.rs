//! Calls with an unknown outcome that a person or a check settles.

use reknit_engine::{Decision, EventKind, IfAbsent, Outcome, OutcomeCheck, Policy, Question, Status};
use reknit_mend::PeoplePolicy;
use reknit_protocol::{SideEffect, Value};

use crate::failed_calls::BAD_AMOUNT;
use crate::world::{Play, answer, json, object, plan, policy, question, started, step, timed_out};

const PAY: &str = r#"{"order_id": 7, "amount": 12.5}"#;

/// A run of a call whose outcome is unknown. `t/read` finds the payments of an order.
fn checked(class: &str, if_absent: IfAbsent, people: PeoplePolicy) -> Play {
    let check = OutcomeCheck {
        tool: "t".into(),
        capability: "read".into(),
        parameters: object(r#"{"order": "{{call.order_id}}", "key": "{{key}}"}"#),
        happened: "len(reply.items) > 0".to_owned(),
        result: Some("reply.items[0]".to_owned()),
        if_absent,
    };
    let mut policy = Policy { people, ..policy() };
    policy.resend.times = 1;
    policy.effects.checks.insert(format!("t/{class}"), check);
    let steps = vec![step("s", class, PAY), step("after", "read", r#"{"id": "{{s.id}}"}"#)];
    let mut play = Play::begin(started(Some(plan(steps)), policy));
    play.happen(timed_out("s/call/1"));
    if class == "keyed" {
        play.wake("s/retry-wait/1");
        play.happen(timed_out("s/call/2"));
    }
    play
}

fn unsafe_call() -> Play {
    checked("unsafe", IfAbsent::Ask, PeoplePolicy::Ask)
}

#[test]
fn a_person_can_say_that_a_call_took_effect_and_with_which_result() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", PAY), step("after", "read", r#"{"id": "{{s.id}}"}"#)]);
    play.happen(timed_out("s/call/1"));
    play.decide(Decision::Happened { result: json(r#"{"id": 9}"#) });
    assert_eq!(play.call("after/call/1").parameters.to_string(), r#"{"id":9}"#);
    play.answer_tool("after/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Complete);
    assert_eq!(answer.steps[0].calls, 1, "the call is not sent again");
    assert_eq!(answer.steps[0].mends[0].description, "a person said that the call took effect");
}

#[test]
fn a_call_that_did_not_happen_is_sent_again_and_may_then_be_corrected() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"amount": 0}"#)]);
    let key = play.call("s/call/1").idempotency_key;
    play.happen(timed_out("s/call/1"));
    play.decide(Decision::DidNotHappen);
    assert_eq!(play.call("s/call/2").idempotency_key, key);
    play.answer_tool("s/call/2", 400, BAD_AMOUNT);
    assert_eq!(play.due(), ["s/feedback/1"], "nothing happened so far, so a model may correct the call");
}

#[test]
fn a_refused_call_cannot_be_settled() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"amount": 0}"#)]);
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    let advice = r#"{"should_retry": true, "reason": "r", "suggested_changes": {"amount": 100}}"#;
    play.answer_model("s/feedback/1", advice);
    assert!(matches!(question(&play).question, Question::SendCorrected { .. }));
    play.decide(Decision::Happened { result: Value::Null });
    assert!(play.run.is_waiting_for_person(), "the question is still open");
}

#[test]
fn a_check_that_might_change_something_is_not_called() {
    for (capability, reason) in [
        ("unsafe", "the side effect class of `t/unsafe` is `unsafe`, not `read`"),
        ("gone", "there is no capability `t/gone`"),
    ] {
        let (mut policy, [tool, capability]) = (policy(), ["t", capability]);
        let (parameters, happened) = (object("{}"), "true".to_owned());
        let check = OutcomeCheck {
            tool: tool.into(),
            capability: capability.into(),
            parameters,
            happened,
            result: None,
            if_absent: IfAbsent::SendAgain,
        };
        policy.effects.checks.insert("t/unsafe".to_owned(), check);
        let mut play = Play::begin(started(Some(plan(vec![step("s", "unsafe", PAY)])), policy));
        play.happen(timed_out("s/call/1"));
        let Question::SendAgain { check: Some(words), .. } = question(&play).question else {
            panic!("a person decides")
        };
        assert!(words.ends_with(reason), "{words}");
    }
}

#[test]
fn a_check_is_called_before_a_person_is_asked() {
    let mut play = unsafe_call();
    assert_eq!(play.due(), ["s/check/1"]);
    let call = play.call("s/check/1");
    assert_eq!((call.capability.as_str(), call.side_effect), ("read", SideEffect::Read));
    assert_eq!(call.idempotency_key, None);
    let key = call.parameters.get("key").and_then(Value::as_str).expect("the key of the call");
    assert!(key.len() > 8, "{key}");
    assert_eq!(call.parameters.get("order"), Some(&json("7")));
    play.answer_tool("s/check/1", 200, r#"{"items": [{"id": 9}]}"#);
    assert_eq!(play.call("after/call/1").parameters.to_string(), r#"{"id":9}"#);
    play.answer_tool("after/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.steps[0].mends[0].description, "`read` of `t` shows that the call took effect");
    assert_eq!(answer.spent.tool_calls, 3, "the check is paid for");
}

#[test]
fn a_person_sees_what_the_check_found_and_can_have_it_repeated() {
    for (status, body, found) in [
        (200, r#"{"items": []}"#, "`read` of `t` does not find the call"),
        (503, "{}", "`read` of `t` does not tell whether the call took effect: it answered with status 503"),
        (
            200,
            r#"{"success": false, "error": {"message": "the database is down"}, "items": [{"id": 1}]}"#,
            "`read` of `t` does not tell whether the call took effect: it answered with an error or a page",
        ),
        (
            200,
            r#""<html><body>Log in</body></html>""#,
            "`read` of `t` does not tell whether the call took effect: it answered with an error or a page",
        ),
        (
            200,
            r#"{"found": 1}"#,
            "`read` of `t` does not tell whether the call took effect: `len(reply.items) > 0` has no value: ",
        ),
    ] {
        let mut play = unsafe_call();
        play.answer_tool("s/check/1", status, body);
        let Question::SendAgain { check, .. } = question(&play).question else { panic!("another question") };
        let check = check.expect("the check was made");
        assert!(check.starts_with(found), "{check}");
        play.decide(Decision::Check);
        play.answer_tool("s/check/2", 200, r#"{"items": [{"id": 9}]}"#);
        assert_eq!(play.due(), ["after/call/1"]);
    }
}

#[test]
fn a_call_that_the_check_does_not_find_is_sent_again_only_if_the_check_says_so() {
    let mut play = checked("unsafe", IfAbsent::SendAgain, PeoplePolicy::Ask);
    play.answer_tool("s/check/1", 200, r#"{"items": []}"#);
    assert_eq!(play.due(), ["s/call/2"]);
    play.happen(timed_out("s/call/2"));
    play.answer_tool("s/check/2", 200, r#"{"items": []}"#);
    assert!(play.run.is_waiting_for_person(), "the resends are used up");
}

#[test]
fn a_check_settles_a_call_that_is_given_up() {
    for (class, people) in [("keyed", PeoplePolicy::Ask), ("unsafe", PeoplePolicy::Nobody)] {
        let mut play = checked(class, IfAbsent::Ask, people);
        assert_eq!(play.due(), ["s/check/1"], "{class}");
        play.answer_tool("s/check/1", 200, r#"{"items": [{"id": 9}]}"#);
        assert_eq!(play.due(), ["after/call/1"], "{class}");

        let mut play = checked(class, IfAbsent::Ask, people);
        play.happen(timed_out("s/check/1"));
        let Outcome::Failed { reason, .. } = &answer(&play).steps[0].outcome else { panic!("{class}: it failed") };
        assert!(reason.ends_with("does not tell whether the call took effect: too slow"), "{class}: {reason}");
    }
}

#[test]
fn a_run_that_is_cancelled_during_a_check_ends() {
    let mut play = unsafe_call();
    play.happen(EventKind::Cancelled);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Cancelled));
}
