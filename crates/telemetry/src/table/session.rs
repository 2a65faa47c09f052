//! Metrics and log lines of sessions.

use crate::table_entry::Severity;
use crate::table_entry::SignalKind::{self, Counter, Histogram, Log};

const REPORT: [&str; 4] = ["source", "status", "forced_final_reason", "synthetic_reason"];

definitions! { METRICS:
    /// attempts, by outcome
    LLM_REQUESTS = Counter, "ai_agent_llm_requests_total", ["status"];
    /// attempts after the first one of a turn
    LLM_RETRIES = Counter, "ai_agent_llm_retries_total", [];
    /// duration of an attempt
    LLM_LATENCY = Histogram, "ai_agent_llm_latency_ms", ["status"];
    /// waits before an attempt, such as for rate limits
    LLM_BACKOFF = Histogram, "ai_agent_llm_backoff_ms", [];
    /// tool calls that models wrote as text and that were made; `reason` is whole_answer, fenced_block, tag, tag_in_line or function_call
    CALLS_IN_TEXT = Counter, "ai_agent_tool_calls_in_text_total", ["reason"];
    /// tool calls of an answer that were not made; `reason` is malformed, unknown, not_permitted, quoted or in_text
    CALLS_DROPPED = Counter, "ai_agent_tool_calls_dropped_total", ["reason"];
    /// reductions of the number of remaining turns
    COLLAPSES = Counter, "ai_agent_retry_collapse_total", ["reason"];
    /// attempts in a turn
    TURN_ATTEMPTS = Histogram, "ai_agent_turn_attempts", ["status"];
    /// duration of a turn
    TURN_MS = Histogram, "ai_agent_turn_ms", ["status"];
    /// final reports
    REPORTS = Counter, "ai_agent_final_report_total", REPORT;
    /// attempts of models to give a final report
    REPORT_ATTEMPTS = Counter, "ai_agent_final_report_attempts_total", [];
    /// number of the turn in which the report was accepted
    REPORT_TURNS = Histogram, "ai_agent_final_report_turns", REPORT;
    /// measures against requests and results that are too long; `reason` is skipped, compacted, trimmed or stored
    CONTEXT_EVENTS = Counter, "ai_agent_context_guard_events_total", ["reason"];
    /// plans and agents that a session called
    CHILDREN = Counter, "ai_agent_children_total", ["status"];
}

const RETRY: SignalKind = Log(Severity::Warning, "agent:retry");
const ORCHESTRATOR: SignalKind = Log(Severity::Verbose, "agent:orchestrator");
const LIMITS: SignalKind = Log(Severity::Warning, "agent:orchestrator");

definitions! { LOGS:
    /// an attempt to get an answer from a model ended
    ATTEMPT = ORCHESTRATOR, "Attempt", [];
    /// an answer without tool calls is rejected
    TEXT_ONLY = RETRY, "Synthetic retry: assistant returned content without tool calls", [];
    /// an answer is rejected for another reason
    SYNTHETIC_RETRY = RETRY, "Synthetic retry: ", [];
    /// a request to a model failed
    PROVIDER_FAILED = RETRY, "LLM call failed: ", [];
    /// a request to a model failed, and no retry can help: the provider rejected the API key or the account
    PROVIDER_FATAL = Log(Severity::Error, "agent:retry"), "LLM call failed for good: ", [];
    /// all targets are rate-limited, and the session waits
    RATE_LIMIT_WAIT = RETRY, "All providers rate-limited: waiting ", [];
    /// the session waits for another reason before it asks a model again
    FAILURE_WAIT = RETRY, "Waiting before the next attempt: ", [];
    /// a wait was ended early
    WAIT_ABORTED = RETRY, "Wait ended early: ", [];
    /// a provider refused the output limit and stated a smaller one
    OUTPUT_LIMIT = RETRY, "Output limit learned: ", [];
    /// a tool call that a model wrote as text is made
    CALL_IN_TEXT = RETRY, "Tool call written as text: ", [];
    /// the circuit breaker of a target is open or it is cooling down
    TARGET_SKIPPED = RETRY, "Target skipped: ", [];
    /// a tool call is not made because its arguments cannot be parsed
    CALL_MALFORMED = RETRY, "Invalid tool call dropped due to malformed payload", [];
    /// a tool call is not made for another reason
    CALL_DROPPED = RETRY, "Invalid tool call dropped: ", [];
    /// the number of remaining turns was reduced
    COLLAPSED = LIMITS, "maxTurns ", [];
    /// the model may only give its report
    FINAL_TURN = LIMITS, "Final turn detected: restricting tools", [];
    /// the model may only give its report because the conversation is too long
    CONTEXT_GUARD = LIMITS, "Context guard enforced: restricting tools", [];
    /// a turn ended
    TURN_ENDED = ORCHESTRATOR, "Turn ", [];
    /// the text of an answer contains a report
    REPORT_KEPT = Log(Severity::Verbose, "agent:fallback-report"),
        "A final report was found and is kept for the final turn", [];
    /// the model gave no report with the report tool
    REPORT_FALLBACK = Log(Severity::Warning, "agent:fallback-report"), "Accepting the report that was kept", [];
    /// the model gave no report at all
    REPORT_FAILURE = Log(Severity::Error, "agent:failure-report"), "Synthesized a failure report", [];
    /// the session has its report
    REPORT_ACCEPTED = Log(Severity::Final, "agent:final-report-accepted"), "Final report accepted", [];
    /// a request that is too long was shortened or sent to another target
    CONTEXT_REDUCED = LIMITS, "Context guard: ", [];
    /// a result is too long for the conversation and was stored
    RESULT_STORED = ORCHESTRATOR, "Result stored: ", [];
    /// with the guard on, a model said what the agent may change
    MANDATE = ORCHESTRATOR, "Mandate: ", [];
    /// a call repeats one with a side effect that succeeded; without a reason it gets the earlier result
    CALL_REPEATED = ORCHESTRATOR, "Call repeated: ", [];
    /// a plan or an agent that the session called ended
    CHILD_ENDED = ORCHESTRATOR, "Child ", [];
}
