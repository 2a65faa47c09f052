//! Tool calls of an answer: they are repaired, classified and claimed like the steps of a plan.

use std::sync::Arc;

use reknit_engine::{
    AgentMending, ApprovalRule, DecidedBy, Decision, Effect, EventKind, FinalTurnReason, Policy, Question,
    ReportStatus, SessionStarted, read_rule_file,
};
use reknit_model_api::{Message, Purpose};
use reknit_protocol::schema::Summary;
use reknit_protocol::{ReplyBody, ToolReply};

use crate::driver::{TestDriver, calling, effect_id, json, reporting, saying, started, with_rules};

#[test]
fn the_calls_of_an_answer_run_in_parallel_and_their_results_keep_the_order() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__look_up", r#"{"id": 7}"#), ("shop__look_up", r#"{"id": 8}"#)]));
    assert_eq!(driver.due(), ["turn-1/call-1/call/1", "turn-1/call-2/call/1"]);
    driver.reply("turn-1/call-2/call/1", 200, r#"{"success": true, "data": {"state": "lost"}}"#);
    assert_eq!(driver.session.history().len(), 2, "results are added when every call is over");
    driver.reply("turn-1/call-1/call/1", 200, r#"{"state": "sent"}"#);
    let messages =
        driver.session.history().iter().skip(2).map(|message| serde_json::to_string(message).expect("serializable"));
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"), @r#"
    {"role":"assistant","text":"","tool_calls":[{"id":"call_1","name":"shop__look_up","arguments":"{\"id\": 7}"},{"id":"call_2","name":"shop__look_up","arguments":"{\"id\": 8}"}]}
    {"role":"tool","call":"call_1","name":"shop__look_up","text":"{\"state\":\"sent\"}"}
    {"role":"tool","call":"call_2","name":"shop__look_up","text":"{\"state\":\"lost\"}"}
    "#);
    assert_eq!(driver.asked().0, "turn-2/ask/1");
}

#[test]
fn the_number_of_parallel_calls_is_limited() {
    let mut policy = Policy::default();
    policy.limits.calls_at_once = 2;
    let mut driver = TestDriver::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    driver.answer(calling(&[("look_up", "{}"); 5]));
    for left in [2, 2, 2, 2, 1] {
        assert_eq!(driver.calls().len(), left);
        let id = driver.calls()[0].id.to_string();
        driver.reply(&id, 200, "{}");
    }
    assert_eq!(driver.session.view().turn, 2);
}

#[test]
fn a_rejected_call_is_repaired_by_a_model_before_the_turn_ends() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.mending = AgentMending::Models));
    driver.answer(calling(&[("shop__look_up", r#"{"id": 7}"#)]));
    driver.reply("turn-1/call-1/call/1", 400, r#"{"message": "no such thing"}"#);
    let (id, target, _) = driver.asked();
    assert_eq!((id.as_str(), target.as_str()), ("turn-1/call-1/feedback/1", "a"));
    driver.answer(saying(r#"{"should_retry": true, "reason": "text", "suggested_changes": {"id": "7"}}"#));
    assert_eq!(driver.calls()[0].parameters.to_string(), r#"{"id":"7"}"#);
    driver.reply("turn-1/call-1/call/2", 200, r#"{"state": "sent"}"#);
    assert_eq!(driver.session.view().turn, 2);
    assert_eq!(driver.session.spent().model_calls, 3, "the turn, the repair, the next turn");
}

#[test]
fn parameters_that_violate_the_schema_are_not_sent() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.mending = AgentMending::Models));
    driver.answer(calling(&[("shop__convert", r#"{"amount": "a lot"}"#)]));
    assert!(driver.calls().is_empty());
    let purpose = driver.session.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some(ask.purpose),
        _ => None,
    });
    assert_eq!(purpose, Some(Purpose::SemanticRetry));
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__convert", r#"{"amount": "3"}"#)]));
    assert_eq!(driver.calls()[0].parameters.get("amount"), Some(&json("3")), "the value is coerced");
}

#[test]
fn by_default_a_rejected_call_goes_back_to_the_model_of_the_agent() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__look_up", r#"{"id": 7}"#), ("shop__convert", r#"{"amount": "a lot"}"#)]));
    driver.reply("turn-1/call-1/call/1", 404, r#"{"message": "no order 7", "did_you_mean": 8}"#);
    assert_eq!(driver.asked().0, "turn-2/ask/1");
    let results: Vec<&str> = driver.session.history().iter().rev().take(2).map(Message::text).collect();
    assert!(results[1].contains("no order 7"), "{results:?}");
    assert!(results[0].contains("amount"), "{results:?}");
    for result in results {
        assert!(result.ends_with("; the call can be made again with corrected arguments)"), "{result}");
    }
}

#[test]
fn a_rule_changes_a_value_only_if_the_agent_file_allows_it() {
    let rejection = r#"{"success": false, "error": {"code": "SYMBOL_NOT_FOUND", "message": "no such symbol",
        "category": "NOT_FOUND", "details": {"field": "symbol", "allowed_values": ["TSLA", "AAPL"]}}}"#;
    for (mending, sent) in [(AgentMending::Spelling, None), (AgentMending::Rules, Some(r#"{"symbol":"TSLA"}"#))] {
        let mut driver = TestDriver::begin(with_rules(|rules| rules.mending = mending));
        driver.answer(calling(&[("shop__look_up", r#"{"symbol": "Tesla"}"#)]));
        driver.reply("turn-1/call-1/call/1", 404, rejection);
        let calls: Vec<String> = driver.calls().iter().map(|call| call.parameters.to_string()).collect();
        assert_eq!(calls.first().map(String::as_str), sent, "{mending:?}");
    }
}

#[test]
fn a_change_of_a_call_is_told_to_the_model_and_in_the_report() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__convert", r#"{"amount": "3"}"#)]));
    driver.reply_all(r#"{"won": 4000}"#);
    let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert_eq!(last, "{\"won\":4000}\n(changed before it was sent: $.amount: \"3\" -> 3)");
    driver.answer(reporting("4000 won"));
    let mended = &driver.report().mended;
    assert_eq!((mended.len(), mended[0].call.as_str(), mended[0].tool.as_str()), (1, "call-1", "shop__convert"));
    assert_eq!(mended[0].change, "$.amount: \"3\" -> 3");
}

#[test]
fn a_call_that_was_changed_and_failed_is_not_mended() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__convert", r#"{"amount": "3"}"#)]));
    driver.reply("turn-1/call-1/call/1", 403, "{}");
    driver.answer(reporting("nothing"));
    assert_eq!(driver.report().mended, []);
    let tried = reknit_engine::MendedCall::lines_in_vain(&driver.report().tried);
    assert_eq!(tried, ["call-1 (shop__convert) in turn 1 by schema: $.amount: \"3\" -> 3"]);
}

#[test]
fn braces_in_the_parameters_of_a_call_are_literal_text() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__look_up", r#"{"text": "{{call-1.id}} and {{ 1 + 1 }}"}"#)]));
    assert_eq!(driver.calls()[0].parameters.to_string(), r#"{"text":"{{call-1.id}} and {{ 1 + 1 }}"}"#);
}

#[test]
fn a_call_that_fails_finally_is_reported_to_the_model_as_a_result() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__look_up", "{}")]));
    driver.reply("turn-1/call-1/call/1", 403, r#"{"message": "not yours"}"#);
    let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert!(last.starts_with("(tool failed: ") && last.contains("not yours"), "{last}");
    assert_eq!(driver.session.view().turn, 2);
}

#[test]
fn every_call_with_a_side_effect_has_its_own_idempotency_key() {
    let mut driver = TestDriver::new();
    let mut keys = Vec::new();
    for turn in 1..=2 {
        let order = format!(r#"{{"repeat_reason": "box {turn}"}}"#);
        driver.answer(calling(&[("shop__order", &order), ("shop__order", &order)]));
        assert!(driver.calls().iter().all(reknit_protocol::CallTool::needs_claim));
        keys.extend(driver.calls().into_iter().filter_map(|call| call.idempotency_key));
        driver.reply_all("{}");
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}

#[test]
fn an_interrupted_keyed_call_is_resent_and_an_unsafe_one_needs_approval() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__order", "{}"), ("shop__refund", "{}")]));
    let key = driver.calls()[0].idempotency_key.clone();
    for effect in ["turn-1/call-1/call/1", "turn-1/call-2/call/1"] {
        driver.apply(EventKind::Interrupted { effect: effect.parse().unwrap() });
    }
    driver.finish_wait();
    assert_eq!(driver.calls().len(), 1, "only the one with a key is sent again");
    assert_eq!(driver.calls()[0].idempotency_key, key);
    driver.reply_all("{}");
    assert!(driver.session.is_waiting_for_person());
    let (effect, hash) = driver
        .session
        .pending()
        .into_iter()
        .find_map(
            |effect| if let Effect::AskPerson(ask) = effect { Some((ask.id.clone(), ask.hash.clone())) } else { None },
        )
        .expect("a person is asked");
    assert_eq!(effect.to_string(), "turn-1/call-2/approval/1");
    driver.apply(EventKind::PersonDecided {
        effect,
        hash,
        decision: reknit_engine::Decision::Deny { reason: None },
        by: reknit_engine::DecidedBy::Person,
    });
    assert_eq!(driver.session.view().turn, 2);
    driver.answer(calling(&[("shop__refund", "{}"), ("shop__refund", r#"{"of": 7}"#)]));
    let sent: Vec<String> = driver.calls().iter().map(|call| call.parameters.to_string()).collect();
    assert_eq!(sent, [r#"{"of":7}"#], "what may have happened is not made again in another turn");
}

#[test]
fn a_long_error_is_truncated_and_states_its_full_size() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.result_bytes = 100));
    driver.answer(calling(&[("shop__look_up", "{}")]));
    let id = driver.calls()[0].id.to_string();
    driver.reply(&id, 403, &format!(r#"{{"message": "{}"}}"#, "x".repeat(5_000)));
    let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert!(last.len() < 200 && last.contains("bytes in all)"), "{last}");
}

#[test]
fn calls_beyond_the_budget_fail_and_force_the_final_turn() {
    let mut policy = Policy::default();
    policy.limits.tool_calls = 1;
    let mut driver = TestDriver::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    driver.answer(calling(&[("shop__look_up", "{}"), ("shop__look_up", "{}")]));
    driver.reply_all("{}");
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::Budget));
    assert!(driver.session.history().last().is_some_and(|message| message.text().contains("limit of 1 tool call")));
}

#[test]
fn a_duplicate_answer_starts_no_second_call() {
    let mut driver = TestDriver::new();
    let (id, ..) = driver.asked();
    let answered =
        EventKind::ModelAnswered { effect: id.as_str().parse().unwrap(), answer: calling(&[("shop__order", "{}")]) };
    driver.apply(answered.clone());
    let due = driver.due();
    driver.apply(answered.clone());
    assert_eq!(driver.due(), due);
    driver.reply_all("{}");
    driver.apply(answered);
    assert_eq!(driver.due(), ["turn-2/ask/1"]);
    assert_eq!((driver.session.late(), driver.session.spent().tool_calls), (2, 1));
}

#[test]
fn a_model_reads_why_a_person_rejected_its_call() {
    let (mut driver, ask) = asked_to_order(r#"{"count": 500}"#);
    let reason = "order at most 50".to_owned();
    driver.apply(decided(&ask, Decision::Deny { reason: Some(reason) }));
    assert_eq!(driver.session.view().turn, 2);
    let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert_eq!(last, "(tool failed: the call is not sent, because it was not approved: order at most 50)");
    driver.answer(reporting("Ordered."));
    let report = driver.session.report().expect("the session has ended");
    assert_eq!(
        (report.status, report.shortcomings.not_done.len()),
        (ReportStatus::Partial, 1),
        "the model claims what was denied"
    );
}

fn question(driver: &TestDriver) -> Option<reknit_engine::AskPerson> {
    let asked =
        |effect: Effect| if let Effect::AskPerson(ask) = effect { Some(Arc::unwrap_or_clone(ask)) } else { None };
    driver.session.pending().into_iter().find_map(asked)
}

#[test]
fn nobody_is_asked_again_about_a_call_that_a_person_denied_and_a_similar_one_says_so() {
    let (mut driver, ask) = asked_to_order(r#"{"count": 500}"#);
    driver.apply(decided(&ask, Decision::Deny { reason: None }));
    for same in [r#"{"count": 500}"#, r"{ 'count': 500 }"] {
        driver.answer(calling(&[("shop__order", same)]));
        assert_eq!((question(&driver), driver.calls().len()), (None, 0), "{same}");
        let last = last_texts(&driver, 1).join("");
        assert!(last.contains("a person denied the same call"), "{last}");
    }
    driver.answer(calling(&[("shop__order", r#"{"count": 400}"#)]));
    let ask = question(&driver).expect("another call is asked about");
    let Question::SendCall { reason, .. } = &ask.question else { panic!("{:?}", ask.question) };
    assert!(reason.ends_with(r#"you denied a similar call in this session, with {"count":500}"#), "{reason}");
    driver.apply(decided(&ask, Decision::Approve));
    assert_eq!(driver.calls().len(), 1);
}

#[test]
fn a_model_reads_what_a_person_changed_in_its_call() {
    let (mut driver, ask) = asked_to_order(r#"{"count": 500}"#);
    let parameters = reknit_protocol::Object::from([("count", 50.into())]);
    driver.apply(decided(&ask, Decision::Edit { parameters }));
    assert_eq!(driver.calls()[0].parameters.to_string(), r#"{"count":50}"#);
    driver.reply_all("{}");
    let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    let change = "edited and approved by a person: count: 500 -> 50 (rule: count > 100)";
    assert!(last.ends_with(&format!("(changed before it was sent: {change})")), "{last}");
    driver.answer(reporting("done"));
    let report = driver.session.report().expect("the session has ended");
    assert_eq!(report.approved, [format!("`order` of `shop`: {change}")]);
}

/// A session whose model has made a call that matches a rule, and the question about it.
fn asked_to_order(parameters: &str) -> (TestDriver, reknit_engine::AskPerson) {
    let mut policy = Policy::default();
    policy.approvals.rules = vec![ApprovalRule { when: Some("count > 100".to_owned()), ..ApprovalRule::default() }];
    let mut driver = TestDriver::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    driver.answer(calling(&[("shop__order", parameters)]));
    assert!(driver.calls().is_empty(), "nothing is sent before a person decided");
    let ask = driver.session.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    (driver, Arc::unwrap_or_clone(ask.expect("a person is asked")))
}

fn decided(ask: &reknit_engine::AskPerson, decision: Decision) -> EventKind {
    EventKind::PersonDecided { effect: ask.id.clone(), hash: ask.hash.clone(), decision, by: DecidedBy::Person }
}

/// The texts of the last messages of the history.
fn last_texts(driver: &TestDriver, count: usize) -> Vec<String> {
    let history = driver.session.history();
    history.iter().skip(history.len() - count).map(|message| message.text().to_owned()).collect()
}

#[test]
fn a_call_that_an_answer_has_twice_is_made_once_and_both_get_its_result() {
    let mut driver = TestDriver::new();
    let calls = [
        ("shop__order", r#"{"id": 7}"#),
        ("shop__order", r#"{"id": "7"}"#),
        ("shop__order", r#"{"id": 8}"#),
        ("shop__look_up", "{}"),
        ("shop__look_up", "{}"),
    ];
    driver.answer(calling(&calls));
    let sent: Vec<String> = driver.calls().iter().map(|call| call.id.to_string()).collect();
    let expected = ["turn-1/call-1/call/1", "turn-1/call-3/call/1", "turn-1/call-4/call/1", "turn-1/call-5/call/1"];
    assert_eq!(sent, expected, "reads may be made twice");
    driver.reply("turn-1/call-1/call/1", 200, r#"{"order": 1}"#);
    driver.reply_all("{}");
    let note = "(not called twice: it is the same call as call-1 of this turn, and this is its result; if it is needed once \
                more, call it again and state why in `repeat_reason`)";
    assert_eq!(last_texts(&driver, 5)[..2], [r#"{"order":1}"#.to_owned(), format!("{{\"order\":1}}\n{note}")]);
    driver.answer(reporting("done"));
    let repeated: Vec<_> = driver.report().repeated.iter().map(|call| (&*call.call, &*call.first_call)).collect();
    assert_eq!(repeated, [("call-2", "call-1")]);
}

#[test]
fn a_call_that_an_answer_has_twice_fails_twice_and_is_sent_twice_only_with_a_reason() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__order", r#"{"id": 7}"#), ("shop__order", r#"{"id": 7}"#)]));
    driver.reply("turn-1/call-1/call/1", 403, r#"{"message": "not yours"}"#);
    let texts = last_texts(&driver, 2);
    assert!(texts.iter().all(|text| text.starts_with("(tool failed: ") && text.contains("not yours")), "{texts:?}");
    let again = r#"{"id": 7, "repeat_reason": "a second box"}"#;
    driver.answer(calling(&[("shop__order", r#"{"id": 7}"#), ("shop__order", again)]));
    assert_eq!(driver.calls().len(), 2);
}

#[test]
fn a_layer_around_the_arguments_is_removed_although_a_required_one_seems_to_be_missing() {
    for arguments in [r#"{"arguments": {"amount": 3}}"#, r#"{"params": "{\"amount\": \"3\"}"}"#] {
        let mut driver = TestDriver::new();
        driver.answer(calling(&[("shop__convert", arguments)]));
        let sent: Vec<String> = driver.calls().iter().map(|call| call.parameters.to_string()).collect();
        assert_eq!(sent, [r#"{"amount":3}"#], "{arguments}");
    }
}

#[test]
fn a_page_instead_of_the_announced_data_of_a_read_is_asked_for_again() {
    let mut started = started();
    let catalogue = Arc::make_mut(&mut started.catalogue);
    let look_up = &mut catalogue.tools[0].capabilities[0];
    look_up.capability.output_summary = Some(Summary::default());
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[("shop__look_up", "{}")]));
    let page = ToolReply {
        status: 200,
        retry_after_ms: None,
        body: ReplyBody::Text("<html><body>Sign in</body></html>".to_owned()),
        job: None,
    };
    driver.apply(EventKind::ToolAnswered { effect: effect_id("turn-1/call-1/call/1"), reply: page });
    driver.finish_wait();
    assert_eq!(driver.due(), ["turn-1/call-1/call/2"]);
    driver.reply_all(r#"{"state": "sent"}"#);
    assert_eq!(last_texts(&driver, 1), [r#"{"state":"sent"}"#]);
}

#[test]
fn a_learned_rule_that_a_tool_rejected_is_not_used_in_later_turns() {
    let rule = "rules:\n  - {id: wrong, state: accepted, capability: shop/look_up, error: {code: NO_RATE}, \
                change: {from: {of: parameters.from, map: {Yen: JPY}}}}\n";
    let error = |from: &str| {
        format!(
            r#"{{"success": false, "error": {{"code": "NO_RATE", "category": "NOT_FOUND", "retryable": true,
                "message": "no rate from `{from}`", "details": {{"names": ["JPY"]}}}}}}"#
        )
    };
    let rules = read_rule_file(rule).expect("the rule is right").rules;
    let mut started = with_rules(|rules| rules.mending = AgentMending::Rules);
    started.policy = Arc::new(Policy { rules, ..Policy::default() });
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[("shop__look_up", r#"{"from": "Yen"}"#)]));
    driver.reply("turn-1/call-1/call/1", 404, &error("Yen"));
    assert_eq!(driver.calls()[0].parameters.to_string(), r#"{"from":"JPY"}"#, "the rule is used");
    driver.reply("turn-1/call-1/call/2", 404, &error("JPY"));
    assert_eq!(driver.session.rejected_rules().keys().collect::<Vec<_>>(), ["wrong"]);
    driver.answer(calling(&[("shop__look_up", r#"{"from": "Yen", "to": "KRW"}"#)]));
    driver.reply("turn-2/call-1/call/1", 404, &error("Yen"));
    assert_eq!(driver.calls().len(), 0, "the rule is not used again");
    let snapshot = driver.session.snapshot().expect("a snapshot");
    let restored = reknit_engine::Session::restore(&snapshot).expect("it is restored");
    assert_eq!(restored.rejected_rules().len(), 1, "the rejection is part of the state");
}
