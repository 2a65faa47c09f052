//! Events of spans.

use crate::table_entry::SignalKind::SpanEvent;

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
    /// a model is asked to select the tools that the planner sees
    SELECTION_REQUEST = SpanEvent, "llm.tiered_selection.request", REQUEST;
    /// a model answered
    SELECTION_RESPONSE = SpanEvent, "llm.tiered_selection.response", RESPONSE;
    /// the request failed
    SELECTION_ERROR = SpanEvent, "llm.tiered_selection.error", FAILURE;
    /// a model is asked for a plan
    PLAN_REQUEST = SpanEvent, "llm.plan_generation.request", REQUEST;
    /// a model answered
    PLAN_RESPONSE = SpanEvent, "llm.plan_generation.response", RESPONSE;
    /// the answer cannot be read as a plan
    PLAN_PARSE_ERROR = SpanEvent, "llm.plan_generation.parse_error", ["request_id", "error", "attempt", "will_retry"];
    /// the answer is a plan with problems, which cannot run
    PLAN_PROBLEMS = SpanEvent, "llm.plan_generation.problems", ["request_id", "error", "attempt", "will_retry"];
    /// the request failed
    PLAN_ERROR = SpanEvent, "llm.plan_generation.error", FAILURE;
    /// parameters were coerced to the schema before the call
    TYPE_COERCION = SpanEvent, "type_coercion_applied", ["coercions_count", "capability", "step_id"];
    /// a model is asked where to find missing parameters
    RESOLUTION_REQUEST = SpanEvent, "llm.micro_resolution.request",
        ["step_id", "capability", "prompt", "prompt_length"];
    /// a model answered, and its answer is used
    RESOLUTION_RESPONSE = SpanEvent, "llm.micro_resolution.response",
        ["step_id", "capability", "response", "duration_ms"];
    /// the request failed, or the answer cannot be used
    RESOLUTION_ERROR = SpanEvent, "llm.micro_resolution.error", ["step_id", "capability", "error", "duration_ms"];
    /// a missing parameter was filled by a mapping that an earlier run learned
    MAPPING_APPLIED = SpanEvent, "learned_mapping_applied", ["step_id", "capability", "reason"];
    /// the same call will be sent again after a backoff
    RESEND = SpanEvent, "resend_scheduled", ["step_id", "capability", "attempt", "reason"];
    /// nothing was sent: the circuit breaker of the tool or model is open, or it is cooling down
    GATE_CLOSED = SpanEvent, "gate_closed", ["type", "effect", "wait_ms"];
    /// a rule corrected the parameters from facts that the error states, without a model
    FACTS_APPLIED = SpanEvent, "facts_applied", ["step_id", "capability", "reason"];
    /// a rule that was learned in earlier runs corrected the parameters, without a model
    RULE_APPLIED = SpanEvent, "learned_rule_applied", ["step_id", "capability", "rule", "reason"];
    /// the tool rejected what a learned rule sent, and the rule is not used again
    RULE_REJECTED = SpanEvent, "learned_rule_rejected", ["step_id", "capability", "rule", "reason"];
    /// a call was rejected, and a model will be asked to correct it from the error
    FEEDBACK_STARTED = SpanEvent, "validation_feedback_started",
        ["step_id", "capability", "agent", "attempt", "error", "orchestration.type_error"];
    /// a model is asked to analyze the error
    ANALYSIS_START = SpanEvent, "error_analyzer.llm_call_start", ["step_id", "capability", "http_status"];
    /// the model returned its analysis
    ANALYSIS_COMPLETE = SpanEvent, "error_analyzer.analysis_complete",
        ["step_id", "capability", "should_retry", "reason", "suggested_changes_count", "total_duration_ms"];
    /// the model advises against a retry
    ANALYSIS_NO_RETRY = SpanEvent, "llm_error_analysis_no_retry", ["step_id", "reason"];
    /// the correction of the model is applied
    FEEDBACK_SUCCESS = SpanEvent, "validation_feedback_success", ["step_id", "capability", "attempt", "new_params"];
    /// no usable correction; not produced if the model advises against a retry
    FEEDBACK_FAILED = SpanEvent, "validation_feedback_failed", ["step_id", "capability", "attempt", "reason"];
    /// a model will be asked to correct a rejected call, with the request and all earlier results
    CONTEXT_START = SpanEvent, "contextual_re_resolution.start",
        [
            "step_id",
            "capability",
            "retry_count",
            "http_status",
            "source_data_keys",
            "source_data_names",
            "independent_step",
        ];
    /// the request failed
    CONTEXT_ERROR = SpanEvent, "contextual_re_resolution.error", ["error", "duration_ms"];
    /// the answer cannot be parsed
    CONTEXT_PARSE_ERROR = SpanEvent, "contextual_re_resolution.parse_error", ["error", "response"];
    /// the model returned its analysis
    CONTEXT_COMPLETE = SpanEvent, "contextual_re_resolution.complete",
        ["should_retry", "analysis", "corrected_params_count", "duration_ms"];
    /// the correction of the model is applied
    SEMANTIC_RETRY = SpanEvent, "semantic_retry_applied", ["step_id", "capability", "analysis", "corrected_params"];
    /// a model is asked to write the answer from the results
    SYNTHESIS_REQUEST = SpanEvent, "llm.synthesis.request", REQUEST;
    /// a model answered
    SYNTHESIS_RESPONSE = SpanEvent, "llm.synthesis.response", RESPONSE;
    /// the request failed
    SYNTHESIS_ERROR = SpanEvent, "llm.synthesis.error", FAILURE;
    /// an attempt of a turn failed, or its answer was rejected; `action` is what follows
    RETRY_DIRECTIVE = SpanEvent, "retry_directive", ["turn", "attempt", "action", "backoff_ms", "reason"];
    /// the session waits before it asks a model again
    WAIT_STARTED = SpanEvent, "llm_wait_started", ["turn", "wait_ms", "reason"];
    /// the wait ended; `reason` is completed, or what ended it early
    WAIT_ENDED = SpanEvent, "llm_wait_ended", ["turn", "wait_ms", "reason"];
    /// the number of remaining turns was reduced
    TURNS_COLLAPSED = SpanEvent, "turns_collapsed", ["turn", "reason", "previous_max_turns", "new_max_turns"];
    /// a tool call that a model wrote as text is made
    CALL_IN_TEXT = SpanEvent, "tool_call_in_text", ["turn", "tool", "form"];
    /// a provider refused the output limit and stated a smaller one
    OUTPUT_LIMIT_LEARNED = SpanEvent, "output_limit_learned", ["turn", "reknit.target", "max_tokens"];
    /// the text of an answer contains a report, which is kept
    FALLBACK_REPORT = SpanEvent, "fallback_report_found", ["turn", "source"];
}
