//! Log lines and metrics of a session.

use reknit_model_api::{ErrorClass, ModelFailure};

use crate::session_world::{TestDriver, calling, rate_limited, reporting, saying, with_rules};
use crate::signals::{self, lines, signals_of};

fn log(play: &TestDriver) -> String {
    let signals = signals_of(&play.events);
    lines(&signals)
        .iter()
        .filter(|line| line.source.starts_with("agent"))
        .map(|line| format!("{} {} {}", line.severity.as_str(), line.source, line.message))
        .collect::<Vec<_>>()
        .join("\n")
}

fn metrics(play: &TestDriver) -> Vec<String> {
    let signals = signals_of(&play.events);
    signals::metrics(&signals)
        .iter()
        .filter(|metric| metric.name.starts_with("ai_agent"))
        .map(|metric| signals::shown(metric))
        .collect()
}

fn long_session() -> TestDriver {
    let mut play = TestDriver::begin(with_rules(|rules| rules.max_turns = 4));
    play.fail(rate_limited(Some(3_000)));
    play.fail(rate_limited(None));
    play.finish_wait();
    play.answer(calling(&[("shop__look_up", "{{{"), ("shop__look_up", "{}")]));
    play.reply_all("{}");
    play.answer(saying("words"));
    play.answer(calling(&[("agent__final_report", "{}")]));
    play.good_turn();
    play.answer(reporting("done"));
    play
}

#[test]
fn the_log_lines_of_a_session_have_their_contract_messages() {
    insta::assert_snapshot!(log(&long_session()), @"
    VRB agent:orchestrator Attempt 1.1 on a: rate_limit, 0 ms
    WRN agent:retry LLM call failed: rate limited: slow down; asks to wait 3 s
    VRB agent:orchestrator Attempt 1.2 on b: rate_limit, 0 ms
    WRN agent:retry LLM call failed: rate limited: slow down
    WRN agent:retry All providers rate-limited: waiting 3000 ms
    WRN agent:retry Invalid tool call dropped due to malformed payload: shop__look_up
    VRB agent:orchestrator Attempt 1.3 on a: tool_calls, 0 ms, tokens in=10 out=5
    VRB agent:orchestrator Turn 1 ended: tool_calls, 3 attempts, 3000 ms
    VRB agent:orchestrator Attempt 2.1 on a: text_only, 0 ms, tokens in=10 out=5
    WRN agent:retry Synthetic retry: assistant returned content without tool calls
    WRN agent:orchestrator maxTurns 4 -> 3 in turn 2 (reason=incomplete_final_report)
    VRB agent:orchestrator Attempt 2.2 on b: final_report_rejected, 0 ms, tokens in=10 out=5
    WRN agent:retry Synthetic retry: final_report_rejected: invalid response: the final report was rejected
    VRB agent:orchestrator Attempt 2.3 on a: tool_calls, 0 ms, tokens in=10 out=5
    VRB agent:orchestrator Turn 2 ended: tool_calls, 3 attempts, 0 ms
    WRN agent:orchestrator Final turn detected: restricting tools to `agent__final_report` in turn 3 (reason=max_turns)
    VRB agent:orchestrator Attempt 3.1 on a: final_report, 0 ms, tokens in=10 out=5
    VRB agent:orchestrator Turn 3 ended: final_report, 1 attempts, 0 ms
    FIN agent:final-report-accepted Final report accepted in turn 3 (source=tool-call)
    ");
    let mut failed = TestDriver::new();
    failed.fail_with(ErrorClass::AuthError);
    insta::assert_snapshot!(log(&failed), @"
    VRB agent:orchestrator Attempt 1.1 on a: auth_error, 0 ms
    ERR agent:retry LLM call failed for good: unauthorized: it failed
    VRB agent:orchestrator Turn 1 ended: failed, 1 attempts, 0 ms
    ERR agent:failure-report Synthesized a failure report (reason=auth_error)
    FIN agent:final-report-accepted Final report accepted in turn 1 (source=synthetic)
    ");
}

#[test]
fn the_metrics_of_a_session_have_closed_labels() {
    insta::assert_snapshot!(metrics(&long_session()).join("\n"), @r#"
    ai_agent_llm_requests_total{status="rate_limit"} 1
    ai_agent_llm_retries_total{} 0
    ai_agent_llm_latency_ms{status="rate_limit"} 0
    ai_agent_llm_requests_total{status="rate_limit"} 1
    ai_agent_llm_retries_total{} 1
    ai_agent_llm_latency_ms{status="rate_limit"} 0
    ai_agent_llm_backoff_ms{} 3000
    ai_agent_tool_calls_dropped_total{reason="malformed"} 1
    ai_agent_llm_requests_total{status="tool_calls"} 1
    ai_agent_llm_retries_total{} 1
    ai_agent_llm_latency_ms{status="tool_calls"} 0
    ai_agent_turn_attempts{status="tool_calls"} 3
    ai_agent_turn_ms{status="tool_calls"} 3000
    ai_agent_llm_requests_total{status="text_only"} 1
    ai_agent_llm_retries_total{} 0
    ai_agent_llm_latency_ms{status="text_only"} 0
    ai_agent_retry_collapse_total{reason="incomplete_final_report"} 1
    ai_agent_llm_requests_total{status="final_report_rejected"} 1
    ai_agent_llm_retries_total{} 1
    ai_agent_llm_latency_ms{status="final_report_rejected"} 0
    ai_agent_llm_requests_total{status="tool_calls"} 1
    ai_agent_llm_retries_total{} 1
    ai_agent_llm_latency_ms{status="tool_calls"} 0
    ai_agent_turn_attempts{status="tool_calls"} 3
    ai_agent_turn_ms{status="tool_calls"} 0
    ai_agent_llm_requests_total{status="final_report"} 1
    ai_agent_llm_retries_total{} 0
    ai_agent_llm_latency_ms{status="final_report"} 0
    ai_agent_turn_attempts{status="final_report"} 1
    ai_agent_turn_ms{status="final_report"} 0
    ai_agent_final_report_total{source="tool-call",status="success",forced_final_reason="max_turns",synthetic_reason="none"} 1
    ai_agent_final_report_attempts_total{} 2
    ai_agent_final_report_turns{source="tool-call",status="success",forced_final_reason="max_turns",synthetic_reason="none"} 3
    "#);
}

#[test]
fn a_retry_is_counted_once() {
    let mut play = TestDriver::new();
    play.answer(saying("words"));
    play.answer(saying("words"));
    play.answer(reporting("done"));
    let signals = signals_of(&play.events);
    let retries: u64 = signals::metrics(&signals)
        .iter()
        .filter(|metric| metric.name == "ai_agent_llm_retries_total")
        .map(|metric| metric.value)
        .sum();
    assert_eq!(retries, 2, "three attempts are two retries");
}

#[test]
fn texts_of_providers_and_models_are_redacted_and_truncated_in_the_log() {
    let mut play = TestDriver::new();
    let words = format!("Incorrect API key provided: sk-proj-0123456789abcdef{}", " and so on".repeat(1_000));
    play.fail(ModelFailure::new(ErrorClass::ModelError, words));
    play.answer(calling(&[(&format!("password=hunter2 {}", "x".repeat(10_000)), "{}")]));
    let log = log(&play);
    assert!(log.contains("LLM call failed") && log.contains("dropped"), "{log}");
    assert!(!log.contains("sk-proj-") && !log.contains("hunter2"), "{log}");
    assert!(log.lines().all(|line| line.len() < 700), "{log}");
}
