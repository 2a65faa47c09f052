//! What is counted and measured about runs.

use crate::telemetry::entry::{Entry, Name};

const STEP: [&str; 3] = ["capability", "agent", "module"];

pub(crate) static REQUESTS: Entry<2> =
    Entry::counter("orchestration.requests.total", ["module", "status"], "runs that ended");
pub(crate) static REQUEST_MS: Entry<2> =
    Entry::histogram("orchestration.requests.duration_ms", ["module", "status"], "ms", "how long they took");
pub(crate) static STEPS: Entry<4> = Entry::counter(
    "orchestration.steps.total",
    ["capability", "agent", "module", "status"],
    "steps that were begun and are over",
);

pub(crate) static AI_REQUESTS: Entry<3> = Entry::counter(
    "ai.request.total",
    ["module", "provider", "status"],
    "questions to models; `provider` is what for, `status` is success or error",
);
pub(crate) static AI_REQUEST_MS: Entry<3> =
    Entry::histogram("ai.request.duration_ms", ["module", "provider", "status"], "ms", "how long they took");
pub(crate) static AI_TOKENS: Entry<3> =
    Entry::counter("ai.tokens.used", ["module", "provider", "type"], "tokens; `type` is input or output");

pub(crate) static TOOL_CALLS: Entry<4> = Entry::counter(
    "tool.call.total",
    ["capability", "agent", "module", "status"],
    "calls of tools; `status` is success, error, failed (no answer) or interrupted",
);
pub(crate) static TOOL_CALL_MS: Entry<4> = Entry::histogram(
    "tool.call.duration_ms",
    ["capability", "agent", "module", "status"],
    "ms",
    "how long they took, the wait for a free place included",
);
pub(crate) static GATE_CLOSED: Entry<2> = Entry::counter(
    "orchestration.gate.closed",
    ["module", "type"],
    "calls (`tool`) and questions (`model`) that were not begun, for whom they need rests",
);

pub(crate) static PLANS: Entry<2> =
    Entry::counter("plan_generation.total", ["module", "status"], "plans asked for; `status` is success or error");
pub(crate) static PLAN_MS: Entry<2> =
    Entry::histogram("plan_generation.duration_ms", ["module", "status"], "ms", "how long that took, with all retries");
pub(crate) static PLAN_PARSE_ERRORS: Entry<2> =
    Entry::counter("plan_generation.parse_errors", ["module", "will_retry"], "answers that are no plan that can run");
pub(crate) static PLAN_RETRIES: Entry<1> =
    Entry::counter("plan_generation.retries", ["module"], "plans asked for again because of that");
pub(crate) static TOKENS_SAVED: Entry<1> = Entry::counter(
    "orchestration.tiered_selection.tokens_saved",
    ["module"],
    "tokens that planners were spared, as far as letters tell",
);

pub(crate) static COERCIONS: Entry<2> = Entry::counter(
    "orchestration.type_coercion.applied",
    ["capability", "module"],
    "steps whose parameters were made to fit",
);
pub(crate) static FACTS: Entry<3> =
    Entry::counter("orchestration.facts.applied", STEP, "calls changed as their error determined");
pub(crate) static MAPPINGS: Entry<3> =
    Entry::counter("orchestration.learned_mapping.applied", STEP, "steps that used what an earlier run found");
pub(crate) static RESENDS: Entry<4> = Entry::counter(
    "orchestration.resend.applied",
    ["capability", "agent", "module", "reason"],
    "calls sent again unchanged; `reason` is transport, interrupted, rate_limit, server_error or other",
);

pub(crate) static RESOLUTIONS: Entry<3> =
    Entry::counter("orchestration.micro_resolution.attempts", STEP, "models asked where missing parameters are");
pub(crate) static RESOLUTION_SUCCESS: Entry<3> =
    Entry::counter("orchestration.micro_resolution.success", STEP, "answers that were used");
pub(crate) static RESOLUTION_FAILED: Entry<4> = Entry::counter(
    "orchestration.micro_resolution.failed",
    ["capability", "agent", "module", "reason"],
    "those that were not; `reason` is llm_error, refused or stopped",
);

pub(crate) static FEEDBACK: Entry<3> = Entry::counter(
    "orchestration.validation_feedback.attempts",
    STEP,
    "refused calls that a model was shown with their error",
);
pub(crate) static FEEDBACK_SUCCESS: Entry<3> =
    Entry::counter("orchestration.validation_feedback.success", STEP, "corrections that were used");
pub(crate) static FEEDBACK_FAILED: Entry<4> = Entry::counter(
    "orchestration.validation_feedback.failed",
    ["capability", "agent", "module", "reason"],
    "none came of it; `reason` is llm_error, parse_error, refused, resends_spent, max_retries_exceeded or stopped",
);
pub(crate) static NO_RETRY: Entry<3> = Entry::counter(
    "orchestration.error_analysis.no_retry",
    ["capability", "http_status", "module"],
    "models that saw the error and advise against another try",
);

pub(crate) static CONTEXT: Entry<2> = Entry::counter(
    "orchestration.semantic_retry.attempts",
    ["capability", "module"],
    "refused calls that a model was shown with all that is known",
);
pub(crate) static CONTEXT_INDEPENDENT: Entry<2> = Entry::counter(
    "orchestration.semantic_retry.independent_step",
    ["capability", "module"],
    "those of steps that need no other",
);
pub(crate) static CONTEXT_SUCCESS: Entry<2> =
    Entry::counter("orchestration.semantic_retry.success", ["capability", "module"], "models that know what to change");
pub(crate) static CONTEXT_CANNOT_FIX: Entry<2> =
    Entry::counter("orchestration.semantic_retry.cannot_fix", ["capability", "module"], "models that do not");
pub(crate) static CONTEXT_APPLIED: Entry<2> =
    Entry::counter("orchestration.semantic_retry.applied", ["capability", "module"], "corrections that were used");
pub(crate) static CONTEXT_LLM_ERRORS: Entry<2> = Entry::counter(
    "orchestration.semantic_retry.llm_errors",
    ["capability", "module"],
    "questions of this kind without an answer",
);
pub(crate) static CONTEXT_LATENCY: Entry<2> = Entry::histogram(
    "orchestration.semantic_retry.llm_latency_ms",
    ["capability", "module"],
    "ms",
    "how long questions of this kind took",
);

pub(crate) static ALL: &[Name] = &[
    REQUESTS.listed(),
    REQUEST_MS.listed(),
    STEPS.listed(),
    AI_REQUESTS.listed(),
    AI_REQUEST_MS.listed(),
    AI_TOKENS.listed(),
    TOOL_CALLS.listed(),
    TOOL_CALL_MS.listed(),
    GATE_CLOSED.listed(),
    PLANS.listed(),
    PLAN_MS.listed(),
    PLAN_PARSE_ERRORS.listed(),
    PLAN_RETRIES.listed(),
    TOKENS_SAVED.listed(),
    COERCIONS.listed(),
    MAPPINGS.listed(),
    RESOLUTIONS.listed(),
    RESOLUTION_SUCCESS.listed(),
    RESOLUTION_FAILED.listed(),
    RESENDS.listed(),
    FACTS.listed(),
    FEEDBACK.listed(),
    FEEDBACK_SUCCESS.listed(),
    FEEDBACK_FAILED.listed(),
    NO_RETRY.listed(),
    CONTEXT.listed(),
    CONTEXT_INDEPENDENT.listed(),
    CONTEXT_SUCCESS.listed(),
    CONTEXT_CANNOT_FIX.listed(),
    CONTEXT_APPLIED.listed(),
    CONTEXT_LLM_ERRORS.listed(),
    CONTEXT_LATENCY.listed(),
];
