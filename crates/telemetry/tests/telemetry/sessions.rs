//! The paths that a session can take, and its signals.

use std::collections::BTreeSet;
use std::sync::Arc;

use reknit_engine::{AgentMending, Event, EventKind, GuardLevel, PLAN_TOOL, Plans, SessionStarted, SubAgent};
use reknit_model_api::{ErrorClass, ModelFailure};
use reknit_telemetry::{Signal, Span};

use crate::session_world::{TestDriver, calling, rate_limited, reporting, saying, with_rules};
use crate::signals::{lines, metrics, shown, signals_of, spans};

/// Dropped calls, a rejected answer, a collapse of the remaining turns, and a report in the last turn.
fn a_long_session() -> Vec<Event> {
    let mut play = TestDriver::begin(with_rules(|rules| rules.max_turns = 4));
    play.fail(rate_limited(Some(3_000)));
    play.fail(rate_limited(None));
    play.finish_wait();
    play.answer(calling(&[("shop__look_up", "{{{"), ("nobody__knows", "{}"), ("shop__look_up", "{}")]));
    play.reply_all("{}");
    play.answer(saying("words"));
    play.answer(calling(&[("agent__final_report", "{}")]));
    play.good_turn();
    play.answer(reporting("done"));
    play.events
}

fn a_mended_call() -> Vec<Event> {
    let mut play = TestDriver::begin(with_rules(|rules| rules.mending = AgentMending::Models));
    play.answer(calling(&[("shop__convert", r#"{"amount": "0"}"#)]));
    let refused =
        r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "bad", "retryable": true}}"#;
    play.now_ms += 10;
    play.reply("turn-1/call-1/call/1", 400, refused);
    play.now_ms += 10;
    let advice = r#"{"should_retry": true, "reason": "r", "suggested_changes": {"amount": 5}}"#;
    play.apply(EventKind::ModelAnswered {
        effect: "turn-1/call-1/feedback/1".parse().unwrap(),
        answer: saying(advice),
    });
    play.now_ms += 10;
    play.reply("turn-1/call-1/call/2", 200, "{}");
    play.now_ms += 10;
    play.answer(reporting("done"));
    play.events
}

/// A model that cannot be reached first, and then says what the agent may change.
fn a_mandate() -> Vec<Event> {
    let mut started = with_rules(|_| {});
    Arc::make_mut(&mut started.policy).effects.guard = GuardLevel::Targets;
    let mut play = TestDriver::begin(started);
    play.fail_with(ErrorClass::NetworkError);
    play.answer(saying(r#"[{"tool": "shop__order", "times": 1}]"#));
    play.good_turn();
    play.answer(reporting("done"));
    play.events
}

fn a_rejected_key() -> Vec<Event> {
    let mut play = TestDriver::new();
    play.fail_with(ErrorClass::AuthError);
    play.events
}

fn a_report_in_text() -> Vec<Event> {
    let mut play = TestDriver::begin(with_rules(|rules| rules.max_turns = 1));
    for _ in 0..3 {
        play.answer(saying("The order is on its way."));
    }
    play.events
}

fn an_unavailable_target() -> Vec<Event> {
    let mut play = TestDriver::new();
    let (id, ..) = play.asked();
    let until_ms = play.now_ms + 60_000;
    play.apply(EventKind::BreakerOpen {
        effect: id.as_str().parse().unwrap(),
        until_ms,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    play.answer(reporting("done"));
    play.events
}

fn a_conversation_that_is_too_long() -> Vec<Event> {
    let mut play = TestDriver::new();
    for _ in 0..12 {
        if play.session.report().is_some() {
            break;
        }
        match play.due().iter().find(|id| id.contains("/count/")) {
            Some(id) => play.apply(EventKind::TokensCounted { effect: id.as_str().parse().unwrap(), tokens: None }),
            None => play.fail_with(ErrorClass::ContextLength),
        }
    }
    play.events
}

fn a_long_result_and_a_plan() -> Vec<Event> {
    let mut play = TestDriver::begin(with_rules(|rules| (rules.plans, rules.result_bytes) = (Plans::Allowed, 100)));
    play.answer(calling(&[(PLAN_TOOL, r#"{"steps": [{"id": "a", "tool": "look_up"}]}"#)]));
    play.reply_all(&format!("\"{}\"", "long ".repeat(200)));
    play.answer(reporting("done"));
    play.events
}

fn a_repeated_order() -> Vec<Event> {
    let mut play = TestDriver::new();
    for _ in 0..2 {
        play.answer(calling(&[("shop__order", r#"{"item": "tea"}"#)]));
        play.now_ms += 10;
        play.reply_all("{}");
    }
    play.answer(reporting("done"));
    play.events
}

/// An agent that calls another one, which calls a plan in which one step is mended.
fn a_plan_in_an_agent_in_an_agent() -> Vec<Event> {
    let session = with_rules(|rules| (rules.plans, rules.mending) = (Plans::Allowed, AgentMending::Models));
    let session = SessionStarted { agent: "researcher".to_owned(), ..session };
    let agent = SubAgent { name: "researcher".to_owned(), description: String::new(), session };
    let mut play = TestDriver::begin(SessionStarted { agents: vec![agent], ..with_rules(|_| {}) });
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("shop__look_up", "{}")]));
    play.now_ms += 10;
    let handed_over =
        r#"{"steps": [{"id": "a", "tool": "look_up"}, {"id": "b", "tool": "convert", "with": {"amount": 0}}]}"#;
    play.answer(calling(&[(PLAN_TOOL, handed_over)]));
    play.now_ms += 10;
    play.reply("turn-1/call-2/call/1", 200, "{}");
    play.reply("turn-1/call-1/turn-1/call-1/a/call/1", 200, "{}");
    play.now_ms += 10;
    let refused = r#"{"success": false, "error": {"category": "INPUT_ERROR", "message": "bad", "retryable": true}}"#;
    play.reply("turn-1/call-1/turn-1/call-1/b/call/1", 400, refused);
    play.now_ms += 10;
    let advice = r#"{"should_retry": true, "reason": "r", "suggested_changes": {"amount": 5}}"#;
    let effect = "turn-1/call-1/turn-1/call-1/b/feedback/1".parse().unwrap();
    play.apply(EventKind::ModelAnswered { effect, answer: saying(advice) });
    play.now_ms += 10;
    play.reply("turn-1/call-1/turn-1/call-1/b/call/2", 200, "{}");
    play.now_ms += 10;
    play.answer(reporting("found"));
    play.now_ms += 10;
    play.answer(reporting("done"));
    play.events
}

/// The deadline of a session passes while a plan is in progress.
fn a_plan_at_the_session_deadline() -> Vec<Event> {
    let mut play =
        TestDriver::begin(with_rules(|rules| (rules.plans, rules.max_time_ms) = (Plans::Allowed, Some(60_000))));
    play.answer(calling(&[(PLAN_TOOL, r#"{"steps": [{"id": "a", "tool": "look_up"}]}"#)]));
    play.deadline();
    let effect = "turn-1/call-1/a/call/1".parse().unwrap();
    if play.session.report().is_none() {
        play.apply(EventKind::Interrupted { effect });
    }
    play.answer(reporting("done"));
    play.events
}

/// A call that is written as text, a refused output limit, and waits that are no rate limits or end early.
fn a_small_model() -> Vec<Event> {
    let mut play = TestDriver::begin(SessionStarted { targets: vec!["a".into()], ..with_rules(|_| {}) });
    let refused = "max_tokens is too large: 4096. This model supports at most 1000 completion tokens";
    play.fail(ModelFailure::new(ErrorClass::ModelError, refused).with_status(400));
    play.fail_with(ErrorClass::NetworkError);
    play.finish_wait();
    play.answer(saying(r#"{"name": "shop__look_up", "arguments": {"id": 7}}"#));
    play.reply_all("{}");
    play.fail(rate_limited(Some(3_000)));
    play.apply(EventKind::Stopped);
    play.answer(reporting("done"));
    play.events
}

/// The paths: description, events, and the contract names that the path produces besides those of every session.
pub(crate) fn session_paths() -> Vec<(&'static str, Vec<Event>, Vec<&'static str>)> {
    let asked = ["ai.request.total", "ai.request.duration_ms"];
    let answered = [&asked[..], &["ai.tokens.used"]].concat();
    let called = [&answered[..], &["orchestration.step_execution", "http.client.request"]].concat();
    let handed_over = [&called[..], &["orchestration.process_request"]].concat();
    let mended = [
        "type_coercion_applied",
        "orchestration.type_coercion.applied",
        "Parameter types coerced to match schema",
        "validation_feedback_started",
        "orchestration.validation_feedback.attempts",
        "Call refused, requesting LLM correction",
        "error_analyzer.llm_call_start",
        "error_analyzer.analysis_complete",
        "validation_feedback_success",
        "orchestration.validation_feedback.success",
        "Parameters corrected by LLM",
    ];
    vec![
        ("a long session", a_long_session(), [&called[..], &["ai_agent_retry_collapse_total"]].concat()),
        ("a mended call", a_mended_call(), [&called[..], &mended].concat()),
        ("a mandate", a_mandate(), called.clone()),
        ("a rejected key", a_rejected_key(), asked.to_vec()),
        ("a report in text", a_report_in_text(), answered.clone()),
        ("an unavailable target", an_unavailable_target(), answered.clone()),
        ("a conversation that is too long", a_conversation_that_is_too_long(), asked.to_vec()),
        ("a long result and a plan", a_long_result_and_a_plan(), handed_over.clone()),
        ("a repeated order", a_repeated_order(), called.clone()),
        ("a plan in an agent in an agent", a_plan_in_an_agent_in_an_agent(), [&handed_over[..], &mended[3..]].concat()),
        ("a plan at the session deadline", a_plan_at_the_session_deadline(), handed_over),
        ("a small model", a_small_model(), called),
    ]
}

#[test]
fn the_spans_of_a_session_are_turns_with_their_calls() {
    let signals = signals_of(&a_mended_call());
    let spans = spans(&signals);
    let name = |id| spans.iter().find(|span| Some(span.id) == id).map_or("no parent", |span| span.name);
    let shown: Vec<String> = spans
        .iter()
        .map(|span| format!("{} in {}: {}..{}", span.name, name(span.parent), span.start_ms, span.end_ms))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    chat in agent.turn: 1000..1000
    http.client.request in orchestration.step_execution: 1000..1010
    chat in orchestration.step_execution: 1010..1020
    http.client.request in orchestration.step_execution: 1020..1030
    orchestration.step_execution in agent.turn: 1000..1030
    agent.turn in agent.session: 1000..1030
    chat in agent.turn: 1030..1040
    agent.turn in agent.session: 1030..1040
    agent.session in no parent: 1000..1040
    ");
}

#[test]
fn a_nested_plan_or_agent_has_its_spans_in_the_turn_that_calls_it() {
    let signals = signals_of(&a_plan_in_an_agent_in_an_agent());
    let spans = spans(&signals);
    let label = |span: &Span| {
        let is_shown = |name: &&str| ["agent", "turn", "mode", "step_id", "purpose"].contains(name);
        let values = span.attributes.iter().filter(|(name, _)| is_shown(name)).map(|(_, value)| value.to_string());
        format!("{} {}", span.name, values.collect::<Vec<_>>().join(" "))
    };
    let above = |id| spans.iter().find(|span| Some(span.id) == id).map_or("no parent".to_owned(), |span| label(span));
    let shown: Vec<String> = spans.iter().map(|span| format!("{} in {}", label(span), above(span.parent))).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    chat agent_turn 1 in agent.turn 1
    chat agent_turn 1 in agent.turn 1
    http.client.request call-2 shop in orchestration.step_execution call-2 shop
    orchestration.step_execution call-2 shop in agent.turn 1
    http.client.request a shop in orchestration.step_execution a shop
    orchestration.step_execution a shop in orchestration.process_request plan
    http.client.request b shop in orchestration.step_execution b shop
    chat error_analysis in orchestration.step_execution b shop
    http.client.request b shop in orchestration.step_execution b shop
    orchestration.step_execution b shop in orchestration.process_request plan
    orchestration.process_request plan in agent.turn 1
    agent.turn 1 in agent.session researcher
    chat agent_turn 2 in agent.turn 2
    agent.turn 2 in agent.session researcher
    agent.session researcher in agent.turn 1
    agent.turn 1 in agent.session clerk
    chat agent_turn 2 in agent.turn 2
    agent.turn 2 in agent.session clerk
    agent.session clerk in no parent
    ");
    assert!(spans.iter().all(|span| !span.parent_is_remote));
}

#[test]
fn a_nested_plan_is_counted_once_and_not_as_a_request() {
    let signals = signals_of(&a_plan_in_an_agent_in_an_agent());
    let names = ["steps.total", "requests.total", "tool.call.total", "validation_feedback", "final_report_total"];
    let shown = metrics(&signals).into_iter().map(shown);
    let shown: Vec<String> = shown.filter(|line| names.iter().any(|name| line.contains(name))).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    tool.call.total{capability="look_up",agent="shop",module="agent",status="success"} 1
    orchestration.steps.total{capability="look_up",agent="shop",module="agent",status="done"} 1
    tool.call.total{capability="look_up",agent="shop",module="agent",status="success"} 1
    orchestration.steps.total{capability="look_up",agent="shop",module="agent",status="done"} 1
    tool.call.total{capability="convert",agent="shop",module="agent",status="error"} 1
    orchestration.validation_feedback.attempts{capability="convert",agent="shop",module="agent"} 1
    orchestration.validation_feedback.success{capability="convert",agent="shop",module="agent"} 1
    tool.call.total{capability="convert",agent="shop",module="agent",status="success"} 1
    orchestration.steps.total{capability="convert",agent="shop",module="agent",status="done"} 1
    ai_agent_final_report_total{source="tool-call",status="success",forced_final_reason="none",synthetic_reason="none"} 1
    ai_agent_final_report_total{source="tool-call",status="success",forced_final_reason="none",synthetic_reason="none"} 1
    orchestration.requests.total{module="agent",status="complete"} 1
    "#);
    let ended = lines(&signals).into_iter().filter(|line| line.message.starts_with("Request")).count();
    assert_eq!(ended, 1, "only the outer session ends a request");
}

#[test]
fn every_span_of_a_session_lies_within_its_parent() {
    for (case, events, _) in session_paths() {
        let signals = signals_of(&events);
        let spans = spans(&signals);
        assert_eq!(spans.iter().filter(|span| span.parent.is_none()).count(), 1, "case: {case}");
        for span in &spans {
            let Some(parent) = span.parent else { continue };
            let parent = spans.iter().find(|other| other.id == parent);
            let parent = parent.unwrap_or_else(|| panic!("case: {case}: {} has an unknown parent", span.name));
            assert!(parent.start_ms <= span.start_ms && parent.end_ms >= span.end_ms, "case: {case}: {span:?}");
        }
        let ids: BTreeSet<String> = spans.iter().map(|span| span.id.to_string()).collect();
        assert_eq!(ids.len(), spans.len(), "case: {case}: two spans have the same id");
    }
}

#[test]
fn the_metrics_of_a_session_are_counted_once() {
    let signals = signals_of(&a_mended_call());
    let shown: Vec<String> = metrics(&signals).into_iter().map(shown).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ai.request.total{module="agent",provider="agent_turn",purpose="agent_turn",status="success"} 1
    ai.request.duration_ms{module="agent",provider="agent_turn",purpose="agent_turn",status="success"} 0
    ai.tokens.used{module="agent",provider="agent_turn",purpose="agent_turn",type="input"} 10
    ai.tokens.used{module="agent",provider="agent_turn",purpose="agent_turn",type="output"} 5
    ai_agent_llm_requests_total{status="tool_calls"} 1
    ai_agent_llm_retries_total{} 0
    ai_agent_llm_latency_ms{status="tool_calls"} 0
    orchestration.type_coercion.applied{capability="convert",module="agent"} 1
    tool.call.total{capability="convert",agent="shop",module="agent",status="error"} 1
    tool.call.duration_ms{capability="convert",agent="shop",module="agent",status="error"} 10
    orchestration.validation_feedback.attempts{capability="convert",agent="shop",module="agent"} 1
    ai.request.total{module="agent",provider="error_analysis",purpose="error_analysis",status="success"} 1
    ai.request.duration_ms{module="agent",provider="error_analysis",purpose="error_analysis",status="success"} 10
    ai.tokens.used{module="agent",provider="error_analysis",purpose="error_analysis",type="input"} 10
    ai.tokens.used{module="agent",provider="error_analysis",purpose="error_analysis",type="output"} 5
    orchestration.validation_feedback.success{capability="convert",agent="shop",module="agent"} 1
    tool.call.total{capability="convert",agent="shop",module="agent",status="success"} 1
    tool.call.duration_ms{capability="convert",agent="shop",module="agent",status="success"} 10
    orchestration.steps.total{capability="convert",agent="shop",module="agent",status="done"} 1
    ai_agent_turn_attempts{status="tool_calls"} 1
    ai_agent_turn_ms{status="tool_calls"} 30
    ai.request.total{module="agent",provider="agent_turn",purpose="agent_turn",status="success"} 1
    ai.request.duration_ms{module="agent",provider="agent_turn",purpose="agent_turn",status="success"} 10
    ai.tokens.used{module="agent",provider="agent_turn",purpose="agent_turn",type="input"} 10
    ai.tokens.used{module="agent",provider="agent_turn",purpose="agent_turn",type="output"} 5
    ai_agent_llm_requests_total{status="final_report"} 1
    ai_agent_llm_retries_total{} 0
    ai_agent_llm_latency_ms{status="final_report"} 10
    ai_agent_turn_attempts{status="final_report"} 1
    ai_agent_turn_ms{status="final_report"} 10
    ai_agent_final_report_total{source="tool-call",status="success",forced_final_reason="none",synthetic_reason="none"} 1
    ai_agent_final_report_attempts_total{} 1
    ai_agent_final_report_turns{source="tool-call",status="success",forced_final_reason="none",synthetic_reason="none"} 2
    orchestration.requests.total{module="agent",status="complete"} 1
    orchestration.requests.duration_ms{module="agent",status="complete"} 40
    "#);
}

#[test]
fn an_answer_that_the_session_rejects_is_counted_as_an_error() {
    let mut play = TestDriver::new();
    play.answer(saying("words"));
    play.answer(calling(&[("agent__final_report", "{}")]));
    play.answer(reporting("done"));
    let signals = signals_of(&play.events);
    let requests = metrics(&signals).into_iter().filter(|metric| metric.name == "ai.request.total");
    let statuses: Vec<_> = requests.map(|metric| metric.labels[3].1.as_ref()).collect();
    assert_eq!(statuses, ["error", "error", "success"]);
}

#[test]
fn the_log_lines_of_a_session_name_their_sources() {
    let signals = signals_of(&a_long_session());
    let sources: BTreeSet<&str> = lines(&signals).iter().map(|line| line.source).collect();
    assert_eq!(
        Vec::from_iter(sources),
        ["agent:final-report-accepted", "agent:orchestrator", "agent:retry", "framework/orchestration"]
    );
    assert!(signals.iter().any(|signal| matches!(signal, Signal::Span(span) if span.name == "agent.session")));
}

#[test]
fn each_attempt_of_a_turn_is_a_span_with_its_outcome_and_backoff() {
    let signals = signals_of(&a_long_session());
    let spans = spans(&signals);
    let shown = |span: &&Span| {
        let value = |key: &str| {
            let found = span.attributes.iter().find(|(name, _)| *name == key);
            found.map_or_else(|| "-".to_owned(), |(_, value)| value.to_string())
        };
        let keys = ["turn", "attempt", "status", "error.type", "backoff_ms"].map(value).join(" ");
        format!("{keys}: {:?}", span.status)
    };
    let chats: Vec<String> = spans.iter().filter(|span| span.name == "chat").map(shown).collect();
    insta::assert_snapshot!(chats.join("\n"), @r#"
    1 1 rate_limit rate_limit -: Error("rate limited: slow down; asks to wait 3 s")
    1 2 rate_limit rate_limit 3000: Error("rate limited: slow down")
    1 3 tool_calls - -: Ok
    2 1 text_only text_only -: Error("invalid response: text without tool calls")
    2 2 final_report_rejected final_report_rejected -: Error("invalid response: the final report was rejected")
    2 3 tool_calls - -: Ok
    3 1 final_report - -: Ok
    "#);
}

#[test]
fn decisions_about_a_turn_are_events_of_its_span() {
    for (case, events, expected) in [
        (
            "a long session",
            a_long_session(),
            vec!["retry_directive", "llm_wait_started", "llm_wait_ended", "turns_collapsed"],
        ),
        ("a report in text", a_report_in_text(), vec!["fallback_report_found"]),
    ] {
        let signals = signals_of(&events);
        let turns: Vec<&Span> = spans(&signals).into_iter().filter(|span| span.name == "agent.turn").collect();
        let names: BTreeSet<&str> = turns.iter().flat_map(|span| span.events.iter().map(|event| event.name)).collect();
        for name in expected {
            assert!(names.contains(name), "case: {case}: no {name} in {names:?}");
        }
    }
}
