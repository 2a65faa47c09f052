//! The decision tables for failed calls, row by row.

use reknit_engine::Status;
use reknit_mend::IndependentSteps;

use crate::world::{Play, plan, policy, started, step};

const FIXED: &str = r#"{"should_retry": true, "reason": "typo", "suggested_changes": {"location": "Tokyo"}}"#;
const CANNOT: &str =
    r#"{"should_retry": false, "reason": "cannot fix", "suggested_changes": {}, "is_transient_error": false}"#;

fn called(status: u16, body: &str) -> Play {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"location": "Tokio"}"#)]);
    play.answer_tool("s/call/1", status, body);
    play
}

fn retryable(answer: bool) -> String {
    format!(
        r#"{{"success": false, "error": {{"code": "X", "message": "no such place", "category": "NOT_FOUND", "retryable": {answer}}}}}"#
    )
}

#[test]
fn the_retry_table_decides_by_status_and_retryable_flag() {
    for (row, status, body, due, spent) in [
        ("2xx | N/A (success) | N/A", 200, "{}".to_owned(), &[][..], 0),
        ("401/403 | Don't retry | Don't retry", 401, retryable(true), &[], 0),
        ("401/403 | Don't retry | Don't retry", 403, retryable(true), &[], 0),
        ("429 | Yes (after backoff) | No", 429, "{}".to_owned(), &["s/retry-wait/1"], 0),
        ("5xx | Yes (after backoff) | No", 500, "{}".to_owned(), &["s/retry-wait/1"], 0),
        ("5xx | Yes (after backoff) | No", 502, "{}".to_owned(), &["s/retry-wait/1"], 0),
        ("5xx | Yes (after backoff) | No", 504, "{}".to_owned(), &["s/retry-wait/1"], 0),
        ("4xx + Retryable | No | Yes", 404, retryable(true), &["s/feedback/1"], 1),
        ("4xx + Not Retryable | Don't retry | Don't retry", 404, retryable(false), &[], 0),
    ] {
        let mut play = called(status, &body);
        assert_eq!(play.due(), due, "row: {row}");
        assert_eq!(play.run.spent().model_calls, spent, "row: {row}");
        match due {
            ["s/retry-wait/1"] => {
                play.wake("s/retry-wait/1");
                assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"location":"Tokio"}"#, "row: {row}");
            }
            [] => assert!(play.run.answer().is_some(), "row: {row}"),
            _ => {}
        }
    }
}

#[test]
fn the_context_rung_follows_feedback_that_cannot_fix_a_client_error() {
    for status in [400, 404, 409, 422] {
        let mut play = called(status, "{}");
        play.answer_model("s/feedback/1", CANNOT);
        assert_eq!(play.due(), ["s/context/1"], "Tool returns 400/404/409/422 + Layer 3 says \"cannot fix\" | Yes");
    }
    assert_eq!(called(500, "{}").due(), ["s/retry-wait/1"], "Tool returns 500 (server error) | No");
    for status in [401, 403] {
        let ended = called(status, "{}").run.answer().map(|answer| answer.spent.model_calls);
        assert_eq!(ended, Some(0), "Tool returns 401/403 (auth error) | No");
    }
    let mut play = called(404, "{}");
    play.answer_model("s/feedback/1", FIXED);
    play.answer_tool("s/call/2", 200, "{}");
    assert_eq!(play.run.spent().model_calls, 1, "Layer 3 successfully corrects parameters | No (already fixed)");
    let mut play = called(404, "{}");
    play.answer_model("s/feedback/1", CANNOT);
    let prompt = play.prompt("s/context/1");
    assert!(
        prompt.contains("sell 100 shares"),
        "Independent step (no dependencies) with error | Yes (uses user query)"
    );
    assert!(prompt.contains("404"), "Independent step (no dependencies) with error | Yes (uses error context)");
    let mut policy = policy();
    policy.mending.independent_steps = IndependentSteps::Denied;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
    play.answer_tool("s/call/1", 404, "{}");
    play.answer_model("s/feedback/1", CANNOT);
    assert!(play.run.answer().is_some(), "Independent step + `EnableForIndependentSteps=false` | No");
}

#[test]
fn the_analysis_table_decides_by_should_retry_changes_and_transience() {
    let body = r#"{"error": "timeout while looking up location 'Tokio': location 'Tokio' not found"}"#;
    for (row, advice, due, parameters) in [
        (
            "`should_retry=true`, `suggested_changes` non-empty | Retry with new parameters",
            FIXED,
            Some("s/call/2"),
            r#"{"location":"Tokyo"}"#,
        ),
        (
            "`should_retry=true`, `suggested_changes` empty | Retry with same parameters (transient)",
            r#"{"should_retry": true, "reason": "timeout", "suggested_changes": {}, "is_transient_error": true}"#,
            Some("s/retry-wait/1"),
            r#"{"location":"Tokio"}"#,
        ),
        (
            "`should_retry=false`, `is_transient_error=true` | Resilience retry (backoff)",
            r#"{"should_retry": false, "reason": "timeout", "suggested_changes": {}, "is_transient_error": true}"#,
            Some("s/retry-wait/1"),
            r#"{"location":"Tokio"}"#,
        ),
        ("`should_retry=false`, `is_transient_error=false` | Don't retry", CANNOT, None, ""),
    ] {
        let mut play = called(503, body);
        assert_eq!(play.due(), ["s/feedback/1"], "the body names the input: {row}");
        play.answer_model("s/feedback/1", advice);
        let Some(due) = due else {
            assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed), "row: {row}");
            continue;
        };
        assert_eq!(play.due(), [due], "row: {row}");
        if due == "s/retry-wait/1" {
            play.wake("s/retry-wait/1");
        }
        assert_eq!(play.call("s/call/2").parameters.to_string(), parameters, "row: {row}");
    }
}

#[test]
fn a_transient_error_is_retried_even_if_the_tool_marks_it_not_retryable() {
    let body = |message: &str| {
        format!(
            r#"{{"success": false, "error": {{"code": "SERVICE_UNAVAILABLE", "message": "{message}", "category": "SERVICE_ERROR", "retryable": false}}}}"#
        )
    };
    for (retry, transient, due) in
        [(false, true, Some("s/retry-wait/1")), (true, true, Some("s/retry-wait/1")), (false, false, None)]
    {
        let mut play = called(503, &body("timeout: location 'Tokio' not found"));
        let advice = format!(
            r#"{{"should_retry": {retry}, "reason": "timeout", "suggested_changes": {{}}, "is_transient_error": {transient}}}"#
        );
        play.answer_model("s/feedback/1", &advice);
        match due {
            Some(due) => assert_eq!(play.due(), [due], "{advice}"),
            None => assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed), "{advice}"),
        }
    }
}

#[test]
fn each_kind_of_advice_activates_its_path() {
    for (row, should_retry, changes, transient, due) in [
        (
            r#"Typo fix (e.g., "Tokio" → "Tokyo") | Retry with new params"#,
            true,
            r#"{"location": "Tokyo"}"#,
            false,
            Some("s/call/2"),
        ),
        ("Transient timeout | Retry with same params", true, "{}", true, Some("s/retry-wait/1")),
        ("Permanent error (auth fail) | Don't retry", false, "{}", false, None),
        ("Transient but not fixable | Resilience retry", false, "{}", true, Some("s/retry-wait/1")),
    ] {
        // The context rung is off, so that only the effect of the advice is visible.
        let mut policy = policy();
        policy.mending.context = 0;
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"location": "Tokio"}"#)])), policy));
        play.answer_tool("s/call/1", 404, &retryable(true));
        let advice = format!(
            r#"{{"should_retry": {should_retry}, "reason": "x", "suggested_changes": {changes}, "is_transient_error": {transient}}}"#
        );
        play.answer_model("s/feedback/1", &advice);
        match due {
            Some(due) => assert_eq!(play.due(), [due], "row: {row}"),
            None => assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed), "row: {row}"),
        }
    }
}
