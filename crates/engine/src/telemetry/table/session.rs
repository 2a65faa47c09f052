//! What is counted, measured and logged about sessions.

use crate::telemetry::entry::{Entry, Name, Severity};

const REPORT: [&str; 4] = ["source", "status", "forced_final_reason", "synthetic_reason"];

pub(crate) static LLM_REQUESTS: Entry<1> =
    Entry::counter("ai_agent_llm_requests_total", ["status"], "attempts, by what came of them");
pub(crate) static LLM_RETRIES: Entry<0> =
    Entry::counter("ai_agent_llm_retries_total", [], "attempts behind the first of their turn");
pub(crate) static LLM_LATENCY: Entry<1> =
    Entry::histogram("ai_agent_llm_latency_ms", ["status"], "ms", "how long attempts took");
pub(crate) static LLM_BACKOFF: Entry<0> =
    Entry::histogram("ai_agent_llm_backoff_ms", [], "ms", "waits because everybody was at a limit");
pub(crate) static CALLS_DROPPED: Entry<1> = Entry::counter(
    "ai_agent_tool_calls_dropped_total",
    ["reason"],
    "calls in answers that were not made; `reason` is malformed, unknown or not_permitted",
);
pub(crate) static COLLAPSES: Entry<1> =
    Entry::counter("ai_agent_retry_collapse_total", ["reason"], "how often the turns that were left became fewer");
pub(crate) static TURN_ATTEMPTS: Entry<1> =
    Entry::histogram("ai_agent_turn_attempts", ["status"], "", "attempts in a turn");
pub(crate) static TURN_MS: Entry<1> = Entry::histogram("ai_agent_turn_ms", ["status"], "ms", "how long a turn took");
pub(crate) static REPORTS: Entry<4> = Entry::counter("ai_agent_final_report_total", REPORT, "reports");
pub(crate) static REPORT_ATTEMPTS: Entry<0> =
    Entry::counter("ai_agent_final_report_attempts_total", [], "how often a report was tried");
pub(crate) static REPORT_TURNS: Entry<4> =
    Entry::histogram("ai_agent_final_report_turns", REPORT, "", "the turn that the report came in");

pub(crate) static CONTEXT_EVENTS: Entry<1> = Entry::counter(
    "ai_agent_context_guard_events_total",
    ["reason"],
    "what was done about too long questions and results; `reason` is skipped, compacted, trimmed or stored",
);
pub(crate) static CHILDREN: Entry<1> =
    Entry::counter("ai_agent_children_total", ["status"], "plans and agents that were called");

pub(crate) static METRICS: &[Name] = &[
    LLM_REQUESTS.listed(),
    LLM_RETRIES.listed(),
    LLM_LATENCY.listed(),
    LLM_BACKOFF.listed(),
    CALLS_DROPPED.listed(),
    COLLAPSES.listed(),
    TURN_ATTEMPTS.listed(),
    TURN_MS.listed(),
    REPORTS.listed(),
    REPORT_ATTEMPTS.listed(),
    REPORT_TURNS.listed(),
    CONTEXT_EVENTS.listed(),
    CHILDREN.listed(),
];

const RETRY: (Severity, &str) = (Severity::Warning, "agent:retry");
const ORCHESTRATOR: (Severity, &str) = (Severity::Verbose, "agent:orchestrator");
const LIMITS: (Severity, &str) = (Severity::Warning, "agent:orchestrator");

pub(crate) static ATTEMPT: Entry<0> = Entry::log(ORCHESTRATOR, "Attempt", [], "a model was asked");
pub(crate) static TEXT_ONLY: Entry<0> = Entry::log(
    RETRY,
    "Synthetic retry: assistant returned content without tool calls",
    [],
    "an answer of words alone does not count",
);
pub(crate) static SYNTHETIC_RETRY: Entry<0> =
    Entry::log(RETRY, "Synthetic retry: ", [], "an answer that does not count for another reason");
pub(crate) static PROVIDER_FAILED: Entry<0> = Entry::log(RETRY, "LLM call failed: ", [], "no answer");
pub(crate) static PROVIDER_FATAL: Entry<0> = Entry::log(
    (Severity::Error, "agent:retry"),
    "LLM call failed for good: ",
    [],
    "no answer, and none to be had: the key or the account was refused",
);
pub(crate) static WAITED: Entry<0> =
    Entry::log(RETRY, "All providers rate-limited: waited ", [], "everybody was at a limit");
pub(crate) static RESTED: Entry<0> = Entry::log(RETRY, "Target is resting: ", [], "the next one is asked");
pub(crate) static CALL_MALFORMED: Entry<0> = Entry::log(
    RETRY,
    "Invalid tool call dropped due to malformed payload",
    [],
    "a call whose parameters cannot be read",
);
pub(crate) static CALL_DROPPED: Entry<0> =
    Entry::log(RETRY, "Invalid tool call dropped: ", [], "a call that is not made for another reason");
pub(crate) static REPORT_KEPT: Entry<0> = Entry::log(
    (Severity::Verbose, "agent:fallback-report"),
    "A final report was found and is kept for the final turn",
    [],
    "a report stood in words",
);
pub(crate) static REPORT_FALLBACK: Entry<0> = Entry::log(
    (Severity::Warning, "agent:fallback-report"),
    "Accepting the report that was kept",
    [],
    "no better one came",
);
pub(crate) static REPORT_FAILURE: Entry<0> =
    Entry::log((Severity::Error, "agent:failure-report"), "Synthesized a failure report", [], "none came at all");
pub(crate) static REPORT_ACCEPTED: Entry<0> = Entry::log(
    (Severity::Final, "agent:final-report-accepted"),
    "Final report accepted",
    [],
    "the session has its report",
);
pub(crate) static FINAL_TURN: Entry<0> =
    Entry::log(LIMITS, "Final turn detected: restricting tools", [], "only the report may be given");
pub(crate) static CONTEXT_GUARD: Entry<0> =
    Entry::log(LIMITS, "Context guard enforced: restricting tools", [], "the same, for the conversation is too long");
pub(crate) static COLLAPSED: Entry<0> = Entry::log(LIMITS, "maxTurns ", [], "the turns that were left became fewer");
pub(crate) static TURN_ENDED: Entry<0> = Entry::log(ORCHESTRATOR, "Turn ", [], "a turn is over");

pub(crate) static CONTEXT_ROOM: Entry<0> =
    Entry::log(LIMITS, "Context guard: ", [], "room was made for a question that is too long");
pub(crate) static RESULT_STORED: Entry<0> =
    Entry::log(ORCHESTRATOR, "Result stored: ", [], "a result is too long for the conversation");
pub(crate) static CHILD_ENDED: Entry<0> =
    Entry::log(ORCHESTRATOR, "Child ", [], "a plan or an agent that was called is over");

pub(crate) static LOGS: &[Name] = &[
    ATTEMPT.listed(),
    TEXT_ONLY.listed(),
    SYNTHETIC_RETRY.listed(),
    PROVIDER_FAILED.listed(),
    PROVIDER_FATAL.listed(),
    WAITED.listed(),
    RESTED.listed(),
    CALL_MALFORMED.listed(),
    CALL_DROPPED.listed(),
    COLLAPSED.listed(),
    FINAL_TURN.listed(),
    CONTEXT_GUARD.listed(),
    TURN_ENDED.listed(),
    REPORT_KEPT.listed(),
    REPORT_FALLBACK.listed(),
    REPORT_FAILURE.listed(),
    REPORT_ACCEPTED.listed(),
    CONTEXT_ROOM.listed(),
    RESULT_STORED.listed(),
    CHILD_ENDED.listed(),
];
