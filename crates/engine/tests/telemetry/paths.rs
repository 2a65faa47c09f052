//! The paths that a run can take, each with the names that it tells.

mod scenes;

use reknit_engine::Event;

pub(crate) use scenes::{BAD_AMOUNT, a_plan_that_works, context_that_helps};
use scenes::{
    a_gate_that_is_closed, a_plan_at_the_second_try, a_plan_of_a_model, a_planner_that_fails, a_planner_without_words,
    a_service_that_is_busy, a_type_that_is_made_to_fit, a_value_that_a_model_finds, a_value_that_no_model_finds,
    a_value_that_was_learned, an_answer_of_a_model, an_answer_that_no_model_gives, cancelled_while_a_model_is_asked,
    cancelled_while_a_value_is_looked_for, context_of_a_step_alone, context_that_cannot_be_read,
    context_that_nobody_gives, facts_that_determine_the_change, feedback_about_a_type, feedback_that_cannot_be_read,
    feedback_that_helps, feedback_that_is_refused, feedback_that_is_spent, feedback_that_nobody_gives,
    feedback_that_says_to_wait, many_tools, no_context_for_a_step_alone, no_plan_at_all, who_is_not_let_in,
    without_a_model,
};

/// A path: what is said of it, its events, and the names of the contract that it tells besides those that every run tells.
type Path = (&'static str, fn() -> Vec<Event>, &'static [&'static str]);

const STEP: [&str; 2] = ["orchestration.step_execution", "http.client.request"];
const ASKED: [&str; 3] = ["ai.request.total", "ai.request.duration_ms", "ai.tokens.used"];
const FAILED: [&str; 2] = ["ai.request.total", "ai.request.duration_ms"];
const PLANNED: [&str; 4] = [
    "llm.plan_generation.request",
    "llm.plan_generation.response",
    "plan_generation.total",
    "plan_generation.duration_ms",
];
const FEEDBACK: [&str; 3] =
    ["validation_feedback_started", "orchestration.validation_feedback.attempts", "error_analyzer.llm_call_start"];

const PATHS: &[Path] = &[
    ("a plan that works", a_plan_that_works, &[]),
    ("nobody can be asked", without_a_model, &[]),
    ("who is not let in", who_is_not_let_in, &[]),
    ("a service that is busy", a_service_that_is_busy, &["Retry attempt"]),
    ("a gate that is closed", a_gate_that_is_closed, &[]),
    ("facts determine the change", facts_that_determine_the_change, &[]),
    ("a value that was learned", a_value_that_was_learned, &[]),
    (
        "a type that is made to fit",
        a_type_that_is_made_to_fit,
        &["type_coercion_applied", "orchestration.type_coercion.applied"],
    ),
    ("a plan of a model", a_plan_of_a_model, &["+planned", "+asked"]),
    (
        "a plan at the second try",
        a_plan_at_the_second_try,
        &[
            "+planned",
            "+asked",
            "llm.plan_generation.parse_error",
            "plan_generation.parse_errors",
            "plan_generation.retries",
        ],
    ),
    (
        "no plan at all",
        no_plan_at_all,
        &[
            "-step",
            "+planned",
            "+asked",
            "llm.plan_generation.parse_error",
            "plan_generation.parse_errors",
            "plan_generation.retries",
        ],
    ),
    ("a planner that fails", a_planner_that_fails, &["+planned", "+asked", "llm.plan_generation.error"]),
    ("a planner without words", a_planner_without_words, &["+planned", "+asked", "llm.plan_generation.error"]),
    ("many tools", || many_tools(Some(r#"["t/read"]"#)), &["+planned", "+asked"]),
    ("many tools, and who chooses fails", || many_tools(None), &["+planned", "+asked"]),
    ("a value that a model finds", a_value_that_a_model_finds, &["+asked"]),
    (
        "a value that no model finds",
        a_value_that_no_model_finds,
        &[
            "+asked",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that helps",
        feedback_that_helps,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback about a type",
        feedback_about_a_type,
        &[
            "+asked",
            "+feedback of a type",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback that says to wait",
        feedback_that_says_to_wait,
        &["+asked", "+feedback", "error_analyzer.analysis_complete", "Retry attempt"],
    ),
    (
        "feedback that cannot be read",
        feedback_that_cannot_be_read,
        &[
            "+asked",
            "+feedback",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "semantic_retry_applied",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.success",
            "orchestration.semantic_retry.applied",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that is refused",
        feedback_that_is_refused,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that nobody gives",
        feedback_that_nobody_gives,
        &[
            "+asked",
            "+feedback",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that is spent",
        feedback_that_is_spent,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context that helps",
        context_that_helps,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "semantic_retry_applied",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.success",
            "orchestration.semantic_retry.applied",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context of a step which cannot be fixed",
        context_of_a_step_alone,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.independent_step",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    ("no context for a step alone", no_context_for_a_step_alone, &["+asked", "+feedback", "+no retry"]),
    (
        "context that nobody gives",
        context_that_nobody_gives,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.error",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.llm_errors",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context that cannot be read",
        context_that_cannot_be_read,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.parse_error",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    ("an answer of a model", an_answer_of_a_model, &["+asked", "llm.synthesis.response"]),
    ("an answer that no model gives", an_answer_that_no_model_gives, &["+failed"]),
    (
        "cancelled while a model is asked",
        cancelled_while_a_model_is_asked,
        &["+feedback", "validation_feedback_failed", "orchestration.validation_feedback.failed"],
    ),
    ("cancelled while a value is looked for", cancelled_while_a_value_is_looked_for, &[]),
];

/// Lines of the log that are written whenever something happens in a span.
const LINES: [(&str, &str); 11] = [
    ("type_coercion_applied", "Parameter types coerced to match schema"),
    ("validation_feedback_success", "Parameters corrected by LLM"),
    ("validation_feedback_failed", "Parameter correction failed"),
    ("llm_error_analysis_no_retry", "LLM error analysis: not retryable"),
    ("contextual_re_resolution.start", "Starting contextual re-resolution"),
    ("contextual_re_resolution.error", "Re-resolution LLM call failed"),
    ("contextual_re_resolution.error", "Semantic retry failed"),
    ("contextual_re_resolution.parse_error", "Failed to parse re-resolution response"),
    ("contextual_re_resolution.parse_error", "Semantic retry failed"),
    ("contextual_re_resolution.complete", "Contextual re-resolution completed"),
    ("semantic_retry_applied", "SEMANTIC RETRY: Applying corrected parameters"),
];

/// The events of one path.
pub(crate) fn path(case: &str) -> Vec<Event> {
    let found = PATHS.iter().find(|(known, ..)| *known == case);
    found.unwrap_or_else(|| panic!("there is no path {case}")).1()
}

pub(crate) fn paths() -> Vec<(&'static str, Vec<Event>, Vec<&'static str>)> {
    PATHS.iter().map(|(case, path, names)| (*case, path(), expand(names))).collect()
}

/// Names that always come together are written once.
fn expand(names: &[&'static str]) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = vec!["orchestration.process_request"];
    if !names.contains(&"-step") {
        all.extend(STEP);
    }
    for name in names {
        match *name {
            "-step" => {}
            "+planned" => all.extend(PLANNED),
            "+asked" => all.extend(ASKED),
            "+failed" => all.extend(FAILED),
            "+feedback" => all.extend(FEEDBACK.into_iter().chain(["Call refused, requesting LLM correction"])),
            "+feedback of a type" => {
                all.extend(FEEDBACK.into_iter().chain(["Type error detected, requesting LLM correction"]));
            }
            "+no retry" => all.extend([
                "error_analyzer.analysis_complete",
                "llm_error_analysis_no_retry",
                "orchestration.error_analysis.no_retry",
            ]),
            name => all.push(name),
        }
    }
    let lines: Vec<&str> = LINES.iter().filter(|(name, _)| all.contains(name)).map(|(_, line)| *line).collect();
    all.extend(lines);
    all
}
