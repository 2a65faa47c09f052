//! Calls with an unknown outcome, and calls that need the approval of a person.

use std::sync::Arc;

use reknit_engine::{Decision, EventKind, Policy, Question, Status, UndeclaredPolicy};
use reknit_mend::PeoplePolicy;
use reknit_plan::CatalogueEntry;
use reknit_protocol::{Capability, SideEffect};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

use crate::failed_calls::BAD_AMOUNT;
use crate::world::{Play, effect_id, failure_reason, json, plan, policy, question, reply, started, step, timed_out};

#[test]
fn a_call_with_an_unknown_outcome_is_retried_unless_it_is_unsafe() {
    for (class, due) in [
        ("read", "s/retry-wait/1"),
        ("idempotent", "s/retry-wait/1"),
        ("keyed", "s/retry-wait/1"),
        ("undeclared", "s/retry-wait/1"),
        ("unsafe", "s/approval/1"),
    ] {
        for event in [timed_out("s/call/1"), EventKind::Interrupted { effect: effect_id("s/call/1") }] {
            let mut play = Play::of_steps(vec![step("s", class, r#"{"x": 1}"#)]);
            let key = play.call("s/call/1").idempotency_key;
            assert_eq!(key.is_none(), class == "read", "case: {class}");
            assert_eq!(play.call("s/call/1").needs_claim(), class != "read", "case: {class}");
            play.happen(event);
            assert_eq!(play.due()[0], due, "case: {class}");
            if class != "unsafe" {
                play.wake("s/retry-wait/1");
                assert_eq!(play.call("s/call/2").idempotency_key, key, "the same call has the same key");
            }
        }
    }
}

#[test]
fn an_unsafe_call_that_was_not_sent_is_retried() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    let failure = TransportFailure {
        kind: TransportKind::Refused,
        delivery: Delivery::NotSent,
        message: "connection refused".to_owned(),
    };
    play.happen(EventKind::ToolFailed { effect: effect_id("s/call/1"), failure });
    assert_eq!(play.due(), ["s/retry-wait/1"]);
}

#[test]
fn an_unsafe_call_with_an_unknown_outcome_fails_if_no_person_can_be_asked() {
    let policy = Policy { people: PeoplePolicy::Nobody, ..policy() };
    let mut play = Play::begin(started(Some(plan(vec![step("s", "unsafe", "{}")])), policy));
    play.happen(timed_out("s/call/1"));
    let answer = play.run.answer().expect("the run has ended");
    assert!(answer.text.contains("the call may have taken effect"), "{}", answer.text);
}

#[test]
fn a_policy_can_require_approval_for_undeclared_calls() {
    let mut policy = policy();
    policy.effects.undeclared = UndeclaredPolicy::Ask;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "undeclared", "{}")])), policy));
    play.happen(timed_out("s/call/1"));
    assert!(play.run.is_waiting_for_person());
}

#[test]
fn a_call_of_unknown_class_is_sent_without_approval_and_sent_again_only_with_it() {
    let mut policy = policy();
    policy.effects.classes.insert("t/undeclared".to_owned(), SideEffect::Unknown);
    let mut play = Play::begin(started(Some(plan(vec![step("s", "undeclared", "{}")])), policy));
    assert_eq!(play.due(), ["s/call/1"]);
    play.happen(timed_out("s/call/1"));
    assert!(play.run.is_waiting_for_person(), "{:?}", play.due());
    play.decide(Decision::Approve);
    assert_eq!(play.due(), ["s/call/2"]);
}

#[test]
fn a_decision_with_the_wrong_hash_is_ignored() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    let key = play.call("s/call/1").idempotency_key;
    play.happen(timed_out("s/call/1"));
    assert!(play.run.is_waiting_for_person());
    let ask = question(&play);
    let decided = |hash: &str, decision| EventKind::PersonDecided {
        effect: ask.id.clone(),
        hash: hash.to_owned(),
        decision,
        by: reknit_engine::DecidedBy::Person,
    };
    play.happen(decided("another", Decision::Approve));
    assert!(play.run.is_waiting_for_person(), "the hash is that of another question");
    assert_eq!(play.run.late(), 1);
    play.happen(decided(&ask.hash, Decision::Approve));
    assert_eq!(play.call("s/call/2").idempotency_key, key);
    play.happen(timed_out("s/call/2"));
    play.decide(Decision::Deny { reason: None });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn an_approval_covers_one_sent_call() {
    let refused = |delivery| TransportFailure { kind: TransportKind::Refused, delivery, message: "no".to_owned() };
    for (case, second, due) in [
        (
            "the tool rejected it",
            EventKind::ToolAnswered { effect: effect_id("s/call/2"), reply: reply(429, "{}") },
            "s/approval/2",
        ),
        (
            "it was not sent",
            EventKind::ToolFailed { effect: effect_id("s/call/2"), failure: refused(Delivery::NotSent) },
            "s/retry-wait/1",
        ),
    ] {
        let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
        play.happen(timed_out("s/call/1"));
        play.decide(Decision::Approve);
        play.happen(second);
        assert_eq!(play.due().first().map(String::as_str), Some(due), "{case}");
    }
}

#[test]
fn optional_parameters_are_not_wired_by_their_name_alone() {
    let schema = r#"{"type": "object", "required": ["symbol"], "properties":
        {"symbol": {"type": "string"}, "price": {"type": "number"}}}"#;
    let classes =
        [SideEffect::Read, SideEffect::Idempotent, SideEffect::Keyed, SideEffect::Undeclared, SideEffect::Unsafe];
    for class in classes {
        let mut order = Capability::new("order");
        order.effect = class;
        let entry = CatalogueEntry::new(order, Some(json(schema))).expect("the schema is valid");
        let mut begun =
            started(Some(plan(vec![step("quote", "read", "{}"), step("s", "order", "{}").after("quote")])), policy());
        let mut catalogue = (*begun.catalogue).clone();
        catalogue.tools[0].capabilities.push(entry);
        begun.catalogue = Arc::new(catalogue);
        let mut play = Play::begin(begun);
        play.answer_tool("quote/call/1", 200, r#"{"symbol": "TSLA", "price": 468.2}"#);
        // Where the value names something in a call that changes something, a person confirms what was found by its name.
        if ![SideEffect::Read, SideEffect::Undeclared].contains(&class) {
            play.decide(Decision::Approve);
        }
        assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"symbol":"TSLA"}"#, "{class:?}");
    }
}

#[test]
fn an_expired_approval_counts_as_denied() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    play.happen(timed_out("s/call/1"));
    play.wake("s/approval-expiry/1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.text.contains("because the time to approve it ran out"), "{}", answer.text);
}

#[test]
fn a_corrected_call_has_a_new_key_and_if_unsafe_needs_approval() {
    for (class, due) in [
        ("read", "s/call/2"),
        ("idempotent", "s/call/2"),
        ("keyed", "s/call/2"),
        ("undeclared", "s/call/2"),
        ("unsafe", "s/approval/1"),
    ] {
        let mut play = Play::of_steps(vec![step("s", class, r#"{"x": 1}"#)]);
        let key = play.call("s/call/1").idempotency_key;
        play.answer_tool("s/call/1", 400, BAD_AMOUNT);
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"x": 100}}"#);
        assert_eq!(play.due()[0], due, "case: {class}");
        if class == "unsafe" {
            play.decide(Decision::Approve);
        }
        let call = play.call("s/call/2");
        assert_eq!(
            (call.idempotency_key != key, call.idempotency_key.is_none()),
            (class != "read", class == "read"),
            "case: {class}"
        );
        assert_eq!(call.parameters.to_string(), r#"{"x":100}"#);
    }
}

#[test]
fn a_question_about_a_correction_has_the_error_the_change_and_the_reason() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"x": 1, "y": 7}"#)]);
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    let advice = r#"{"should_retry": true, "reason": "x is too small", "suggested_changes": {"x": 2}}"#;
    play.answer_model("s/feedback/1", advice);
    let Question::SendCorrected { error, change, reason, call, .. } = question(&play).question else {
        panic!("the call was corrected");
    };
    assert!(error.starts_with("400"), "{error}");
    let why = "x is too small; `x` is not changed without approval: the call must not take effect twice";
    assert_eq!((change.as_str(), reason.as_str()), ("x: 1 -> 2", why));
    assert_eq!(call.parameters.to_string(), r#"{"x":2,"y":7}"#);
}

#[test]
fn a_person_decides_after_a_server_error_of_an_unsafe_call_that_calls_itself_retryable() {
    let body = r#"{"success": false, "error": {"code": "BUSY", "message": "try again", "retryable": true}}"#;
    for status in [500, 502, 503, 504] {
        let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"x": 1}"#)]);
        play.answer_tool("s/call/1", status, body);
        assert_eq!(play.due(), ["s/approval/1", "s/approval-expiry/1"], "{status}");
        assert!(matches!(question(&play).question, Question::SendAgain { .. }), "{status}");
    }
}

#[test]
fn a_call_that_may_have_happened_is_resent_but_never_changed() {
    for class in ["idempotent", "keyed"] {
        for status in [500, 503] {
            let mut play = Play::of_steps(vec![step("s", class, r#"{"x": 1}"#)]);
            play.answer_tool("s/call/1", status, "{}");
            play.wake("s/retry-wait/1");
            assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"x":1}"#, "{class}");
            play.answer_tool("s/call/2", 422, r#"{"message": "x must be 100"}"#);
            assert_eq!(play.run.spent().model_calls, 0, "{class}: no model is asked if no correction may follow");
            let reason = failure_reason(&play);
            assert!(reason.contains("the call may have happened, so it is not changed"), "{class}: {reason}");
        }
    }
}

#[test]
fn the_rejection_of_an_interrupted_call_is_read_by_a_resend_under_the_same_key_and_mended() {
    for class in ["read", "idempotent", "keyed"] {
        let mut play = Play::of_steps(vec![step("s", class, r#"{"x": 1}"#)]);
        let key = play.call("s/call/1").idempotency_key;
        play.happen(EventKind::Interrupted { effect: effect_id("s/call/1") });
        play.wake("s/retry-wait/1");
        let again = play.call("s/call/2");
        assert_eq!((again.idempotency_key.clone(), again.parameters.to_string()), (key, r#"{"x":1}"#.to_owned()));
        play.answer_tool("s/call/2", 422, r#"{"message": "not like this"}"#);
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"x": 100}}"#);
        let corrected = play.call("s/call/3");
        assert_eq!(corrected.parameters.to_string(), r#"{"x":100}"#, "{class}");
        assert_eq!(corrected.idempotency_key == again.idempotency_key, class == "read", "{class}");
    }
}

#[test]
fn a_resend_of_an_interrupted_call_settles_nothing_if_its_answer_may_follow_from_the_first_call() {
    for (class, status) in
        [("idempotent", 404), ("idempotent", 409), ("idempotent", 410), ("undeclared", 422), ("keyed", 429)]
    {
        let mut policy = policy();
        policy.resend.times = 1;
        let mut play = Play::begin(started(Some(plan(vec![step("s", class, r#"{"x": 1}"#)])), policy));
        play.happen(EventKind::Interrupted { effect: effect_id("s/call/1") });
        play.wake("s/retry-wait/1");
        play.answer_tool("s/call/2", status, r#"{"message": "not like this"}"#);
        assert_eq!(play.run.spent().model_calls, 0, "{class} {status}");
        assert!(play.run.answer().is_some(), "{class} {status}: {:?}", play.due());
    }
}

#[test]
fn no_model_is_asked_about_an_unsafe_call_if_nobody_can_approve_its_change() {
    let nobody = || Policy { people: PeoplePolicy::Nobody, ..policy() };
    let mut rejected = Play::begin(started(Some(plan(vec![step("s", "unsafe", r#"{"x": 1}"#)])), nobody()));
    rejected.answer_tool("s/call/1", 422, "{}");
    let steps = vec![step("a", "read", "{}"), step("s", "unsafe", r#"{"x": "{{a.b}}"}"#)];
    let mut unbound = Play::begin(started(Some(plan(steps)), nobody()));
    unbound.answer_tool("a/call/1", 200, r#"{"c": 5}"#);
    for play in [rejected, unbound] {
        assert_eq!(play.run.spent().model_calls, 0);
        let reason = failure_reason(&play);
        assert!(reason.contains("no person can be asked for approval"), "{reason}");
    }
}
