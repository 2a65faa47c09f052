//! Log lines of runs.

use crate::definition::Definition;
use crate::table_entry::Severity;

/// The source of the lines, by which operators filter.
const SOURCE: &str = "framework/orchestration";
const INFO: (Severity, &str) = (Severity::Info, SOURCE);
const WARNING: (Severity, &str) = (Severity::Warning, SOURCE);
const VERBOSE: (Severity, &str) = (Severity::Verbose, SOURCE);

definitions! { ALL:
    STARTED: 3 = Definition::log(INFO, "Request started", ["operation", "request_id", "request"], "a run started");
    PLAN_FAILED: 5 = Definition::log(
        WARNING,
        "Plan could not be used",
        ["operation", "request_id", "attempt", "will_retry", "error"],
        "the answer of a model is not a plan that can run",
    );
    MODEL_FAILED: 5 = Definition::log(
        WARNING,
        "LLM call failed",
        ["operation", "request_id", "error", "error_type", "duration_ms"],
        "a request to a model failed",
    );
    COERCED: 4 = Definition::log(
        VERBOSE,
        "Parameter types coerced to match schema",
        ["operation", "step_id", "capability", "coercions"],
        "parameters were coerced to the schema",
    );
    RETRY: 5 = Definition::log(
        INFO,
        "Retry attempt",
        ["operation", "step_id", "tool", "attempt", "reason"],
        "the same call will be sent again",
    );
    FACTS: 4 = Definition::log(
        INFO,
        "Parameters corrected by what the error states",
        ["operation", "step_id", "capability", "reason"],
        "a rule corrected the parameters without a model",
    );
    TYPE_ERROR: 4 = Definition::log(
        INFO,
        "Type error detected, requesting LLM correction",
        ["operation", "step_id", "validation_retry", "error"],
        "a call was rejected because of a type error",
    );
    REFUSED: 4 = Definition::log(
        INFO,
        "Call refused, requesting LLM correction",
        ["operation", "step_id", "validation_retry", "error"],
        "a call was rejected for another reason",
    );
    CORRECTED: 3 = Definition::log(
        VERBOSE,
        "Parameters corrected by LLM",
        ["operation", "step_id", "new_params"],
        "the correction of a model is applied",
    );
    FEEDBACK_FAILED: 3 = Definition::log(
        WARNING,
        "Parameter correction failed",
        ["operation", "step_id", "reason"],
        "no usable correction",
    );
    NO_RETRY: 5 = Definition::log(
        INFO,
        "LLM error analysis: not retryable",
        ["operation", "step_id", "capability", "http_status", "reason"],
        "a model that analyzed the error advises against a retry",
    );
    CONTEXT_START: 4 = Definition::log(
        INFO,
        "Starting contextual re-resolution",
        ["step_id", "capability", "http_status", "source_data_keys"],
        "a model will be asked to correct the call, with the request and all earlier results",
    );
    CONTEXT_LLM_FAILED: 2 = Definition::log(
        WARNING,
        "Re-resolution LLM call failed",
        ["error", "duration_ms"],
        "the request for contextual re-resolution failed",
    );
    CONTEXT_UNREADABLE: 2 = Definition::log(
        WARNING,
        "Failed to parse re-resolution response",
        ["error", "response"],
        "the answer of contextual re-resolution cannot be parsed",
    );
    CONTEXT_COMPLETE: 6 = Definition::log(
        INFO,
        "Contextual re-resolution completed",
        ["step_id", "capability", "should_retry", "analysis", "corrected_params", "duration_ms"],
        "the model returned the analysis of contextual re-resolution",
    );
    SEMANTIC_RETRY: 6 = Definition::log(
        INFO,
        "SEMANTIC RETRY: Applying corrected parameters",
        ["operation", "step_id", "capability", "analysis", "corrected_parameters", "semantic_retry_count"],
        "the correction of a semantic retry is applied",
    );
    SEMANTIC_RETRY_FAILED: 3 = Definition::log(
        WARNING,
        "Semantic retry failed",
        ["operation", "step_id", "error"],
        "the semantic retry gave no usable correction",
    );
    STEP_FAILED: 5 = Definition::log(
        WARNING,
        "Step failed",
        ["operation", "step_id", "capability", "agent", "reason"],
        "a step ended without a result",
    );
    ENDED: 5 = Definition::log(
        (Severity::Final, SOURCE),
        "Request ended",
        ["operation", "request_id", "status", "reason", "duration_ms"],
        "a run ended",
    );
}
