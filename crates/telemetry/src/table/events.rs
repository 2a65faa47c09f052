//! Events of spans.

use crate::definition::Definition;

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

definitions! { ALL:
    SELECTION_REQUEST: 6 = Definition::event(
        "llm.tiered_selection.request",
        REQUEST,
        "a model is asked to select the tools that the planner sees",
    );
    SELECTION_RESPONSE: 8 = Definition::event("llm.tiered_selection.response", RESPONSE, "a model answered");
    SELECTION_ERROR: 4 = Definition::event("llm.tiered_selection.error", FAILURE, "the request failed");
    PLAN_REQUEST: 6 = Definition::event("llm.plan_generation.request", REQUEST, "a model is asked for a plan");
    PLAN_RESPONSE: 8 = Definition::event("llm.plan_generation.response", RESPONSE, "a model answered");
    PLAN_PARSE_ERROR: 4 = Definition::event(
        "llm.plan_generation.parse_error",
        ["request_id", "error", "attempt", "will_retry"],
        "the answer is not a plan that can run",
    );
    PLAN_ERROR: 4 = Definition::event("llm.plan_generation.error", FAILURE, "the request failed");
    TYPE_COERCION: 3 = Definition::event(
        "type_coercion_applied",
        ["coercions_count", "capability", "step_id"],
        "parameters were coerced to the schema before the call",
    );
    RESOLUTION_REQUEST: 4 = Definition::event(
        "llm.micro_resolution.request",
        ["step_id", "capability", "prompt", "prompt_length"],
        "a model is asked where to find missing parameters",
    );
    RESOLUTION_RESPONSE: 4 = Definition::event(
        "llm.micro_resolution.response",
        ["step_id", "capability", "response", "duration_ms"],
        "a model answered, and its answer is used",
    );
    RESOLUTION_ERROR: 4 = Definition::event(
        "llm.micro_resolution.error",
        ["step_id", "capability", "error", "duration_ms"],
        "the request failed, or the answer cannot be used",
    );
    MAPPING_APPLIED: 3 = Definition::event(
        "learned_mapping_applied",
        ["step_id", "capability", "reason"],
        "a missing parameter was filled by a mapping that an earlier run learned",
    );
    RESEND: 4 = Definition::event(
        "resend_scheduled",
        ["step_id", "capability", "attempt", "reason"],
        "the same call will be sent again after a backoff",
    );
    GATE_CLOSED: 3 = Definition::event(
        "gate_closed",
        ["type", "effect", "wait_ms"],
        "nothing was sent: the circuit breaker of the tool or model is open, or it is cooling down",
    );
    FACTS_APPLIED: 3 = Definition::event(
        "facts_applied",
        ["step_id", "capability", "reason"],
        "a rule corrected the parameters from facts that the error states, without a model",
    );
    FEEDBACK_STARTED: 6 = Definition::event(
        "validation_feedback_started",
        ["step_id", "capability", "agent", "attempt", "error", "orchestration.type_error"],
        "a call was rejected, and a model will be asked to correct it from the error",
    );
    ANALYSIS_START: 3 = Definition::event(
        "error_analyzer.llm_call_start",
        ["step_id", "capability", "http_status"],
        "a model is asked to analyze the error",
    );
    ANALYSIS_COMPLETE: 6 = Definition::event(
        "error_analyzer.analysis_complete",
        ["step_id", "capability", "should_retry", "reason", "suggested_changes_count", "total_duration_ms"],
        "the model returned its analysis",
    );
    ANALYSIS_NO_RETRY: 2 =
        Definition::event("llm_error_analysis_no_retry", ["step_id", "reason"], "the model advises against a retry");
    FEEDBACK_SUCCESS: 4 = Definition::event(
        "validation_feedback_success",
        ["step_id", "capability", "attempt", "new_params"],
        "the correction of the model is applied",
    );
    FEEDBACK_FAILED: 4 = Definition::event(
        "validation_feedback_failed",
        ["step_id", "capability", "attempt", "reason"],
        "no usable correction; not produced if the model advises against a retry",
    );
    CONTEXT_START: 6 = Definition::event(
        "contextual_re_resolution.start",
        ["step_id", "capability", "retry_count", "http_status", "source_data_keys", "independent_step"],
        "a model will be asked to correct a rejected call, with the request and all earlier results",
    );
    CONTEXT_ERROR: 2 =
        Definition::event("contextual_re_resolution.error", ["error", "duration_ms"], "the request failed");
    CONTEXT_PARSE_ERROR: 2 =
        Definition::event("contextual_re_resolution.parse_error", ["error", "response"], "the answer cannot be parsed");
    CONTEXT_COMPLETE: 4 = Definition::event(
        "contextual_re_resolution.complete",
        ["should_retry", "analysis", "corrected_params_count", "duration_ms"],
        "the model returned its analysis",
    );
    SEMANTIC_RETRY: 4 = Definition::event(
        "semantic_retry_applied",
        ["step_id", "capability", "analysis", "corrected_params"],
        "the correction of the model is applied",
    );
    SYNTHESIS_REQUEST: 6 =
        Definition::event("llm.synthesis.request", REQUEST, "a model is asked to write the answer from the results");
    SYNTHESIS_RESPONSE: 8 = Definition::event("llm.synthesis.response", RESPONSE, "a model answered");
    SYNTHESIS_ERROR: 4 = Definition::event("llm.synthesis.error", FAILURE, "the request failed");
}
