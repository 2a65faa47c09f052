//! The status of a report is never better than what became of the calls.

use std::sync::Arc;

use reknit_engine::{Confirmation, ConfirmingCall, EventKind, ReportSource, ReportStatus, SessionStarted, SubAgent};
use reknit_model_api::{ErrorClass, ModelFailure};

use crate::driver::{TestDriver, calling, json, reporting, saying, started, truncated, with_rules};

const REFUND: (&str, &str) = ("shop__refund", r#"{"to": "ann", "amount": 5}"#);

/// A session that has called tools and has got these statuses.
fn called(calls: &[(&str, &str)], statuses: &[u16]) -> TestDriver {
    let mut driver = TestDriver::new();
    call(&mut driver, calls, statuses);
    driver
}

fn call(driver: &mut TestDriver, calls: &[(&str, &str)], statuses: &[u16]) {
    driver.answer(calling(calls));
    for (call, status) in driver.calls().into_iter().zip(statuses) {
        driver.reply(&call.id.to_string(), *status, r#"{"message": "no"}"#);
    }
}

fn verdict(mut driver: TestDriver, text: &str) -> (ReportStatus, usize) {
    driver.answer(reporting(text));
    (driver.report().status, driver.report().shortcomings.not_done.len())
}

#[test]
fn a_change_that_failed_makes_a_claimed_success_partial_and_is_named() {
    let mut driver = called(&[REFUND], &[400]);
    driver.answer(reporting("Paid ann 5 dollars."));
    assert_eq!(driver.report().status, ReportStatus::Partial);
    insta::assert_snapshot!(driver.report().shortcomings.not_done.join("\n"), @r#"`refund` of `shop` with {"to":"ann","amount":5} failed: 400: no"#);
}

#[test]
fn a_report_is_a_success_only_if_no_change_is_left_undone() {
    let bob = ("shop__refund", r#"{"to": "bob", "amount": 7}"#);
    let partial = (ReportStatus::Partial, 1);
    let success = (ReportStatus::Success, 0);
    for (case, turns, expected) in [
        ("all calls succeed", vec![(vec![REFUND, bob], vec![200, 200])], success),
        ("one of two changes fails", vec![(vec![REFUND, bob], vec![200, 400])], partial),
        ("the same call succeeds later", vec![(vec![REFUND], vec![400]), (vec![REFUND], vec![200])], success),
        (
            "a corrected call succeeds later",
            vec![(vec![REFUND], vec![400]), (vec![("shop__refund", r#"{"to": "ann-17", "amount": 5}"#)], vec![200])],
            success,
        ),
        (
            "a call is corrected value by value",
            vec![
                (vec![("shop__refund", r#"{"to": "eu", "of": "7", "amount": "5.0"}"#)], vec![400]),
                (vec![("shop__refund", r#"{"to": "eu", "of": 7, "amount": "5.0"}"#)], vec![400]),
                (vec![("shop__refund", r#"{"to": "ann", "of": 7, "amount": 5}"#)], vec![200]),
            ],
            success,
        ),
        ("another payment succeeds later", vec![(vec![REFUND], vec![400]), (vec![bob], vec![200])], partial),
        (
            "the call with the value of the request succeeds later",
            vec![
                (vec![("shop__refund", r#"{"of": "coffee"}"#)], vec![400]),
                (vec![("shop__refund", r#"{"of": 7}"#)], vec![200]),
            ],
            success,
        ),
        (
            "the call with the value of the request failed, and another one succeeds",
            vec![
                (vec![("shop__refund", r#"{"of": 7}"#)], vec![400]),
                (vec![("shop__refund", r#"{"of": 8}"#)], vec![200]),
            ],
            partial,
        ),
        ("the call fails twice", vec![(vec![REFUND], vec![400]), (vec![REFUND], vec![404])], partial),
        (
            "a read fails beside one that succeeds, and is listed",
            vec![(vec![("shop__look_up", r#"{"id": 7}"#), ("shop__convert", r#"{"amount": 1}"#)], vec![404, 200])],
            (ReportStatus::Success, 1),
        ),
        ("the only read fails", vec![(vec![("shop__look_up", r#"{"id": 7}"#)], vec![404])], partial),
        (
            "a read fails and another one of its kind succeeds",
            vec![
                (vec![("shop__look_up", r#"{"id": 7}"#)], vec![404]),
                (vec![("shop__look_up", r#"{"id": 8}"#)], vec![200]),
            ],
            success,
        ),
    ] {
        let mut driver = TestDriver::new();
        for (calls, statuses) in turns {
            call(&mut driver, &calls, &statuses);
        }
        assert_eq!(verdict(driver, "It is done."), expected, "{case}");
    }
}

#[test]
fn the_verdict_of_a_called_agent_reaches_its_caller() {
    let session = SessionStarted { agent: "payer".to_owned(), ..started() };
    let agent = SubAgent { name: "payer".to_owned(), description: "pays".to_owned(), session };
    let mut driver = TestDriver::begin(SessionStarted { agents: vec![agent], ..started() });
    driver.answer(calling(&[("agent__payer", r#"{"input": "Pay ann."}"#)]));
    driver.answer(calling(&[REFUND]));
    driver.reply("turn-1/call-1/turn-1/call-1/call/1", 400, r#"{"message": "no"}"#);
    driver.answer(reporting("Paid."));
    let shown = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
    assert!(shown.starts_with("Paid.\n(the status of this report is partial: `refund` of `shop`"), "{shown}");
    driver.answer(reporting("Ann was paid."));
    assert_eq!(driver.report().status, ReportStatus::Partial);
    insta::assert_snapshot!(driver.report().shortcomings.not_done.join("\n"), @r#"agent `agent__payer`: `refund` of `shop` with {"to":"ann","amount":5} failed: 400: no"#);
}

#[test]
fn a_payment_to_one_person_does_not_make_good_the_one_to_another_that_was_asked_for_too() {
    let bob = ("shop__refund", r#"{"to": "bob", "amount": 5}"#);
    for (turns, expected) in [
        (vec![(REFUND, 400), (bob, 200)], (ReportStatus::Partial, 1)),
        (vec![(REFUND, 400), (bob, 200), (REFUND, 200)], (ReportStatus::Success, 0)),
    ] {
        let mut driver =
            TestDriver::begin(SessionStarted { input: "Refund ann and bob 5 each.".to_owned(), ..started() });
        for (refund, status) in turns {
            call(&mut driver, &[refund], &[status]);
        }
        assert_eq!(verdict(driver, "Both have their 5 dollars."), expected);
    }
}

#[test]
fn a_call_makes_good_each_earlier_attempt_at_it() {
    let refund = |parameters: &'static str| ("shop__refund", parameters);
    let done = refund(r#"{"of": 42, "sku": "TEA-1", "count": 2}"#);
    let success = (ReportStatus::Success, 0);
    for (case, attempts, expected) in [
        (
            "two mistakes, each in an answer of its own",
            vec![
                vec![refund(r#"{"of": 42, "sku": "TEA", "count": 2}"#)],
                vec![refund(r#"{"of": 42, "sku": "TEA-1", "count": 0}"#)],
            ],
            success,
        ),
        ("a number as a word", vec![vec![refund(r#"{"of": 42, "sku": "tea-1", "count": "two"}"#)]], success),
        (
            "all values in one text",
            vec![vec![refund(r#"{"of": "{\"of\": 42, \"sku\": \"TEA-1\", \"count\": 2}"}"#)]],
            success,
        ),
        (
            "all values in an object",
            vec![vec![refund(r#"{"refund": {"of": 42, "sku": "TEA-1", "count": 2}}"#)]],
            success,
        ),
        (
            "another action in one text",
            vec![vec![refund(r#"{"of": "{\"of\": 43, \"sku\": \"POT-3\", \"count\": 1}"}"#)]],
            (ReportStatus::Partial, 1),
        ),
        (
            "two calls of one answer are two actions",
            vec![vec![
                refund(r#"{"of": 42, "sku": "TEA", "count": 2}"#),
                refund(r#"{"of": 42, "sku": "TEA-9", "count": 2}"#),
            ]],
            (ReportStatus::Partial, 1),
        ),
    ] {
        let input = "Refund two TEA-1 of customer 42, and one POT-3 of customer 43.".to_owned();
        let mut driver = TestDriver::begin(SessionStarted { input, ..started() });
        for attempt in attempts {
            call(&mut driver, &attempt, &[400, 400]);
        }
        call(&mut driver, &[done], &[200]);
        assert_eq!(verdict(driver, "It is done."), expected, "{case}");
    }
}

#[test]
fn a_refund_of_one_order_does_not_make_good_the_one_of_another_order_that_a_result_names() {
    for (second, expected) in [
        (r#"{"order": 9, "reason": "lost"}"#, (ReportStatus::Partial, 1)),
        // It was no order, and is now.
        (r#"{"order": 8, "reason": "lost"}"#, (ReportStatus::Success, 0)),
    ] {
        let first = if expected.1 == 1 {
            r#"{"order": 8, "reason": "lost"}"#
        } else {
            r#"{"order": "eighth", "reason": "lost"}"#
        };
        let mut driver = TestDriver::new();
        driver.answer(calling(&[("shop__look_up", "{}")]));
        driver.reply_all(r#"{"lost": [8, 9]}"#);
        call(&mut driver, &[("shop__refund", first)], &[400]);
        call(&mut driver, &[("shop__refund", second)], &[200]);
        assert_eq!(verdict(driver, "All are refunded."), expected);
    }
}

#[test]
fn a_model_can_only_lower_the_verdict() {
    let failing = calling(&[("agent__final_report", r#"{"report_content": "No.", "status": "failure"}"#)]);
    let mut driver = called(&[("shop__look_up", "{}")], &[200]);
    driver.answer(failing);
    assert_eq!(driver.report().status, ReportStatus::Failure);
}

#[test]
fn a_report_that_was_written_before_the_results_is_asked_for_again() {
    let mut driver = TestDriver::new();
    let early = ("agent__final_report", r#"{"report_content": "Lost at sea."}"#);
    driver.answer(calling(&[("shop__look_up", r#"{"id": 7}"#), early]));
    driver.reply_all(r#"{"state": "shipped"}"#);
    assert!(driver.session.report().is_none(), "its author has not seen that the order was shipped");
    let mut silent = driver.clone();
    driver.answer(reporting("It was shipped."));
    assert_eq!((driver.report().content.as_str(), driver.report().status), ("It was shipped.", ReportStatus::Success));

    while silent.session.report().is_none() {
        silent.answer(saying(""));
    }
    let report = silent.report();
    assert_eq!((report.content.as_str(), report.source), ("Lost at sea.", ReportSource::ToolCall));
    assert_eq!(report.status, ReportStatus::Partial, "a report that is accepted late is no success");
}

#[test]
fn a_kept_report_keeps_its_status_until_calls_are_made_after_it() {
    for (calls, status) in [(false, ReportStatus::Success), (true, ReportStatus::Partial)] {
        let mut driver = called(&[("shop__look_up", "{}")], &[200]);
        driver.answer(saying(r#"{"name": "agent__final_report", "arguments": {"report_content": "Sent."}}"#));
        if calls {
            call(&mut driver, &[("shop__look_up", r#"{"id": 8}"#)], &[200]);
        }
        while driver.session.report().is_none() {
            driver.answer(saying(""));
        }
        assert_eq!((driver.report().content.as_str(), driver.report().status), ("Sent.", status), "calls: {calls}");
    }
}

#[test]
fn a_kept_report_is_partial_and_names_the_failure_if_no_model_can_be_asked_any_more() {
    for (class, failure) in [
        (ErrorClass::AuthError, "the model's provider rejected the API key: unauthorized: broken"),
        (
            ErrorClass::QuotaExceeded,
            "the quota of the account with the model's provider is used up: quota exceeded: broken",
        ),
    ] {
        let mut driver = called(&[("shop__look_up", "{}")], &[200]);
        driver.answer(saying(r#"{"name": "agent__final_report", "arguments": {"report_content": "Sent."}}"#));
        driver.fail(ModelFailure::new(class, "broken"));
        let report = driver.report();
        assert_eq!((report.content.as_str(), report.status), ("Sent.", ReportStatus::Partial), "{class}");
        assert_eq!(report.shortcomings.not_done, [format!("the session ended early: {failure}")]);

        driver.apply(EventKind::FollowedUp { input: "Thank you.".to_owned() });
        driver.answer(reporting("You are welcome."));
        assert_eq!(
            (driver.report().status, driver.report().shortcomings.not_done.len()),
            (ReportStatus::Success, 0),
            "{class}"
        );
    }
}

#[test]
fn figures_are_invented_if_the_tools_of_the_agent_could_not_be_reached() {
    let catalogue = std::sync::Arc::new(reknit_plan::Catalogue { tools: Vec::new() });
    let mut driver = TestDriver::begin(SessionStarted {
        catalogue: std::sync::Arc::clone(&catalogue),
        unavailable: vec!["shop".to_owned()],
        ..started()
    });
    driver.answer(reporting("It costs 4711."));
    assert_eq!((driver.report().status, driver.report().shortcomings.doubts.len()), (ReportStatus::Partial, 1));
    let mut without_tools = TestDriver::begin(SessionStarted { catalogue, ..started() });
    without_tools.answer(reporting("It costs 4711."));
    assert_eq!(without_tools.report().status, ReportStatus::Success, "an agent without tools may know figures");
}

#[test]
fn a_placeholder_that_a_tool_accepted_is_a_doubt_unless_somebody_states_it() {
    for (input, amount, doubts) in
        [("What is it in won?", 0, 1), ("What are 0 euros in won?", 0, 0), ("What is it in won?", 5, 0)]
    {
        let mut driver = TestDriver::begin(SessionStarted { input: input.to_owned(), ..started() });
        call(&mut driver, &[("shop__convert", &format!(r#"{{"amount": {amount}}}"#))], &[200]);
        driver.answer(reporting("It was converted."));
        assert_eq!(
            driver.report().shortcomings.doubts.len(),
            doubts,
            "{input} {amount}: {:?}",
            driver.report().shortcomings.doubts
        );
    }
}

#[test]
fn what_a_call_that_changed_something_was_sent_may_be_reported() {
    for (text, doubts) in [("Paid ann 5 dollars.", 0), ("Paid ann 4711 dollars.", 1), ("Paid eve@example.com.", 1)] {
        let mut driver = called(&[REFUND], &[200]);
        driver.answer(reporting(text));
        assert_eq!(
            driver.report().shortcomings.doubts.len(),
            doubts,
            "{text}: {:?}",
            driver.report().shortcomings.doubts
        );
    }
}

#[test]
fn the_facts_of_a_message_are_its_own() {
    let mut driver = called(&[REFUND], &[400]);
    driver.answer(reporting("Refused."));
    assert_eq!(driver.report().status, ReportStatus::Partial);
    driver.apply(EventKind::FollowedUp { input: "Thank you.".to_owned() });
    driver.answer(reporting("You are welcome."));
    assert_eq!((driver.report().status, driver.report().shortcomings.not_done.len()), (ReportStatus::Success, 0));

    let mut driver = called(&[("shop__look_up", "{}")], &[200]);
    driver.answer(reporting("It was sent."));
    driver.apply(EventKind::FollowedUp { input: "What does it cost?".to_owned() });
    driver.answer(reporting("It costs 4711."));
    assert_eq!(driver.report().status, ReportStatus::Partial, "earlier calls do not vouch for new figures");
}

#[test]
fn a_session_without_a_report_quotes_the_last_text_of_its_model() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    while driver.session.report().is_none() {
        driver.answer(truncated(saying("The order was sent on Monday, and")));
    }
    let report = driver.report();
    assert_eq!(report.status, ReportStatus::Failure);
    assert!(report.content.contains("nothing confirms:\n\nThe order was sent on Monday, and"), "{}", report.content);

    let mut driver = TestDriver::begin(crate::driver::with_json_report());
    while driver.session.report().is_none() {
        driver.answer(reporting("It is 120.5."));
    }
    let content = &driver.report().content;
    assert!(content.ends_with("nothing confirms:\n\nIt is 120.5."), "a rejected report is quoted: {content}");
}

#[test]
fn a_status_inside_of_a_json_report_is_not_the_status_of_the_session() {
    use reknit_engine::{ReportFormat, ReportRules};
    let schema = crate::driver::json(
        r#"{"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}, "id": {"type": "number"}}}"#,
    );
    for report in [r#"{"status": "failed"}"#, r#"{"status": "failed", "id": "7"}"#] {
        let schema = Some(schema.clone());
        let mut driver =
            TestDriver::begin(with_rules(|rules| rules.report = ReportRules { format: ReportFormat::Json, schema }));
        driver.answer(calling(&[("agent__final_report", report)]));
        assert_eq!(driver.report().status, ReportStatus::Success, "the order failed, not the session: {report}");
    }
}

/// A session whose refunds are confirmed by a look at the order, after one refund with these replies to the two calls.
fn refunded(refund: &str, order: &str) -> TestDriver {
    let verify = ConfirmingCall {
        tool: "shop".into(),
        capability: "look_up".into(),
        parameters: json(r#"{"id": "{{result.id}}"}"#).as_object().cloned().expect("an object"),
        expect: "reply.state == 'refunded'".to_owned(),
        again: None,
    };
    let confirmation = Confirmation { expect: Some("result.amount == 5".to_owned()), verify: Some(verify) };
    let mut started = started();
    Arc::make_mut(&mut started.policy).effects.confirmations.insert("shop/refund".to_owned(), confirmation);
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[REFUND]));
    for reply in [refund, order] {
        driver.reply_all(reply);
    }
    driver
}

#[test]
fn a_call_of_an_agent_that_its_check_does_not_confirm_makes_a_claimed_success_partial() {
    for (refund, order, reason) in [
        (r#"{"id": 7, "amount": 5}"#, r#"{"state": "open"}"#, r#"`reply.state == "refunded"` is false"#),
        (r#"{"id": 7, "amount": 50}"#, "", "`expect`: `result.amount == 5` is false"),
    ] {
        let mut driver = refunded(refund, order);
        let last = driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default();
        assert!(last.contains("the call was made, but it is not confirmed: ") && last.contains(reason), "{last}");
        driver.answer(calling(&[REFUND]));
        assert_eq!(driver.calls(), [], "the call is not made again");
        driver.answer(reporting("Paid ann 5 dollars."));
        let report = driver.report();
        assert_eq!((report.status, report.shortcomings.in_doubt.len()), (ReportStatus::Partial, 1), "{report:?}");
        assert!(
            report.shortcomings.in_doubt[0].contains("was made, and is not confirmed: ")
                && report.shortcomings.in_doubt[0].contains(reason)
        );
    }
}

#[test]
fn a_call_of_an_agent_that_its_check_confirms_is_done() {
    let mut driver = refunded(r#"{"id": 7, "amount": 5}"#, r#"{"state": "refunded"}"#);
    driver.answer(reporting("Paid ann 5 dollars."));
    assert_eq!((driver.report().status, driver.report().shortcomings.in_doubt.len()), (ReportStatus::Success, 0));
}
