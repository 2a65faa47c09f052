//! One report, whatever happens.

use reknit_dialogue::ErrorClass;
use reknit_engine::{
    CollapseReason, Exit, ForcedReason, Record, ReportFormat, ReportRules, ReportSource, ReportStatus, SyntheticReason,
};

use crate::world::{Play, calling, cut, json, reporting, saying, started, with_json_report, with_rules};

fn collapses(play: &Play) -> Vec<(u32, CollapseReason, u32, u32)> {
    let collapse = |record: &Record| match record {
        Record::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
            Some((*turn, *reason, *previous_max_turns, *new_max_turns))
        }
        _ => None,
    };
    play.session.records().iter().filter_map(collapse).collect()
}

#[test]
fn a_report_ends_the_session() {
    let mut play = Play::new();
    play.good_turn();
    play.answer(reporting("Order 7 was **sent**."));
    let report = play.report();
    assert_eq!(report.content, "Order 7 was **sent**.");
    assert_eq!((report.exit, report.source), (Exit::FinalAnswer, ReportSource::ToolCall));
    assert_eq!((report.turn, report.forced_final_reason, report.status), (2, None, ReportStatus::Success));
    assert_eq!((report.spent.model_calls, report.spent.tool_calls, report.totals.attempts), (2, 1, 2));
    assert_eq!(play.due(), Vec::<String>::new());
}

#[test]
fn the_last_turn_is_for_the_report_alone() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 2));
    assert_eq!(play.shown().len(), 5);
    play.good_turn();
    assert_eq!(play.shown(), ["agent__final_report"]);
    assert!(play.notices()[0].contains("Maximum number of turns/steps reached"));
    play.answer(calling(&[("shop__look_up", "{}")]));
    assert!(play.calls().is_empty(), "other tools are not called any more");
    assert_eq!(play.asked().0, "turn-2/ask/2");
    play.answer(reporting("so far"));
    assert_eq!(play.report().exit, Exit::MaxTurnsWithResponse);
    assert_eq!(play.report().forced_final_reason, Some(ForcedReason::MaxTurns));
}

#[test]
fn a_last_turn_without_a_report_ends_with_one_that_says_what_happened() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 2));
    play.good_turn();
    play.answer(saying(""));
    play.fail_with(ErrorClass::NetworkError);
    play.answer(calling(&[("shop__look_up", "{}")]));
    let report = play.report();
    assert_eq!((report.exit, report.status), (Exit::MaxTurnsNoResponse, ReportStatus::Failure));
    assert_eq!(report.synthetic_reason, Some(SyntheticReason::MaxTurnsExhausted));
    insta::assert_snapshot!(report.metadata, @r#"{"reason":"max_turns_exhausted","turns_completed":1,"final_report_attempts":0,"last_stop_reason":"tool_calls","last_error":"invalid response: no tool call is of a tool that may be called"}"#);
    insta::assert_snapshot!(report.content, @r#"
    The session ended without an answer in turn 2: the turns were used up and no report was given.

    The last thing that went wrong: invalid response: no tool call is of a tool that may be called
    "#);
}

#[test]
fn a_report_that_does_not_fit_its_schema_is_not_committed_and_its_writer_hears_why() {
    let mut play = Play::begin(with_json_report());
    play.answer(calling(&[("agent__final_report", r#"{"content_json": {"sum": 3}}"#)]));
    assert!(play.session.report().is_none());
    assert_eq!(play.session.view().turn, 1);
    insta::assert_snapshot!(play.notices().join("\n"), @r#"
    System notice: your final report was not accepted. Call `agent__final_report` again with this put right. `content_json` does not fit its schema:
    - `$`: the property `total` is missing
    "#);
    play.answer(calling(&[("agent__final_report", r#"{"content_json": {"total": "3"}}"#)]));
    assert_eq!(play.report().content_json, Some(json(r#"{"total": 3}"#)), "what is meant is fitted");
    assert_eq!(play.report().final_report_attempts, 2);
}

#[test]
fn json_is_found_where_models_put_it() {
    for arguments in [
        r#"{"content_json": {"total": 3}}"#,
        r#"{"contentJson": {"total": 3}}"#,
        r#"{"report_format": "json", "content": "{\"total\": 3}"}"#,
        r#"{"content_json": "{total: 3,}"}"#,
        r#"{"total": 3}"#,
    ] {
        let mut play = Play::begin(with_json_report());
        play.answer(calling(&[("agent__final_report", arguments)]));
        assert_eq!(play.report().content_json, Some(json(r#"{"total": 3}"#)), "{arguments}");
    }
}

#[test]
fn a_report_of_another_form_is_refused() {
    let text = || with_rules(|rules| rules.report = ReportRules { format: ReportFormat::Text, schema: None });
    let mut play = Play::begin(text());
    play.answer(calling(&[("agent__final_report", r#"{"report_format": "json", "report_content": "x"}"#)]));
    assert!(play.notices()[0].contains("`report_format` must be `text`"), "{:?}", play.notices());
    let mut play = Play::begin(text());
    play.answer(calling(&[("agent__final_report", r#"{"format": "TEXT", "content": "x", "status": "partial"}"#)]));
    assert_eq!((play.report().content.as_str(), play.report().status), ("x", ReportStatus::Partial));
}

#[test]
fn who_tried_to_report_has_one_more_turn_and_that_is_counted_once() {
    let mut play = Play::new();
    play.answer(calling(&[("agent__final_report", "{{{")]));
    play.answer(calling(&[("agent__final_report", r#"{"report_format": "pdf", "report_content": "x"}"#)]));
    assert_eq!(collapses(&play), [(1, CollapseReason::FinalReportAttempt, 10, 2)]);
    play.good_turn();
    assert_eq!((play.session.view().turn, play.session.view().max_turns), (2, 2));
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::MaxTurns));
    play.answer(calling(&[("agent__final_report", "{}")]));
    assert_eq!(collapses(&play).len(), 1, "there is nothing left to become fewer");
    play.answer(reporting("x"));
    assert_eq!(play.report().final_report_attempts, 4, "each call counts once, malformed or not");
}

#[test]
fn a_report_without_content_or_end_is_incomplete() {
    for answer in [
        calling(&[("agent__final_report", "{}")]),
        calling(&[("agent__final_report", r#"{"report_content": " "}"#)]),
        cut(calling(&[("agent__final_report", r#"{"report_content": "It was"#)])),
    ] {
        let mut play = Play::new();
        play.answer(answer);
        assert_eq!(collapses(&play), [(1, CollapseReason::IncompleteFinalReport, 10, 2)]);
    }
}

#[test]
fn a_turn_before_the_last_cannot_become_fewer() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 2));
    play.answer(calling(&[("agent__final_report", "{}")]));
    assert_eq!(collapses(&play), []);
    assert_eq!(play.session.view().max_turns, 2);
}

#[test]
fn a_report_in_words_is_kept_and_accepted_only_when_the_last_turn_brings_none() {
    let text = r#"Here: {"report_format": "markdown", "report_content": "It was sent."}"#;
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 2));
    play.answer(saying(text));
    assert!(play.session.report().is_none(), "it is retried first");
    assert!(play.session.records().contains(&Record::ReportKept { turn: 1, source: ReportSource::TextFallback }));
    play.good_turn();
    let mut better = play.clone();
    for _ in 0..3 {
        assert!(play.session.report().is_none());
        play.fail_with(ErrorClass::Timeout);
    }
    let report = play.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::TextFallback, "It was sent."));
    assert_eq!((report.exit, report.synthetic_reason), (Exit::MaxTurnsWithResponse, None));
    better.answer(reporting("Better."));
    assert_eq!((better.report().source, better.report().content.as_str()), (ReportSource::ToolCall, "Better."));
}

#[test]
fn a_kept_report_is_accepted_on_every_forced_last_turn() {
    let text = r#"{"report_format": "markdown", "report_content": "It was sent."}"#;
    let mut play = Play::new();
    play.answer(saying(text));
    play.fail_with(ErrorClass::Timeout);
    play.fail_with(ErrorClass::Timeout);
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::RetryExhaustion));
    for _ in 0..3 {
        play.fail_with(ErrorClass::Timeout);
    }
    assert_eq!((play.report().source, play.report().turn), (ReportSource::TextFallback, 2));
}

#[test]
fn other_json_in_words_is_no_report() {
    for text in [r#"{"state": "sent"}"#, r#"{"content": "x"}"#, r#"{"report_format": "markdown"}"#, "It was sent."] {
        let mut play = Play::new();
        play.answer(saying(text));
        let kept = play.session.records().iter().any(|record| matches!(record, Record::ReportKept { .. }));
        assert!(!kept, "{text}");
    }
}

#[test]
fn words_instead_of_a_report_will_do_when_nothing_else_comes_in_the_last_turn() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 1));
    play.answer(saying("It was sent."));
    assert!(play.session.report().is_none());
    play.answer(saying(""));
    play.answer(saying(""));
    assert_eq!((play.report().source, play.report().content.as_str()), (ReportSource::TextFallback, "It was sent."));
}

#[test]
fn a_report_call_that_cannot_be_used_leaves_its_words() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 1));
    play.answer(calling(&[("agent__final_report", "The order was sent on Monday.")]));
    play.answer(saying(""));
    play.answer(saying(""));
    let report = play.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::ToolMessage, "The order was sent on Monday."));
}

#[test]
fn a_report_that_was_cut_says_so_if_it_must_do() {
    let mut play = Play::begin(with_rules(|rules| rules.max_turns = 1));
    play.answer(cut(calling(&[("agent__final_report", r#"{"report_content": "The order was se"#)])));
    play.answer(saying(""));
    play.answer(saying(""));
    let report = play.report();
    assert_eq!((report.source, report.content.as_str()), (ReportSource::ToolMessage, "The order was se"));
    assert_eq!(report.metadata.get("truncated"), Some(&json("true")));
}

#[test]
fn a_report_beside_calls_counts_if_they_succeed() {
    let answer = calling(&[("shop__order", "{}"), ("agent__final_report", r#"{"report_content": "Ordered."}"#)]);
    let mut play = Play::new();
    play.answer(answer.clone());
    assert!(play.session.report().is_none(), "the order is not made yet");
    let mut failing = play.clone();
    play.reply_all("{}");
    assert_eq!((play.report().content.as_str(), play.report().spent.tool_calls), ("Ordered.", 1));

    failing.reply("turn-1/call-1/call/1", 401, "{}");
    assert!(failing.session.report().is_none(), "the report says what did not happen");
    assert_eq!((failing.session.view().turn, failing.session.view().max_turns), (2, 2));
    failing.answer(reporting("It could not be ordered."));
    assert_eq!(failing.report().content, "It could not be ordered.");
}

#[test]
fn a_schema_that_is_none_is_refused_at_the_beginning() {
    let mut started = started();
    started.rules.report = ReportRules { format: ReportFormat::Json, schema: Some(json(r#"{"type": 3}"#)) };
    let event = reknit_engine::Event { at_ms: 0, what: reknit_engine::What::SessionStarted(Box::new(started)) };
    assert!(matches!(reknit_engine::Session::begin(&event), Err(reknit_engine::ApplyError::ReportSchema(_))));
}

#[test]
fn a_call_of_the_report_that_was_written_down_counts_when_none_is_made() {
    for (words, content) in [
        (r#"{"name": "agent__final_report", "arguments": {"report_content": "Sent."}}"#, Some("Sent.")),
        ("```json\n{\"name\": \"final_report\", \"parameters\": {\"report_content\": \"Sent.\"}}\n```", Some("Sent.")),
        (
            r#"{"function": {"name": "agent__final_report", "arguments": "{\"report_content\": \"Sent.\"}"}}"#,
            Some("Sent."),
        ),
        (r#"{"name": "shop__look_up", "arguments": {"id": 7}}"#, None),
        ("It was sent.", Some("It was sent.")),
    ] {
        let mut play = Play::begin(with_rules(|rules| rules.max_turns = 1));
        for _ in 0..3 {
            play.answer(saying(words));
        }
        let report = play.report();
        let found = report.is_answer().then_some(report.content.as_str());
        assert_eq!(found, content, "{words}");
    }
}
