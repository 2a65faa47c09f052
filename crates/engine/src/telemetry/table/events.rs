//! What happens in a span.

use crate::telemetry::entry::{Entry, Name};

type Event<const N: usize> = Entry<N>;

const REQUEST: [&str; 6] = ["request_id", "prompt", "prompt_length", "temperature", "max_tokens", "attempt"];
const RESPONSE: [&str; 8] = [
    "request_id",
    "response",
    "response_length",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "duration_ms",
    "attempt",
];
const FAILURE: [&str; 4] = ["request_id", "error", "duration_ms", "attempt"];

pub(crate) static PLAN_REQUEST: Event<6> =
    Entry::event("llm.plan_generation.request", REQUEST, "a model is asked for a plan");
pub(crate) static PLAN_RESPONSE: Event<8> =
    Entry::event("llm.plan_generation.response", RESPONSE, "it answered with words");
pub(crate) static PLAN_PARSE_ERROR: Event<4> = Entry::event(
    "llm.plan_generation.parse_error",
    ["request_id", "error", "attempt", "will_retry"],
    "the words are no plan that can run",
);
pub(crate) static PLAN_ERROR: Event<4> = Entry::event("llm.plan_generation.error", FAILURE, "it did not answer");

pub(crate) static CHOICE_REQUEST: Event<6> =
    Entry::event("llm.tiered_selection.request", REQUEST, "a model is asked which tools the planner should see");
pub(crate) static CHOICE_RESPONSE: Event<8> =
    Entry::event("llm.tiered_selection.response", RESPONSE, "it answered with words");
pub(crate) static CHOICE_ERROR: Event<4> = Entry::event("llm.tiered_selection.error", FAILURE, "it did not answer");

pub(crate) static ANSWER_REQUEST: Event<6> =
    Entry::event("llm.synthesis.request", REQUEST, "a model is asked to put the results into words");
pub(crate) static ANSWER_RESPONSE: Event<8> =
    Entry::event("llm.synthesis.response", RESPONSE, "it answered with words");
pub(crate) static ANSWER_ERROR: Event<4> = Entry::event("llm.synthesis.error", FAILURE, "it did not answer");

pub(crate) static TYPE_COERCION: Event<3> = Entry::event(
    "type_coercion_applied",
    ["coercions_count", "capability", "step_id"],
    "parameters were made to fit their schema before the call",
);
pub(crate) static FACTS_APPLIED: Event<3> =
    Entry::event("facts_applied", ["step_id", "capability", "reason"], "what the error states determined the change");
pub(crate) static MAPPING_APPLIED: Event<3> = Entry::event(
    "learned_mapping_applied",
    ["step_id", "capability", "reason"],
    "a value was found where an earlier run found it",
);
pub(crate) static RESEND: Event<4> = Entry::event(
    "resend_scheduled",
    ["step_id", "capability", "attempt", "reason"],
    "the same call will be sent again after a wait",
);
pub(crate) static GATE_CLOSED: Event<3> = Entry::event(
    "gate_closed",
    ["type", "effect", "wait_ms"],
    "nothing was sent: the tool or the model rests, or is at its limit",
);

pub(crate) static RESOLUTION_REQUEST: Event<4> = Entry::event(
    "llm.micro_resolution.request",
    ["step_id", "capability", "prompt", "prompt_length"],
    "a model is asked where the missing parameters are",
);
pub(crate) static RESOLUTION_RESPONSE: Event<4> =
    Entry::event("llm.micro_resolution.response", ["step_id", "capability", "response", "duration_ms"], "it told");
pub(crate) static RESOLUTION_ERROR: Event<4> = Entry::event(
    "llm.micro_resolution.error",
    ["step_id", "capability", "error", "duration_ms"],
    "it did not, or its answer cannot be used",
);

pub(crate) static FEEDBACK_STARTED: Event<6> = Entry::event(
    "validation_feedback_started",
    ["step_id", "capability", "agent", "attempt", "error", "orchestration.type_error"],
    "a call was refused, and a model will see why",
);
pub(crate) static FEEDBACK_SUCCESS: Event<4> = Entry::event(
    "validation_feedback_success",
    ["step_id", "capability", "attempt", "new_params"],
    "its correction is used",
);
pub(crate) static FEEDBACK_FAILED: Event<4> = Entry::event(
    "validation_feedback_failed",
    ["step_id", "capability", "attempt", "reason"],
    "no correction came of it, and not because the model advises against one",
);
pub(crate) static ANALYSIS_START: Event<3> =
    Entry::event("error_analyzer.llm_call_start", ["step_id", "capability", "http_status"], "the model is asked");
pub(crate) static ANALYSIS_COMPLETE: Event<6> = Entry::event(
    "error_analyzer.analysis_complete",
    ["step_id", "capability", "should_retry", "reason", "suggested_changes_count", "total_duration_ms"],
    "it said what it thinks",
);
pub(crate) static ANALYSIS_NO_RETRY: Event<2> =
    Entry::event("llm_error_analysis_no_retry", ["step_id", "reason"], "it thinks that no other try can work");

pub(crate) static CONTEXT_START: Event<6> = Entry::event(
    "contextual_re_resolution.start",
    ["step_id", "capability", "retry_count", "http_status", "source_data_keys", "independent_step"],
    "a model will see all that is known about a refused call",
);
pub(crate) static CONTEXT_ERROR: Event<2> =
    Entry::event("contextual_re_resolution.error", ["error", "duration_ms"], "the model did not answer");
pub(crate) static CONTEXT_PARSE_ERROR: Event<2> =
    Entry::event("contextual_re_resolution.parse_error", ["error", "response"], "its answer cannot be read");
pub(crate) static CONTEXT_COMPLETE: Event<4> = Entry::event(
    "contextual_re_resolution.complete",
    ["should_retry", "analysis", "corrected_params_count", "duration_ms"],
    "it said what it thinks",
);
pub(crate) static SEMANTIC_RETRY: Event<4> = Entry::event(
    "semantic_retry_applied",
    ["step_id", "capability", "analysis", "corrected_params"],
    "its correction is used",
);

pub(crate) static ALL: &[Name] = &[
    CHOICE_REQUEST.listed(),
    CHOICE_RESPONSE.listed(),
    CHOICE_ERROR.listed(),
    PLAN_REQUEST.listed(),
    PLAN_RESPONSE.listed(),
    PLAN_PARSE_ERROR.listed(),
    PLAN_ERROR.listed(),
    TYPE_COERCION.listed(),
    RESOLUTION_REQUEST.listed(),
    RESOLUTION_RESPONSE.listed(),
    RESOLUTION_ERROR.listed(),
    MAPPING_APPLIED.listed(),
    RESEND.listed(),
    GATE_CLOSED.listed(),
    FACTS_APPLIED.listed(),
    FEEDBACK_STARTED.listed(),
    ANALYSIS_START.listed(),
    ANALYSIS_COMPLETE.listed(),
    ANALYSIS_NO_RETRY.listed(),
    FEEDBACK_SUCCESS.listed(),
    FEEDBACK_FAILED.listed(),
    CONTEXT_START.listed(),
    CONTEXT_ERROR.listed(),
    CONTEXT_PARSE_ERROR.listed(),
    CONTEXT_COMPLETE.listed(),
    SEMANTIC_RETRY.listed(),
    ANSWER_REQUEST.listed(),
    ANSWER_RESPONSE.listed(),
    ANSWER_ERROR.listed(),
];
