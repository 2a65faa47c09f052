//! The paths that a run can take, each with the contract names that it produces.

mod runs;

use reknit_engine::Event;

pub(crate) use runs::{BAD_AMOUNT, OTHER_PLAN, a_plan_that_works, a_second_plan, successful_context};
use runs::{
    a_busy_service, a_coerced_type, a_correction_by_a_rule, a_failing_planner, a_generated_answer, a_generated_plan,
    a_learned_mapping, a_learned_rule_that_the_tool_rejects, a_plan_on_the_second_attempt,
    a_planner_with_an_empty_answer, a_resolved_parameter, an_accepted_second_plan, an_approved_call, an_open_breaker,
    an_unauthorized_call, an_unresolved_parameter, cancelled_during_feedback, cancelled_during_resolution,
    context_of_an_independent_step, exhausted_feedback, failed_answer_requests, failed_context_requests,
    failed_feedback_requests, feedback_on_a_type_error, feedback_that_advises_to_wait, many_tools,
    no_context_for_an_independent_step, no_valid_plan, rejected_feedback, successful_feedback, unparsable_context,
    unparsable_feedback, without_a_model,
};

/// A path: description, events, and the contract names that it produces besides those of every run. A name that begins with
/// `+` or `-` stands for a group, see [`expand`].
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
    ("an approved call", an_approved_call, &[]),
    ("no model", without_a_model, &[]),
    ("an unauthorized call", an_unauthorized_call, &[]),
    ("a busy service", a_busy_service, &["Retry attempt"]),
    ("an open breaker", an_open_breaker, &[]),
    ("a correction by a rule", a_correction_by_a_rule, &[]),
    ("a learned mapping", a_learned_mapping, &[]),
    ("a learned rule that the tool rejects", a_learned_rule_that_the_tool_rejects, &[]),
    ("a coerced type", a_coerced_type, &["type_coercion_applied", "orchestration.type_coercion.applied"]),
    ("a generated plan", a_generated_plan, &["+planned", "+asked"]),
    ("a plan on the second attempt", a_plan_on_the_second_attempt, &["+planned", "+asked", "plan_generation.retries"]),
    ("a second plan", an_accepted_second_plan, &["+planned", "+asked"]),
    (
        "no valid plan",
        no_valid_plan,
        &[
            "-step",
            "+planned",
            "+asked",
            "llm.plan_generation.parse_error",
            "plan_generation.parse_errors",
            "plan_generation.retries",
        ],
    ),
    ("a failing planner", a_failing_planner, &["+planned", "+asked", "llm.plan_generation.error"]),
    (
        "a planner with an empty answer",
        a_planner_with_an_empty_answer,
        &["+planned", "+asked", "llm.plan_generation.error"],
    ),
    ("many tools", || many_tools(Some(r#"["t/read"]"#)), &["+planned", "+asked"]),
    ("many tools, and a failing selection", || many_tools(None), &["+planned", "+asked"]),
    ("a resolved parameter", a_resolved_parameter, &["+asked"]),
    (
        "an unresolved parameter",
        an_unresolved_parameter,
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
        "successful feedback",
        successful_feedback,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback on a type error",
        feedback_on_a_type_error,
        &[
            "+asked",
            "+feedback on a type error",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback that advises to wait",
        feedback_that_advises_to_wait,
        &["+asked", "+feedback", "error_analyzer.analysis_complete", "Retry attempt"],
    ),
    (
        "unparsable feedback",
        unparsable_feedback,
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
        "rejected feedback",
        rejected_feedback,
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
        "failed feedback requests",
        failed_feedback_requests,
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
        "exhausted feedback",
        exhausted_feedback,
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
        "successful context",
        successful_context,
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
        "context of an independent step",
        context_of_an_independent_step,
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
    ("no context for an independent step", no_context_for_an_independent_step, &["+asked", "+feedback", "+no retry"]),
    (
        "failed context requests",
        failed_context_requests,
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
        "unparsable context",
        unparsable_context,
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
    ("a generated answer", a_generated_answer, &["+asked", "llm.synthesis.response"]),
    ("failed answer requests", failed_answer_requests, &["+failed"]),
    (
        "cancelled during feedback",
        cancelled_during_feedback,
        &["+feedback", "validation_feedback_failed", "orchestration.validation_feedback.failed"],
    ),
    ("cancelled during resolution", cancelled_during_resolution, &[]),
];

/// Span events, each with the log line that always accompanies it.
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

/// Expands the groups, and adds the log lines that accompany span events.
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
            "+feedback on a type error" => {
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
