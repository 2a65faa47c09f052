//! Log lines of runs.

use crate::table_entry::{Severity, SignalKind};

/// The source of the lines, by which operators filter.
const SOURCE: &str = "framework/orchestration";
const INFO: SignalKind = SignalKind::Log(Severity::Info, SOURCE);
const WARNING: SignalKind = SignalKind::Log(Severity::Warning, SOURCE);
const VERBOSE: SignalKind = SignalKind::Log(Severity::Verbose, SOURCE);

definitions! { ALL:
    /// a run started
    STARTED = INFO, "Request started", ["operation", "request_id", "request"];
    /// the answer of a model is not a plan that can run
    PLAN_FAILED = WARNING, "Plan could not be used", ["operation", "request_id", "attempt", "will_retry", "error"];
    /// a request to a model failed
    MODEL_FAILED = WARNING, "LLM call failed", ["operation", "request_id", "error", "error_type", "duration_ms"];
    /// parameters were coerced to the schema
    COERCED = VERBOSE, "Parameter types coerced to match schema", ["operation", "step_id", "capability", "coercions"];
    /// the same call will be sent again
    RETRY = INFO, "Retry attempt", ["operation", "step_id", "tool", "attempt", "reason"];
    /// a rule corrected the parameters without a model
    FACTS = INFO, "Parameters corrected by what the error states", ["operation", "step_id", "capability", "reason"];
    /// a learned rule corrected the parameters without a model
    RULE = INFO, "Parameters corrected by a learned rule", ["operation", "step_id", "capability", "rule", "reason"];
    /// a tool rejected what a learned rule sent, and the rule is not used again
    RULE_REJECTED = WARNING, "Learned rule rejected by the tool", ["operation", "step_id", "capability", "rule", "reason"];
    /// a call was rejected because of a type error
    TYPE_ERROR = INFO, "Type error detected, requesting LLM correction",
        ["operation", "step_id", "validation_retry", "error"];
    /// a call was rejected for another reason
    REFUSED = INFO, "Call refused, requesting LLM correction", ["operation", "step_id", "validation_retry", "error"];
    /// the correction of a model is applied
    CORRECTED = VERBOSE, "Parameters corrected by LLM", ["operation", "step_id", "new_params"];
    /// no usable correction
    FEEDBACK_FAILED = WARNING, "Parameter correction failed", ["operation", "step_id", "reason"];
    /// a model that analyzed the error advises against a retry
    NO_RETRY = INFO, "LLM error analysis: not retryable",
        ["operation", "step_id", "capability", "http_status", "reason"];
    /// a model will be asked to correct the call, with the request and all earlier results
    CONTEXT_START = INFO, "Starting contextual re-resolution",
        ["step_id", "capability", "http_status", "source_data_keys", "source_data_names"];
    /// the request for contextual re-resolution failed
    CONTEXT_LLM_FAILED = WARNING, "Re-resolution LLM call failed", ["error", "duration_ms"];
    /// the answer of contextual re-resolution cannot be parsed
    CONTEXT_UNREADABLE = WARNING, "Failed to parse re-resolution response", ["error", "response"];
    /// the model returned the analysis of contextual re-resolution
    CONTEXT_COMPLETE = INFO, "Contextual re-resolution completed",
        ["step_id", "capability", "should_retry", "analysis", "corrected_params", "duration_ms"];
    /// the correction of a semantic retry is applied
    SEMANTIC_RETRY = INFO, "SEMANTIC RETRY: Applying corrected parameters",
        ["operation", "step_id", "capability", "analysis", "corrected_parameters", "semantic_retry_count"];
    /// the semantic retry gave no usable correction
    SEMANTIC_RETRY_FAILED = WARNING, "Semantic retry failed", ["operation", "step_id", "error"];
    /// a call that had failed gave a result after its parameters were corrected; `rung` is the last one that corrected them
    CORRECTION_SUCCEEDED = INFO, "Call succeeded after correction",
        ["operation", "step_id", "capability", "rung", "attempt"];
    /// a step ended without a result
    STEP_FAILED = WARNING, "Step failed", ["operation", "step_id", "capability", "agent", "reason"];
    /// a run ended
    ENDED = SignalKind::Log(Severity::Final, SOURCE), "Request ended",
        ["operation", "request_id", "status", "reason", "duration_ms"];
}
