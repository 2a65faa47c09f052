//! What the log says about runs.

use crate::telemetry::entry::{Entry, Name, Severity};

/// Who says it: what people who run such engines filter by.
const SOURCE: &str = "framework/orchestration";
const INFO: (Severity, &str) = (Severity::Info, SOURCE);
const WARNING: (Severity, &str) = (Severity::Warning, SOURCE);
const VERBOSE: (Severity, &str) = (Severity::Verbose, SOURCE);

pub(crate) static STARTED: Entry<3> =
    Entry::log(INFO, "Request started", ["operation", "request_id", "request"], "a run began");
pub(crate) static ENDED: Entry<5> = Entry::log(
    (Severity::Final, SOURCE),
    "Request ended",
    ["operation", "request_id", "status", "reason", "duration_ms"],
    "a run ended",
);
pub(crate) static PLAN_FAILED: Entry<5> = Entry::log(
    WARNING,
    "Plan could not be used",
    ["operation", "request_id", "attempt", "will_retry", "error"],
    "a model's words are no plan that can run",
);
pub(crate) static MODEL_FAILED: Entry<5> = Entry::log(
    WARNING,
    "LLM call failed",
    ["operation", "request_id", "error", "error_type", "duration_ms"],
    "a model did not answer",
);
pub(crate) static COERCED: Entry<4> = Entry::log(
    VERBOSE,
    "Parameter types coerced to match schema",
    ["operation", "step_id", "capability", "coercions"],
    "parameters were made to fit",
);
pub(crate) static FACTS: Entry<4> = Entry::log(
    INFO,
    "Parameters corrected by what the error states",
    ["operation", "step_id", "capability", "reason"],
    "no model was needed",
);
pub(crate) static RETRY: Entry<5> =
    Entry::log(INFO, "Retry attempt", ["operation", "step_id", "tool", "attempt", "reason"], "the same call again");
pub(crate) static TYPE_ERROR: Entry<4> = Entry::log(
    INFO,
    "Type error detected, requesting LLM correction",
    ["operation", "step_id", "validation_retry", "error"],
    "a call was refused for a type",
);
pub(crate) static REFUSED: Entry<4> = Entry::log(
    INFO,
    "Call refused, requesting LLM correction",
    ["operation", "step_id", "validation_retry", "error"],
    "a call was refused for something else",
);
pub(crate) static CORRECTED: Entry<3> =
    Entry::log(VERBOSE, "Parameters corrected by LLM", ["operation", "step_id", "new_params"], "a correction is used");
pub(crate) static FEEDBACK_FAILED: Entry<3> =
    Entry::log(WARNING, "Parameter correction failed", ["operation", "step_id", "reason"], "no correction came of it");
pub(crate) static NO_RETRY: Entry<5> = Entry::log(
    INFO,
    "LLM error analysis: not retryable",
    ["operation", "step_id", "capability", "http_status", "reason"],
    "a model that saw the error advises against another try",
);
pub(crate) static CONTEXT_START: Entry<4> = Entry::log(
    INFO,
    "Starting contextual re-resolution",
    ["step_id", "capability", "http_status", "source_data_keys"],
    "a model will see all that is known",
);
pub(crate) static CONTEXT_LLM_FAILED: Entry<2> =
    Entry::log(WARNING, "Re-resolution LLM call failed", ["error", "duration_ms"], "it did not answer");
pub(crate) static CONTEXT_UNREADABLE: Entry<2> =
    Entry::log(WARNING, "Failed to parse re-resolution response", ["error", "response"], "its answer cannot be read");
pub(crate) static CONTEXT_COMPLETE: Entry<6> = Entry::log(
    INFO,
    "Contextual re-resolution completed",
    ["step_id", "capability", "should_retry", "analysis", "corrected_params", "duration_ms"],
    "it said what it thinks",
);
pub(crate) static SEMANTIC_RETRY: Entry<6> = Entry::log(
    INFO,
    "SEMANTIC RETRY: Applying corrected parameters",
    ["operation", "step_id", "capability", "analysis", "corrected_parameters", "semantic_retry_count"],
    "its correction is used",
);
pub(crate) static SEMANTIC_RETRY_FAILED: Entry<3> =
    Entry::log(WARNING, "Semantic retry failed", ["operation", "step_id", "error"], "nothing came of it");
pub(crate) static STEP_FAILED: Entry<5> = Entry::log(
    WARNING,
    "Step failed",
    ["operation", "step_id", "capability", "agent", "reason"],
    "a step is over, without a result",
);

pub(crate) static ALL: &[Name] = &[
    STARTED.listed(),
    PLAN_FAILED.listed(),
    MODEL_FAILED.listed(),
    COERCED.listed(),
    RETRY.listed(),
    FACTS.listed(),
    TYPE_ERROR.listed(),
    REFUSED.listed(),
    CORRECTED.listed(),
    FEEDBACK_FAILED.listed(),
    NO_RETRY.listed(),
    CONTEXT_START.listed(),
    CONTEXT_LLM_FAILED.listed(),
    CONTEXT_UNREADABLE.listed(),
    CONTEXT_COMPLETE.listed(),
    SEMANTIC_RETRY.listed(),
    SEMANTIC_RETRY_FAILED.listed(),
    STEP_FAILED.listed(),
    ENDED.listed(),
];
