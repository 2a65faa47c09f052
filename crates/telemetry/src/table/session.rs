//! Metrics and log lines of sessions.

use crate::definition::Definition;
use crate::table_entry::Severity;

const REPORT: [&str; 4] = ["source", "status", "forced_final_reason", "synthetic_reason"];

definitions! { METRICS:
    LLM_REQUESTS: 1 = Definition::counter("ai_agent_llm_requests_total", ["status"], "attempts, by outcome");
    LLM_RETRIES: 0 = Definition::counter("ai_agent_llm_retries_total", [], "attempts after the first one of a turn");
    LLM_LATENCY: 1 = Definition::histogram("ai_agent_llm_latency_ms", ["status"], "ms", "duration of an attempt");
    LLM_BACKOFF: 0 =
        Definition::histogram("ai_agent_llm_backoff_ms", [], "ms", "waits because all targets were rate-limited");
    CALLS_DROPPED: 1 = Definition::counter(
        "ai_agent_tool_calls_dropped_total",
        ["reason"],
        "tool calls of an answer that were not made; `reason` is malformed, unknown or not_permitted",
    );
    COLLAPSES: 1 =
        Definition::counter("ai_agent_retry_collapse_total", ["reason"], "reductions of the number of remaining turns");
    TURN_ATTEMPTS: 1 = Definition::histogram("ai_agent_turn_attempts", ["status"], "", "attempts in a turn");
    TURN_MS: 1 = Definition::histogram("ai_agent_turn_ms", ["status"], "ms", "duration of a turn");
    REPORTS: 4 = Definition::counter("ai_agent_final_report_total", REPORT, "final reports");
    REPORT_ATTEMPTS: 0 =
        Definition::counter("ai_agent_final_report_attempts_total", [], "attempts of models to give a final report");
    REPORT_TURNS: 4 = Definition::histogram(
        "ai_agent_final_report_turns",
        REPORT,
        "",
        "number of the turn in which the report was accepted",
    );
    CONTEXT_EVENTS: 1 = Definition::counter(
        "ai_agent_context_guard_events_total",
        ["reason"],
        "measures against requests and results that are too long; `reason` is skipped, compacted, trimmed or stored",
    );
    CHILDREN: 1 = Definition::counter("ai_agent_children_total", ["status"], "plans and agents that a session called");
}

const RETRY: (Severity, &str) = (Severity::Warning, "agent:retry");
const ORCHESTRATOR: (Severity, &str) = (Severity::Verbose, "agent:orchestrator");
const LIMITS: (Severity, &str) = (Severity::Warning, "agent:orchestrator");

definitions! { LOGS:
    ATTEMPT: 0 = Definition::log(ORCHESTRATOR, "Attempt", [], "an attempt to get an answer from a model ended");
    TEXT_ONLY: 0 = Definition::log(
        RETRY,
        "Synthetic retry: assistant returned content without tool calls",
        [],
        "an answer without tool calls is rejected",
    );
    SYNTHETIC_RETRY: 0 = Definition::log(RETRY, "Synthetic retry: ", [], "an answer is rejected for another reason");
    PROVIDER_FAILED: 0 = Definition::log(RETRY, "LLM call failed: ", [], "a request to a model failed");
    PROVIDER_FATAL: 0 = Definition::log(
        (Severity::Error, "agent:retry"),
        "LLM call failed for good: ",
        [],
        "a request to a model failed, and no retry can help: the provider rejected the API key or the account",
    );
    RATE_LIMIT_WAIT: 0 =
        Definition::log(RETRY, "All providers rate-limited: waited ", [], "all targets were rate-limited");
    TARGET_SKIPPED: 0 = Definition::log(
        RETRY,
        "Target skipped: ",
        [],
        "the circuit breaker of a target is open or it is cooling down; the next target is asked",
    );
    CALL_MALFORMED: 0 = Definition::log(
        RETRY,
        "Invalid tool call dropped due to malformed payload",
        [],
        "a tool call is not made because its arguments cannot be parsed",
    );
    CALL_DROPPED: 0 =
        Definition::log(RETRY, "Invalid tool call dropped: ", [], "a tool call is not made for another reason");
    COLLAPSED: 0 = Definition::log(LIMITS, "maxTurns ", [], "the number of remaining turns was reduced");
    FINAL_TURN: 0 =
        Definition::log(LIMITS, "Final turn detected: restricting tools", [], "the model may only give its report");
    CONTEXT_GUARD: 0 = Definition::log(
        LIMITS,
        "Context guard enforced: restricting tools",
        [],
        "the model may only give its report because the conversation is too long",
    );
    TURN_ENDED: 0 = Definition::log(ORCHESTRATOR, "Turn ", [], "a turn ended");
    REPORT_KEPT: 0 = Definition::log(
        (Severity::Verbose, "agent:fallback-report"),
        "A final report was found and is kept for the final turn",
        [],
        "the text of an answer contains a report",
    );
    REPORT_FALLBACK: 0 = Definition::log(
        (Severity::Warning, "agent:fallback-report"),
        "Accepting the report that was kept",
        [],
        "the model gave no report with the report tool",
    );
    REPORT_FAILURE: 0 = Definition::log(
        (Severity::Error, "agent:failure-report"),
        "Synthesized a failure report",
        [],
        "the model gave no report at all",
    );
    REPORT_ACCEPTED: 0 = Definition::log(
        (Severity::Final, "agent:final-report-accepted"),
        "Final report accepted",
        [],
        "the session has its report",
    );
    CONTEXT_REDUCED: 0 = Definition::log(
        LIMITS,
        "Context guard: ",
        [],
        "a request that is too long was shortened or sent to another target",
    );
    RESULT_STORED: 0 = Definition::log(
        ORCHESTRATOR,
        "Result stored: ",
        [],
        "a result is too long for the conversation and was stored",
    );
    CHILD_ENDED: 0 = Definition::log(ORCHESTRATOR, "Child ", [], "a plan or an agent that the session called ended");
}
