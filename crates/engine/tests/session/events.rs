//! What programs that follow a session are told about its attempts, its waits and its notices.

use reknit_engine::event_json;
use reknit_model_api::{ModelAnswer, ModelFailure, Money};

use crate::driver::{TestDriver, rate_limited, reporting, saying};

/// The events of a kind, one in a line.
fn told(driver: &TestDriver, kind: &str) -> String {
    let events = driver.records.iter().filter_map(|record| event_json(&"run-1".into(), 1_000, record));
    let events = events.filter(|event| event.get("event").and_then(|event| event.as_str()) == Some(kind));
    events.map(|event| reknit_protocol::Value::from(event).to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_attempt_is_told_with_its_action_its_backoff_its_tokens_and_its_cost() {
    let mut driver = TestDriver::new();
    driver.answer(ModelAnswer { cost: Some(Money::from_nanos(1_200_000)), ..saying("words") });
    driver.fail(rate_limited(None));
    driver.answer(reporting("done"));
    insta::assert_snapshot!(told(&driver, "attempt"), @r#"
    {"event":"attempt","run":"run-1","at_ms":1000,"turn":1,"attempt":1,"model":"a","status":"text_only","took_ms":0,"error":"invalid response: text without tool calls","action":"retry","input_tokens":10,"output_tokens":5,"cost":0.0012}
    {"event":"attempt","run":"run-1","at_ms":1000,"turn":1,"attempt":2,"model":"b","status":"rate_limit","took_ms":0,"error":"rate limited: slow down","action":"retry"}
    {"event":"attempt","run":"run-1","at_ms":1000,"turn":1,"attempt":3,"model":"a","status":"final_report","took_ms":0,"input_tokens":10,"output_tokens":5}
    "#);
}

#[test]
fn a_wait_is_told_with_its_length_its_reason_and_what_states_its_length() {
    let mut driver = TestDriver::new();
    driver.fail(rate_limited(None));
    driver
        .fail(ModelFailure { retry_after_from: Some("error.retry_after_ms".to_owned()), ..rate_limited(Some(7_000)) });
    driver.finish_wait();
    insta::assert_snapshot!(told(&driver, "wait_started"), @r#"{"event":"wait_started","run":"run-1","at_ms":1000,"turn":1,"ms":7000,"reason":"rate_limit","source":"body error.retry_after_ms"}"#);
    insta::assert_snapshot!(told(&driver, "wait_ended"), @r#"{"event":"wait_ended","run":"run-1","at_ms":1000,"turn":1,"ms":7000,"end":"completed","reason":"rate_limit","source":"body error.retry_after_ms"}"#);
}

#[test]
fn a_notice_is_told_as_a_message_with_its_tag() {
    let mut driver = TestDriver::new();
    driver.answer(saying("words"));
    driver.answer(saying("words"));
    driver.answer(saying("words"));
    insta::assert_snapshot!(told(&driver, "notice"), @r#"
    {"event":"notice","run":"run-1","at_ms":1000,"turn":1,"role":"user","content":"System notice: plain text responses are ignored. Call a tool, or give your whole answer by calling `agent__final_report`.","metadata":{"retryMessage":"text_only"}}
    {"event":"notice","run":"run-1","at_ms":1000,"turn":2,"role":"user","content":"System notice: the last turn brought no usable answer. You must now call `agent__final_report` with the best answer that you can\ngive from what you know, and say what is missing. No other tool can be called.","metadata":{"retryMessage":"final_turn"}}
    "#);
}

#[test]
fn tokens_of_answers_that_were_thrown_away_are_counted() {
    let mut driver = TestDriver::new();
    driver.answer(saying("words"));
    driver.answer(reporting("done"));
    let spent = &driver.report().spent;
    assert_eq!((spent.wasted_tokens, spent.input_tokens, spent.output_tokens), (15, 20, 10));
}
