//! Errors that a tool reports in a structured form, and errors about types: which remedy they get, by side effect.

use reknit_engine::{Record, RecordKind, RunRecord};

use crate::world::{Play, failure_reason, step};

const FIXED: &str = r#"{"should_retry": true, "reason": "typo", "suggested_changes": {"location": "Tokyo"}}"#;

fn called(capability: &str, status: u16, body: &str) -> Play {
    let mut play = Play::of_steps(vec![step("s", capability, r#"{"location": "Tokio"}"#)]);
    play.answer_tool("s/call/1", status, body);
    play
}

fn service_error(message: &str, flag: &str) -> String {
    format!(
        r#"{{"success": false, "error": {{"code": "SERVICE_UNAVAILABLE", "message": "{message}", "category": "SERVICE_ERROR"{flag}}}}}"#
    )
}

#[test]
fn a_structured_503_about_the_input_is_corrected_unless_the_call_may_have_happened() {
    let body = service_error("timeout: location 'Tokio' not found", "");
    for (capability, due) in [
        ("read", "s/feedback/1"),
        ("undeclared", "s/feedback/1"),
        ("idempotent", "s/retry-wait/1"),
        ("keyed", "s/retry-wait/1"),
        ("unsafe", "s/approval/1"),
    ] {
        let mut play = called(capability, 503, &body);
        assert_eq!(play.due().first().map(String::as_str), Some(due), "{capability}");
        if due == "s/feedback/1" {
            play.answer_model("s/feedback/1", FIXED);
            assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"location":"Tokyo"}"#, "{capability}");
        }
    }
}

#[test]
fn a_structured_503_is_analysed_after_a_resend_but_never_reaches_the_context_rung() {
    let mut play = called("undeclared", 503, &service_error("busy, request 1", ""));
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 503, &service_error("busy, request 2", ""));
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "it is down"}"#);
    assert!(failure_reason(&play).contains("it is down"));
    assert_eq!(play.run.spent().model_calls, 1);
}

#[test]
fn other_structured_server_errors_are_resent_and_not_analysed() {
    for status in [500, 502, 504] {
        let mut play = called("undeclared", status, &service_error("location 'Tokio' not found", ""));
        for resend in 1..=3 {
            play.wake(&format!("s/retry-wait/{resend}"));
            play.answer_tool(&format!("s/call/{}", resend + 1), status, &service_error("no", ""));
        }
        assert!(failure_reason(&play).contains("sent again 3 times"), "{}", failure_reason(&play));
        assert_eq!(play.run.spent().model_calls, 0, "{status}");
    }
}

#[test]
fn no_model_is_asked_about_a_call_that_may_have_happened() {
    let mut play = called("keyed", 500, "{}");
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 422, r#"{"message": "no such place"}"#);
    assert_eq!(play.run.spent().model_calls, 0);
    assert!(failure_reason(&play).contains("the call may have happened, so it is not changed"));
}

#[test]
fn the_retryable_flag_of_a_server_error_stops_unless_it_is_contradicted() {
    let unset = r#", "retryable": false"#;
    let waits = r#", "retryable": false, "details": {"retry_after": "5s"}"#;
    let limit = r#"{"success": false, "error": {"code": "RATE_LIMIT", "message": "slow down", "retryable": false}}"#;
    for (case, status, body, due) in [
        ("a server error", 500, service_error("no", unset), ""),
        ("an unavailable service", 503, service_error("no", unset), "s/feedback/1"),
        ("a stated wait", 500, service_error("no", waits), "s/retry-wait/1"),
        ("too many requests", 429, service_error("no", unset), "s/retry-wait/1"),
        ("the code of a rate limit", 500, limit.to_owned(), "s/retry-wait/1"),
    ] {
        assert_eq!(called("undeclared", status, &body).due().join(" "), due, "{case}");
    }
}

#[test]
fn an_analysis_that_calls_an_error_transient_outweighs_the_flag_for_later_calls_too() {
    let body = service_error("no", r#", "retryable": false"#);
    let mut play = called("undeclared", 503, &body);
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "busy", "is_transient_error": true}"#);
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 503, &body);
    assert_eq!(play.due(), ["s/retry-wait/2"]);
}

#[test]
fn a_type_error_reaches_the_feedback_rung_whatever_status_and_flag_say() {
    for status in [400, 422, 429, 500, 502, 503] {
        for message in [
            "json: cannot unmarshal string into Go value of type float64",
            "type mismatch",
            "invalid type for location",
            "location: expected number",
            "expected boolean",
        ] {
            let play = called("keyed", status, &service_error(message, r#", "retryable": false"#));
            assert_eq!(play.due(), ["s/feedback/1"], "{status} {message}");
            let is_type_error = |record: &Record| match &record.kind {
                RecordKind::Run(RunRecord::RungStarted(start)) => start.is_type_error,
                _ => false,
            };
            assert!(play.records.iter().any(is_type_error), "{status} {message}");
        }
    }
}

#[test]
fn an_invalid_value_is_a_type_error_only_where_the_tool_blames_the_call() {
    let body = service_error("invalid value for location", r#", "retryable": false"#);
    assert_eq!(called("keyed", 400, &body).due(), ["s/feedback/1"]);
    assert_eq!(called("keyed", 500, &body).due().join(" "), "");
}
