//! Every session ends with exactly one report.

use reknit_engine::{
    CollapseReason, FinalTurnReason, ReportFormat, ReportRules, ReportSource, ReportStatus, SessionExit, SessionRecord,
    SyntheticReason,
};
use reknit_model_api::ErrorClass;

use crate::driver::{TestDriver, calling, json, reporting, saying, started, truncated, with_json_report, with_rules};

fn collapses(driver: &TestDriver) -> Vec<(u32, CollapseReason, u32, u32)> {
    let collapse = |record: &SessionRecord| match record {
        SessionRecord::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
            Some((*turn, *reason, *previous_max_turns, *new_max_turns))
        }
        _ => None,
    };
    driver.session_records().iter().filter_map(collapse).collect()
}

#[test]
fn a_report_ends_the_session() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.answer(reporting("Order 7 was **sent**."));
    let report = driver.report();
    assert_eq!(report.content, "Order 7 was **sent**.");
    assert_eq!((report.exit, report.source), (SessionExit::FinalAnswer, ReportSource::ToolCall));
    assert_eq!((report.turn, report.forced_final_reason, report.status), (2, None, ReportStatus::Success));
    assert_eq!((report.spent.model_calls, report.spent.tool_calls, report.totals.attempts), (2, 1, 2));
    assert_eq!(driver.due(), Vec::<String>::new());
}

#[test]
fn the_final_turn_allows_only_the_report() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    assert_eq!(driver.shown().len(), 5);
    driver.good_turn();
    assert_eq!(driver.shown(), ["agent__final_report"]);
    assert!(driver.notices()[0].contains("Maximum number of turns/steps reached"));
    driver.answer(calling(&[("shop__look_up", "{}")]));
    assert!(driver.calls().is_empty(), "other tools are not called in the final turn");
    assert_eq!(driver.asked().0, "turn-2/ask/2");
    driver.answer(reporting("so far"));
    assert_eq!(driver.report().exit, SessionExit::MaxTurnsWithResponse);
    assert_eq!(driver.report().forced_final_reason, Some(FinalTurnReason::MaxTurns));
}

#[test]
fn a_final_turn_without_a_report_ends_with_a_synthetic_one() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    driver.good_turn();
    driver.answer(saying(""));
    driver.fail_with(ErrorClass::NetworkError);
    driver.answer(calling(&[("shop__look_up", "{}")]));
    let report = driver.report();
    assert_eq!((report.exit, report.status), (SessionExit::MaxTurnsNoResponse, ReportStatus::Failure));
    assert_eq!(report.synthetic_reason, Some(SyntheticReason::MaxTurnsExhausted));
    insta::assert_snapshot!(report.metadata, @r#"{"reason":"max_turns_exhausted","turns_completed":1,"final_report_attempts":0,"last_stop_reason":"tool_calls","last_error":"invalid response: every tool call names a tool that is unknown or not allowed in this turn"}"#);
    insta::assert_snapshot!(report.content, @r#"
    The session ended without an answer in turn 2: the model gave no report within the allowed turns.

    The last error: invalid response: every tool call names a tool that is unknown or not allowed in this turn
    "#);
}

#[test]
fn a_report_that_violates_its_schema_is_rejected_with_the_reason() {
    let mut driver = TestDriver::begin(with_json_report());
    driver.answer(calling(&[("agent__final_report", r#"{"content_json": {"sum": 3}}"#)]));
    assert!(driver.session.report().is_none());
    assert_eq!(driver.session.view().turn, 1);
    insta::assert_snapshot!(driver.notices().join("\n"), @r#"
    System notice: your final report was not accepted. Call `agent__final_report` again with this put right. `content_json` does not fit its schema:
    - `$`: the property `total` is missing
    "#);
    driver.answer(calling(&[("agent__final_report", r#"{"content_json": {"total": "3"}}"#)]));
    assert_eq!(driver.report().content_json, Some(json(r#"{"total": 3}"#)), "the value is coerced");
    assert_eq!(driver.report().final_report_attempts, 2);
    let fixed: Vec<_> = driver.report().mended.iter().map(|mend| (mend.tool.as_str(), mend.change.as_str())).collect();
    assert_eq!(
        fixed,
        [("agent__final_report", "$.total: converted a string to a number: `\"3\"` -> `3`")],
        "a change of the report is recorded"
    );
}

#[test]
fn a_json_report_is_found_in_every_place_where_models_put_it() {
    for arguments in [
        r#"{"content_json": {"total": 3}}"#,
        r#"{"contentJson": {"total": 3}}"#,
        r#"{"report_format": "json", "content": "{\"total\": 3}"}"#,
        r#"{"content_json": "{total: 3,}"}"#,
        r#"{"total": 3}"#,
    ] {
        let mut driver = TestDriver::begin(with_json_report());
        driver.answer(calling(&[("agent__final_report", arguments)]));
        assert_eq!(driver.report().content_json, Some(json(r#"{"total": 3}"#)), "{arguments}");
    }
}

#[test]
fn a_report_in_another_format_is_rejected() {
    let text = || with_rules(|rules| rules.report = ReportRules { format: ReportFormat::Text, schema: None });
    let mut driver = TestDriver::begin(text());
    driver.answer(calling(&[("agent__final_report", r#"{"report_format": "json", "report_content": "x"}"#)]));
    assert!(driver.notices()[0].contains("`report_format` must be `text`"), "{:?}", driver.notices());
    let mut driver = TestDriver::begin(text());
    driver.answer(calling(&[("agent__final_report", r#"{"format": "TEXT", "content": "x", "status": "partial"}"#)]));
    assert_eq!((driver.report().content.as_str(), driver.report().status), ("x", ReportStatus::Partial));
}

#[test]
fn a_rejected_report_leaves_one_more_turn() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("agent__final_report", "{{{")]));
    driver.answer(calling(&[("agent__final_report", r#"{"report_format": "pdf", "report_content": "x"}"#)]));
    assert_eq!(collapses(&driver), [(1, CollapseReason::FinalReportAttempt, 10, 2)]);
    driver.good_turn();
    assert_eq!((driver.session.view().turn, driver.session.view().max_turns), (2, 2));
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::MaxTurns));
    driver.answer(calling(&[("agent__final_report", "{}")]));
    assert_eq!(collapses(&driver).len(), 1, "only one turn is left");
    driver.answer(reporting("x"));
    assert_eq!(driver.report().final_report_attempts, 4, "each call counts once, malformed or not");
}

#[test]
fn a_report_without_content_or_a_truncated_one_counts_as_incomplete() {
    for answer in [
        calling(&[("agent__final_report", "{}")]),
        calling(&[("agent__final_report", r#"{"report_content": " "}"#)]),
        truncated(calling(&[("agent__final_report", r#"{"report_content": "It was"#)])),
    ] {
        let mut driver = TestDriver::new();
        driver.answer(answer);
        assert_eq!(collapses(&driver), [(1, CollapseReason::IncompleteFinalReport, 10, 2)]);
    }
}

#[test]
fn a_rejected_report_in_the_last_but_one_turn_changes_no_limit() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    driver.answer(calling(&[("agent__final_report", "{}")]));
    assert_eq!(collapses(&driver), []);
    assert_eq!(driver.session.view().max_turns, 2);
}

#[test]
fn a_report_in_text_is_committed_only_if_the_final_turn_has_none() {
    let text = r#"Here: {"report_format": "markdown", "report_content": "It was sent."}"#;
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    driver.answer(saying(text));
    assert!(driver.session.report().is_none(), "another attempt comes first");
    assert!(
        driver
            .session_records()
            .contains(&SessionRecord::FallbackReportFound { turn: 1, source: ReportSource::TextFallback })
    );
    driver.good_turn();
    let mut better = driver.clone();
    for _ in 0..3 {
        assert!(driver.session.report().is_none());
        driver.fail_with(ErrorClass::Timeout);
    }
    let report = driver.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::TextFallback, "It was sent."));
    assert_eq!((report.exit, report.synthetic_reason), (SessionExit::MaxTurnsWithResponse, None));
    better.answer(reporting("Better."));
    assert_eq!((better.report().source, better.report().content.as_str()), (ReportSource::ToolCall, "Better."));
}

#[test]
fn a_fallback_report_is_committed_after_a_forced_final_turn() {
    let text = r#"{"report_format": "markdown", "report_content": "It was sent."}"#;
    let mut driver = TestDriver::new();
    driver.answer(saying(text));
    driver.fail_with(ErrorClass::Timeout);
    driver.fail_with(ErrorClass::Timeout);
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::RetryExhaustion));
    for _ in 0..3 {
        driver.fail_with(ErrorClass::Timeout);
    }
    assert_eq!((driver.report().source, driver.report().turn), (ReportSource::TextFallback, 2));
}

#[test]
fn other_json_in_text_is_not_a_report() {
    for text in [r#"{"state": "sent"}"#, r#"{"content": "x"}"#, r#"{"report_format": "markdown"}"#, "It was sent."] {
        let mut driver = TestDriver::new();
        driver.answer(saying(text));
        let found =
            driver.session_records().iter().any(|record| matches!(record, SessionRecord::FallbackReportFound { .. }));
        assert!(!found, "{text}");
    }
}

#[test]
fn text_in_the_final_turn_is_committed_if_no_report_follows() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
    driver.answer(saying("It was sent."));
    assert!(driver.session.report().is_none());
    driver.answer(saying(""));
    driver.answer(saying(""));
    assert_eq!(
        (driver.report().source, driver.report().content.as_str()),
        (ReportSource::TextFallback, "It was sent.")
    );
}

#[test]
fn the_text_of_an_unreadable_report_call_is_a_fallback_report() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
    driver.answer(calling(&[("agent__final_report", "The order was sent on Monday.")]));
    driver.answer(saying(""));
    driver.answer(saying(""));
    let report = driver.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::ToolMessage, "The order was sent on Monday."));
}

#[test]
fn a_truncated_report_is_a_fallback_report_marked_as_truncated() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
    driver.answer(truncated(calling(&[("agent__final_report", r#"{"report_content": "The order was se"#)])));
    driver.answer(saying(""));
    driver.answer(saying(""));
    let report = driver.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::ToolMessage, "The order was se"));
    assert_eq!(report.metadata.get("truncated"), Some(&json("true")));
}

#[test]
fn a_report_that_came_with_calls_is_never_committed_if_one_of_them_fails() {
    let answer = calling(&[("shop__order", "{}"), ("agent__final_report", r#"{"report_content": "Ordered."}"#)]);
    let mut failing = TestDriver::new();
    failing.answer(answer);
    assert!(failing.session.report().is_none(), "the order is in progress");
    failing.reply("turn-1/call-1/call/1", 401, "{}");
    assert!(failing.session.report().is_none(), "the report claims an order that failed");
    assert_eq!((failing.session.view().turn, failing.session.view().max_turns), (2, 2));
    failing.answer(reporting("It could not be ordered."));
    assert_eq!(failing.report().content, "It could not be ordered.");
}

#[test]
fn an_invalid_report_schema_is_refused_at_the_start() {
    let mut started = started();
    started.rules.report = ReportRules { format: ReportFormat::Json, schema: Some(json(r#"{"type": 3}"#)) };
    let event = reknit_engine::Event { at_ms: 0, kind: reknit_engine::EventKind::SessionStarted(Box::new(started)) };
    assert!(matches!(reknit_engine::Session::begin(&event), Err(reknit_engine::ApplyError::ReportSchema(_))));
}

#[test]
fn a_report_call_written_as_text_is_a_fallback_report() {
    for (text, content) in [
        (r#"{"name": "agent__final_report", "arguments": {"report_content": "Sent."}}"#, Some("Sent.")),
        ("```json\n{\"name\": \"final_report\", \"parameters\": {\"report_content\": \"Sent.\"}}\n```", Some("Sent.")),
        (
            r#"{"function": {"name": "agent__final_report", "arguments": "{\"report_content\": \"Sent.\"}"}}"#,
            Some("Sent."),
        ),
        ("<function=agent__final_report><parameter=report_content>Sent.</parameter></function>", Some("Sent.")),
        (r#"{"name": "shop__look_up", "arguments": {"id": 7}}"#, None),
        ("It was sent.", Some("It was sent.")),
    ] {
        let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
        for _ in 0..3 {
            driver.answer(saying(text));
        }
        let report = driver.report();
        let found = report.is_answer().then_some(report.content.as_str());
        assert_eq!(found, content, "{text}");
    }
}

#[test]
fn the_status_of_a_report_is_read_in_any_usual_word_and_an_unknown_word_is_no_success() {
    for (status, expected) in [
        ("success", ReportStatus::Success),
        ("Completed", ReportStatus::Success),
        ("failed", ReportStatus::Failure),
        ("FAILURE", ReportStatus::Failure),
        ("error", ReportStatus::Failure),
        ("Partial", ReportStatus::Partial),
        ("partially", ReportStatus::Partial),
        ("in two minds", ReportStatus::Partial),
    ] {
        let mut driver = TestDriver::new();
        let arguments = format!(r#"{{"report_content": "It is sent.", "status": "{status}"}}"#);
        driver.answer(calling(&[("agent__final_report", &arguments)]));
        assert_eq!(driver.report().status, expected, "{status}");
    }
}

#[test]
fn a_whole_report_is_kept_when_the_final_turn_brings_only_text_or_damaged_arguments() {
    let whole = saying(r#"{"report_content": "Apples.", "status": "success"}"#);
    for later in [saying("No."), calling(&[("agent__final_report", "oops {{ @")])] {
        let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
        driver.answer(whole.clone());
        while driver.session.report().is_none() {
            driver.answer(later.clone());
        }
        assert_eq!((driver.report().content.as_str(), driver.report().status), ("Apples.", ReportStatus::Success));
    }
}

#[test]
fn damaged_arguments_are_no_report() {
    for arguments in ["@@ {{", r#"{"report_content": "The price is 468.28 and the"#] {
        let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
        while driver.session.report().is_none() {
            driver.answer(calling(&[("agent__final_report", arguments)]));
        }
        assert_eq!(driver.report().source, ReportSource::Synthetic, "{arguments}");
    }
}
