//! Metrics of runs.

use crate::definition::Definition;

const STEP: [&str; 3] = ["capability", "agent", "module"];

definitions! { ALL:
    REQUESTS: 2 =
        Definition::counter("orchestration.requests.total", ["module", "status"], "runs and sessions that ended");
    REQUEST_MS: 2 = Definition::histogram(
        "orchestration.requests.duration_ms",
        ["module", "status"],
        "ms",
        "duration of a run or session",
    );
    STEPS: 4 = Definition::counter(
        "orchestration.steps.total",
        ["capability", "agent", "module", "status"],
        "steps that started and ended",
    );
    AI_REQUESTS: 3 = Definition::counter(
        "ai.request.total",
        ["module", "provider", "status"],
        "requests to models; `provider` is the purpose, `status` is success or error",
    );
    AI_REQUEST_MS: 3 = Definition::histogram(
        "ai.request.duration_ms",
        ["module", "provider", "status"],
        "ms",
        "duration of a request to a model",
    );
    AI_TOKENS: 3 =
        Definition::counter("ai.tokens.used", ["module", "provider", "type"], "tokens; `type` is input or output");
    TOOL_CALLS: 4 = Definition::counter(
        "tool.call.total",
        ["capability", "agent", "module", "status"],
        "tool calls; `status` is success, error, failed (no response) or interrupted",
    );
    TOOL_CALL_MS: 4 = Definition::histogram(
        "tool.call.duration_ms",
        ["capability", "agent", "module", "status"],
        "ms",
        "duration of a tool call, including the wait for a free slot",
    );
    GATE_CLOSED: 2 = Definition::counter(
        "orchestration.gate.closed",
        ["module", "type"],
        "calls not sent because of a circuit breaker or a cool-down; `type` is tool or model",
    );
    PLANS: 2 = Definition::counter(
        "plan_generation.total",
        ["module", "status"],
        "generated plans; `status` is success or error",
    );
    PLAN_MS: 2 = Definition::histogram(
        "plan_generation.duration_ms",
        ["module", "status"],
        "ms",
        "duration of generating a plan, including retries",
    );
    PLAN_PARSE_ERRORS: 2 = Definition::counter(
        "plan_generation.parse_errors",
        ["module", "will_retry"],
        "answers of models that cannot be read as a plan",
    );
    PLAN_RETRIES: 1 = Definition::counter("plan_generation.retries", ["module"], "repeated requests for a plan");
    TOKENS_SAVED: 1 = Definition::counter(
        "orchestration.tiered_selection.tokens_saved",
        ["module"],
        "estimated tokens saved because the planner saw only selected tools",
    );
    COERCIONS: 2 = Definition::counter(
        "orchestration.type_coercion.applied",
        ["capability", "module"],
        "steps whose parameters were coerced to the schema",
    );
    MAPPINGS: 3 = Definition::counter(
        "orchestration.learned_mapping.applied",
        STEP,
        "steps that used a mapping that an earlier run learned",
    );
    RESOLUTIONS: 3 = Definition::counter(
        "orchestration.micro_resolution.attempts",
        STEP,
        "steps for which a model was asked where to find missing parameters",
    );
    RESOLUTION_SUCCESS: 3 = Definition::counter(
        "orchestration.micro_resolution.success",
        STEP,
        "answers about missing parameters that were used",
    );
    RESOLUTION_FAILED: 4 = Definition::counter(
        "orchestration.micro_resolution.failed",
        ["capability", "agent", "module", "reason"],
        "questions about missing parameters without a usable answer; `reason` is llm_error, refused or stopped",
    );
    RESENDS: 4 = Definition::counter(
        "orchestration.resend.applied",
        ["capability", "agent", "module", "reason"],
        "calls sent again unchanged; `reason` is transport, interrupted, rate_limit, server_error or other",
    );
    FACTS: 3 = Definition::counter(
        "orchestration.facts.applied",
        STEP,
        "calls that a rule corrected from facts that the error states",
    );
    FEEDBACK: 3 = Definition::counter(
        "orchestration.validation_feedback.attempts",
        STEP,
        "rejected calls that a model was asked to correct from the error",
    );
    FEEDBACK_SUCCESS: 3 = Definition::counter(
        "orchestration.validation_feedback.success",
        STEP,
        "corrections from an error that were applied",
    );
    FEEDBACK_FAILED: 4 = Definition::counter(
        "orchestration.validation_feedback.failed",
        ["capability", "agent", "module", "reason"],
        "no usable correction; `reason` is llm_error, parse_error, refused, resends_spent, max_retries_exceeded or stopped",
    );
    NO_RETRY: 3 = Definition::counter(
        "orchestration.error_analysis.no_retry",
        ["capability", "http_status", "module"],
        "analyses in which a model advised against a retry",
    );
    CONTEXT: 2 = Definition::counter(
        "orchestration.semantic_retry.attempts",
        ["capability", "module"],
        "rejected calls that a model was asked to correct with the request and all earlier results (semantic retries)",
    );
    CONTEXT_INDEPENDENT: 2 = Definition::counter(
        "orchestration.semantic_retry.independent_step",
        ["capability", "module"],
        "semantic retries of steps that depend on no other step",
    );
    CONTEXT_SUCCESS: 2 = Definition::counter(
        "orchestration.semantic_retry.success",
        ["capability", "module"],
        "semantic retries for which the model returned a correction",
    );
    CONTEXT_CANNOT_FIX: 2 = Definition::counter(
        "orchestration.semantic_retry.cannot_fix",
        ["capability", "module"],
        "semantic retries for which the model returned no correction",
    );
    CONTEXT_APPLIED: 2 = Definition::counter(
        "orchestration.semantic_retry.applied",
        ["capability", "module"],
        "corrections of semantic retries that were applied",
    );
    CONTEXT_LLM_ERRORS: 2 = Definition::counter(
        "orchestration.semantic_retry.llm_errors",
        ["capability", "module"],
        "failed requests to models for semantic retries",
    );
    CONTEXT_LATENCY: 2 = Definition::histogram(
        "orchestration.semantic_retry.llm_latency_ms",
        ["capability", "module"],
        "ms",
        "duration of a request to a model for a semantic retry",
    );
}
