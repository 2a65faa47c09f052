//! Metrics of runs.

use crate::compat::{AGENT, PROVIDER};
use crate::table_entry::SignalKind::{Counter, Histogram};

const STEP: [&str; 3] = ["capability", AGENT, "module"];

definitions! { ALL:
    /// runs and sessions that ended
    REQUESTS = Counter, "orchestration.requests.total", ["module", "status"];
    /// duration of a run or session
    REQUEST_MS = Histogram, "orchestration.requests.duration_ms", ["module", "status"];
    /// steps that started and ended
    STEPS = Counter, "orchestration.steps.total", ["capability", AGENT, "module", "status"];
    /// requests to models; `provider` is the purpose, too; `status` is success or error; an answer that a session rejects is an error
    AI_REQUESTS = Counter, "ai.request.total", ["module", PROVIDER, "purpose", "status"];
    /// duration of a request to a model
    AI_REQUEST_MS = Histogram, "ai.request.duration_ms", ["module", PROVIDER, "purpose", "status"];
    /// tokens; `type` is input or output
    AI_TOKENS = Counter, "ai.tokens.used", ["module", PROVIDER, "purpose", "type"];
    /// tool calls; `status` is success, error, failed (no response) or interrupted
    TOOL_CALLS = Counter, "tool.call.total", ["capability", AGENT, "module", "status"];
    /// duration of a tool call, including the wait for a free slot
    TOOL_CALL_MS = Histogram, "tool.call.duration_ms", ["capability", AGENT, "module", "status"];
    /// calls not sent because of a circuit breaker or a cool-down; `type` is tool or model
    GATE_CLOSED = Counter, "orchestration.gate.closed", ["module", "type"];
    /// questions to a person; `rule` is gate and a row of docs/gate-table.md (`gate-8`), approve, plan or unknown-outcome
    QUESTIONS = Counter, "orchestration.approval.questions", ["module", "rule"];
    /// time from a question to its decision; `decision` is approved, edited, denied, expired, happened, did_not_happen or check
    DECISION_MS = Histogram, "orchestration.approval.decision_ms", ["decision", "module", "rule"];
    /// generated plans; `status` is success or error
    PLANS = Counter, "plan_generation.total", ["module", "status"];
    /// duration of generating a plan, including retries
    PLAN_MS = Histogram, "plan_generation.duration_ms", ["module", "status"];
    /// answers of models that cannot be read as a plan
    PLAN_PARSE_ERRORS = Counter, "plan_generation.parse_errors", ["module", "will_retry"];
    /// repeated requests for a plan
    PLAN_RETRIES = Counter, "plan_generation.retries", ["module"];
    /// requests for a plan of what is missing after steps failed (second plans); `status` is success or error
    REPLANS = Counter, "orchestration.replanning.total", ["module", "status"];
    /// estimated tokens saved because the planner saw only selected tools
    TOKENS_SAVED = Counter, "orchestration.tiered_selection.tokens_saved", ["module"];
    /// steps whose parameters were coerced to the schema
    COERCIONS = Counter, "orchestration.type_coercion.applied", ["capability", "module"];
    /// steps that used a mapping that an earlier run learned
    MAPPINGS = Counter, "orchestration.learned_mapping.applied", STEP;
    /// steps for which a model was asked where to find missing parameters
    RESOLUTIONS = Counter, "orchestration.micro_resolution.attempts", STEP;
    /// answers about missing parameters that were used
    RESOLUTION_SUCCESS = Counter, "orchestration.micro_resolution.success", STEP;
    /// questions about missing parameters without a usable answer; `reason` is llm_error, refused or stopped
    RESOLUTION_FAILED = Counter, "orchestration.micro_resolution.failed", ["capability", AGENT, "module", "reason"];
    /// calls sent again unchanged; `reason` is transport, interrupted, rate_limit, server_error or other
    RESENDS = Counter, "orchestration.resend.applied", ["capability", AGENT, "module", "reason"];
    /// calls that a rule corrected from facts that the error states
    FACTS = Counter, "orchestration.facts.applied", STEP;
    /// calls that a rule corrected that was learned in earlier runs
    RULES = Counter, "orchestration.learned_rule.applied", STEP;
    /// calls that were rejected although a learned rule had corrected them
    RULES_REJECTED = Counter, "orchestration.learned_rule.rejected", STEP;
    /// rejected calls that a model was asked to correct from the error
    FEEDBACK = Counter, "orchestration.validation_feedback.attempts", STEP;
    /// corrections from an error that were applied
    FEEDBACK_SUCCESS = Counter, "orchestration.validation_feedback.success", STEP;
    /// no usable correction; `reason` is llm_error, parse_error, refused, resends_spent, max_retries_exceeded or
    /// stopped
    FEEDBACK_FAILED = Counter, "orchestration.validation_feedback.failed", ["capability", AGENT, "module", "reason"];
    /// analyses in which a model advised against a retry
    NO_RETRY = Counter, "orchestration.error_analysis.no_retry", ["capability", "http_status", "module"];
    /// rejected calls that a model was asked to correct with the request and all earlier results (semantic retries)
    CONTEXT = Counter, "orchestration.semantic_retry.attempts", ["capability", "module"];
    /// semantic retries of steps that depend on no other step
    CONTEXT_INDEPENDENT = Counter, "orchestration.semantic_retry.independent_step", ["capability", "module"];
    /// semantic retries for which the model returned a correction
    CONTEXT_SUCCESS = Counter, "orchestration.semantic_retry.success", ["capability", "module"];
    /// semantic retries for which the model returned no correction
    CONTEXT_CANNOT_FIX = Counter, "orchestration.semantic_retry.cannot_fix", ["capability", "module"];
    /// corrections of semantic retries that were applied
    CONTEXT_APPLIED = Counter, "orchestration.semantic_retry.applied", ["capability", "module"];
    /// failed requests to models for semantic retries
    CONTEXT_LLM_ERRORS = Counter, "orchestration.semantic_retry.llm_errors", ["capability", "module"];
    /// duration of a request to a model for a semantic retry
    CONTEXT_LATENCY = Histogram, "orchestration.semantic_retry.llm_latency_ms", ["capability", "module"];
}
