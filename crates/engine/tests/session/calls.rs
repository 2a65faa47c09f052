//! The calls of an answer: the same ladder, classes and claims as the steps of a plan.

use std::sync::Arc;

use reknit_dialogue::Purpose;
use reknit_engine::{Effect, ForcedReason, Policy, SessionStarted, What};

use crate::world::{Play, calling, json, saying, started, with_rules};

#[test]
fn the_calls_of_an_answer_are_made_at_once_and_their_results_are_told_in_order() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__look_up", r#"{"id": 7}"#), ("shop__look_up", r#"{"id": 8}"#)]));
    assert_eq!(play.due(), ["turn-1/call-1/call/1", "turn-1/call-2/call/1"]);
    play.reply("turn-1/call-2/call/1", 200, r#"{"success": true, "data": {"state": "lost"}}"#);
    assert_eq!(play.session.history().len(), 2, "nothing is said before all of them are over");
    play.reply("turn-1/call-1/call/1", 200, r#"{"state": "sent"}"#);
    let said = play.session.history().iter().skip(2).map(|message| serde_json::to_string(message).expect("it is data"));
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
    {"role":"assistant","text":"","tool_calls":[{"id":"call_1","name":"shop__look_up","arguments":"{\"id\": 7}"},{"id":"call_2","name":"shop__look_up","arguments":"{\"id\": 8}"}]}
    {"role":"tool","call":"call_1","name":"shop__look_up","text":"{\"state\":\"sent\"}"}
    {"role":"tool","call":"call_2","name":"shop__look_up","text":"{\"state\":\"lost\"}"}
    "#);
    assert_eq!(play.asked().0, "turn-2/ask/1");
}

#[test]
fn no_more_calls_are_under_way_than_allowed() {
    let mut policy = Policy::default();
    policy.limits.calls_at_once = 2;
    let mut play = Play::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    play.answer(calling(&[("look_up", "{}"); 5]));
    for left in [2, 2, 2, 2, 1] {
        assert_eq!(play.calls().len(), left);
        let id = play.calls()[0].id.to_string();
        play.reply(&id, 200, "{}");
    }
    assert_eq!(play.session.view().turn, 2);
}

#[test]
fn a_call_that_a_tool_rejects_is_mended_by_a_model_before_the_session_hears_of_it() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__look_up", r#"{"id": 7}"#)]));
    play.reply("turn-1/call-1/call/1", 400, r#"{"message": "no such thing"}"#);
    let (id, target, _) = play.asked();
    assert_eq!((id.as_str(), target.as_str()), ("turn-1/call-1/feedback/1", "a"));
    play.answer(saying(r#"{"should_retry": true, "reason": "text", "suggested_changes": {"id": "7"}}"#));
    assert_eq!(play.calls()[0].parameters.to_string(), r#"{"id":"7"}"#);
    play.reply("turn-1/call-1/call/2", 200, r#"{"state": "sent"}"#);
    assert_eq!(play.session.view().turn, 2);
    assert_eq!(play.session.spent().model_calls, 3, "the turn, the mending, the next turn");
}

#[test]
fn parameters_that_do_not_fit_are_not_sent() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__convert", r#"{"amount": "a lot"}"#)]));
    assert!(play.calls().is_empty());
    let purpose = play.session.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some(ask.purpose),
        _ => None,
    });
    assert_eq!(purpose, Some(Purpose::SemanticRetry));
    let mut play = Play::new();
    play.answer(calling(&[("shop__convert", r#"{"amount": "3"}"#)]));
    assert_eq!(play.calls()[0].parameters.get("amount"), Some(&json("3")), "what is meant is fitted");
}

#[test]
fn braces_in_parameters_mean_nothing() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__look_up", r#"{"text": "{{call-1.id}} and {{ 1 + 1 }}"}"#)]));
    assert_eq!(play.calls()[0].parameters.to_string(), r#"{"text":"{{call-1.id}} and {{ 1 + 1 }}"}"#);
}

#[test]
fn a_call_that_fails_for_good_is_a_result_and_the_turn_counts() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__look_up", "{}")]));
    play.reply("turn-1/call-1/call/1", 403, r#"{"message": "not yours"}"#);
    let last = play.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert!(last.starts_with("(tool failed: ") && last.contains("not yours"), "{last}");
    assert_eq!(play.session.view().turn, 2);
}

#[test]
fn a_call_that_changes_something_has_a_key_of_its_own_in_every_turn() {
    let mut play = Play::new();
    let mut keys = Vec::new();
    for _ in 0..2 {
        play.answer(calling(&[("shop__order", "{}"), ("shop__order", "{}")]));
        assert!(play.calls().iter().all(reknit_protocol::CallTool::needs_claim));
        keys.extend(play.calls().into_iter().filter_map(|call| call.idempotency_key));
        play.reply_all("{}");
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}

#[test]
fn a_claimed_call_that_was_interrupted_is_sent_again_under_its_key_and_an_unsafe_one_waits_for_a_person() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__order", "{}"), ("shop__refund", "{}")]));
    let key = play.calls()[0].idempotency_key.clone();
    for effect in ["turn-1/call-1/call/1", "turn-1/call-2/call/1"] {
        play.happen(What::Interrupted { effect: effect.parse().unwrap() });
    }
    play.wake();
    assert_eq!(play.calls().len(), 1, "only the one with a key is sent again");
    assert_eq!(play.calls()[0].idempotency_key, key);
    play.reply_all("{}");
    assert!(play.session.is_waiting_for_person());
    let (effect, hash) = play
        .session
        .pending()
        .into_iter()
        .find_map(|effect| if let Effect::AskPerson(ask) = effect { Some((ask.id, ask.hash)) } else { None })
        .expect("a person is asked");
    assert_eq!(effect.to_string(), "turn-1/call-2/approval/1");
    play.happen(What::PersonDecided { effect, hash, decision: reknit_engine::Decision::Deny });
    assert_eq!(play.session.view().turn, 2);
    play.answer(calling(&[("shop__refund", "{}"), ("shop__refund", r#"{"of": 7}"#)]));
    let sent: Vec<String> = play.calls().iter().map(|call| call.parameters.to_string()).collect();
    assert_eq!(sent, [r#"{"of":7}"#], "what may have happened is not made again in another turn");
}

#[test]
fn a_failure_that_is_too_long_is_cut_and_says_so() {
    let mut play = Play::begin(with_rules(|rules| rules.result_bytes = 100));
    play.answer(calling(&[("shop__look_up", "{}")]));
    let id = play.calls()[0].id.to_string();
    play.reply(&id, 403, &format!(r#"{{"message": "{}"}}"#, "x".repeat(5_000)));
    let last = play.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert!(last.len() < 200 && last.contains("bytes in all)"), "{last}");
}

#[test]
fn calls_that_cannot_be_paid_for_are_told_and_the_next_turn_is_the_last() {
    let mut policy = Policy::default();
    policy.limits.tool_calls = 1;
    let mut play = Play::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    play.answer(calling(&[("shop__look_up", "{}"), ("shop__look_up", "{}")]));
    play.reply_all("{}");
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::Budget));
    assert!(play.session.history().last().is_some_and(|message| message.text().contains("limit of 1 tool call")));
}

#[test]
fn an_answer_that_comes_twice_starts_nothing_twice() {
    let mut play = Play::new();
    let (id, ..) = play.asked();
    let answered =
        What::ModelAnswered { effect: id.as_str().parse().unwrap(), answer: calling(&[("shop__order", "{}")]) };
    play.happen(answered.clone());
    let due = play.due();
    play.happen(answered.clone());
    assert_eq!(play.due(), due);
    play.reply_all("{}");
    play.happen(answered);
    assert_eq!(play.due(), ["turn-2/ask/1"]);
    assert_eq!((play.session.late(), play.session.spent().tool_calls), (2, 1));
}
