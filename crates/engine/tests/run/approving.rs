//! Calls that may have happened, and what only a person may decide.

use std::sync::Arc;

use reknit_engine::{Decision, Policy, Status, Undeclared, What};
use reknit_mend::People;
use reknit_plan::Entry;
use reknit_protocol::{Capability, SideEffect};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

use crate::mending::BAD_AMOUNT;
use crate::world::{Play, json, plan, policy, question, reply, started, step};

fn timed_out(effect: &str) -> What {
    let failure = TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: "too slow".to_owned(),
    };
    What::ToolFailed { effect: effect.parse().unwrap(), failure }
}

#[test]
fn a_call_that_may_have_happened_is_treated_by_its_class() {
    for (class, due) in [
        ("read", "s/retry-wait/1"),
        ("idempotent", "s/retry-wait/1"),
        ("keyed", "s/retry-wait/1"),
        ("undeclared", "s/retry-wait/1"),
        ("unsafe", "s/approval/1"),
    ] {
        for what in [timed_out("s/call/1"), What::Interrupted { effect: "s/call/1".parse().unwrap() }] {
            let mut play = Play::of_steps(vec![step("s", class, r#"{"x": 1}"#)]);
            let key = play.call("s/call/1").idempotency_key;
            assert_eq!(key.is_none(), class == "read", "case: {class}");
            play.happen(what);
            assert_eq!(play.due()[0], due, "case: {class}");
            if class != "unsafe" {
                play.wake("s/retry-wait/1");
                assert_eq!(play.call("s/call/2").idempotency_key, key, "the same call has the same key");
            }
        }
    }
}

#[test]
fn an_unsafe_call_that_never_left_is_simply_sent_again() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    let failure = TransportFailure {
        kind: TransportKind::Refused,
        delivery: Delivery::NotSent,
        message: "nobody there".to_owned(),
    };
    play.happen(What::ToolFailed { effect: "s/call/1".parse().unwrap(), failure });
    assert_eq!(play.due(), ["s/retry-wait/1"]);
}

#[test]
fn nobody_to_ask_means_that_an_unsafe_call_is_left_in_doubt() {
    let policy = Policy { people: People::Nobody, ..policy() };
    let mut play = Play::begin(started(Some(plan(vec![step("s", "unsafe", "{}")])), policy));
    play.happen(timed_out("s/call/1"));
    let answer = play.run.answer().expect("the run has ended");
    assert!(answer.text.contains("it may have happened all the same"), "{}", answer.text);
}

#[test]
fn a_cautious_user_is_asked_about_undeclared_calls_too() {
    let mut policy = policy();
    policy.effects.undeclared = Undeclared::Ask;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "undeclared", "{}")])), policy));
    play.happen(timed_out("s/call/1"));
    assert!(play.run.is_waiting_for_person());
}

#[test]
fn a_decision_counts_only_for_the_question_it_names() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    let key = play.call("s/call/1").idempotency_key;
    play.happen(timed_out("s/call/1"));
    assert!(play.run.is_waiting_for_person());
    let ask = question(&play);
    let decided =
        |hash: &str, decision| What::PersonDecided { effect: ask.id.clone(), hash: hash.to_owned(), decision };
    play.happen(decided("another", Decision::Approve));
    assert!(play.run.is_waiting_for_person(), "it was not about this question");
    assert_eq!(play.run.late(), 1);
    play.happen(decided(&ask.hash, Decision::Approve));
    assert_eq!(play.call("s/call/2").idempotency_key, key);
    play.happen(timed_out("s/call/2"));
    let ask = question(&play);
    play.happen(What::PersonDecided { effect: ask.id.clone(), hash: ask.hash, decision: Decision::Deny });
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn a_persons_word_is_good_for_one_call_that_has_left() {
    let refused = |delivery| TransportFailure { kind: TransportKind::Refused, delivery, message: "no".to_owned() };
    for (case, second, due) in [
        (
            "the tool turned it away",
            What::ToolAnswered { effect: "s/call/2".parse().unwrap(), reply: reply(429, "{}") },
            "s/approval/2",
        ),
        (
            "it never left",
            What::ToolFailed { effect: "s/call/2".parse().unwrap(), failure: refused(Delivery::NotSent) },
            "s/retry-wait/1",
        ),
    ] {
        let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
        play.happen(timed_out("s/call/1"));
        let ask = question(&play);
        play.happen(What::PersonDecided { effect: ask.id.clone(), hash: ask.hash, decision: Decision::Approve });
        play.happen(second);
        assert_eq!(play.due().first().map(String::as_str), Some(due), "{case}");
    }
}

#[test]
fn a_call_that_changes_something_gets_no_parameter_that_nobody_asked_for() {
    let schema = r#"{"type": "object", "required": ["symbol"], "properties":
        {"symbol": {"type": "string"}, "price": {"type": "number"}}}"#;
    for (class, sent) in [
        (SideEffect::Read, r#"{"symbol":"TSLA","price":468.2}"#),
        (SideEffect::Idempotent, r#"{"symbol":"TSLA"}"#),
        (SideEffect::Keyed, r#"{"symbol":"TSLA"}"#),
        (SideEffect::Undeclared, r#"{"symbol":"TSLA"}"#),
        (SideEffect::Unsafe, r#"{"symbol":"TSLA"}"#),
    ] {
        let mut order = Capability::new("order");
        order.effect = class;
        let entry = Entry::new(order, Some(json(schema))).expect("the schema is one");
        let mut begun =
            started(Some(plan(vec![step("quote", "read", "{}"), step("s", "order", "{}").after("quote")])), policy());
        let mut catalogue = (*begun.catalogue).clone();
        catalogue.tools[0].capabilities.push(entry);
        begun.catalogue = Arc::new(catalogue);
        let mut play = Play::begin(begun);
        play.answer_tool("quote/call/1", 200, r#"{"symbol": "TSLA", "price": 468.2}"#);
        assert_eq!(play.call("s/call/1").parameters.to_string(), sent, "{class:?}");
    }
}

#[test]
fn a_question_that_nobody_answers_in_time_counts_as_denied() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    play.happen(timed_out("s/call/1"));
    play.wake("s/approval-expiry/1");
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn a_corrected_call_has_a_new_key_and_an_unsafe_one_a_person_who_allowed_it() {
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
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"x": 2}}"#);
        assert_eq!(play.due()[0], due, "case: {class}");
        if class == "unsafe" {
            let ask = question(&play);
            play.happen(What::PersonDecided { effect: ask.id.clone(), hash: ask.hash, decision: Decision::Approve });
        }
        let call = play.call("s/call/2");
        assert_eq!(
            (call.idempotency_key != key, call.idempotency_key.is_none()),
            (class != "read", class == "read"),
            "case: {class}"
        );
        assert_eq!(call.parameters.to_string(), r#"{"x":2}"#);
    }
}
