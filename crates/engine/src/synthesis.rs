//! The text of an answer: written by code, or written by a model and checked by code.

pub(crate) mod numbers_in_text;
pub(crate) mod used_numbers;

use std::collections::HashSet;

use reknit_protocol::{Object, Plan, StepId, truncate};

use crate::answer::{
    MissingOutput, Outcome, Replanning, Status, StepReport, add_section, approved_lines, limited, mended_lines,
    missing_lines, missing_title, replanned_lines, shown_missing_lines, tried_lines,
};
use crate::result_handle::response_data;

/// The maximum length of one result in a text, in bytes.
const MAX_RESULT_BYTES: usize = 8_192;

/// The outputs of a plan.
#[derive(Debug, Default)]
pub(crate) struct PlanOutputs {
    pub(crate) outputs: Object,
    /// The names of those that are no plain reference.
    pub(crate) computed: Vec<String>,
    pub(crate) missing: Vec<MissingOutput>,
}

/// The answer as code writes it: missing results first, then outputs, results and repairs, one line each.
pub(crate) fn template_text(
    status: Status,
    steps: &[StepReport],
    plan_outputs: &PlanOutputs,
    replannings: &[Replanning],
) -> String {
    let mut text = match status {
        Status::Complete => "Everything was done.".to_owned(),
        Status::Partial => "Some steps were done.".to_owned(),
        Status::Failed => "Nothing could be done.".to_owned(),
        Status::Impossible => "The tools cannot do this.".to_owned(),
        Status::Cancelled => "The run was cancelled.".to_owned(),
        Status::BudgetExhausted => "A limit was reached before everything was done.".to_owned(),
    };
    for (title, lines) in [
        (missing_title(status), shown_missing_lines(steps, &plan_outputs.missing)),
        ("Planned again", replanned_lines(replannings)),
        ("Outputs", output_lines(plan_outputs)),
        ("Done", done_lines(steps)),
        ("Approved", approved_lines(steps)),
        ("Mended", mended_lines(steps)),
        ("Tried", tried_lines(steps)),
    ] {
        add_section(&mut text, title, &lines);
    }
    text
}

/// The results, for the prompt.
pub(crate) fn results_text(steps: &[StepReport], plan_outputs: &PlanOutputs) -> String {
    let lines = [done_lines(steps), output_lines(plan_outputs)].concat();
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}

/// The missing results, for the prompt; empty if none is missing.
pub(crate) fn missing_text(steps: &[StepReport], plan_outputs: &PlanOutputs) -> String {
    missing_lines(steps, &plan_outputs.missing).join("\n")
}

fn output_lines(plan_outputs: &PlanOutputs) -> Vec<String> {
    plan_outputs
        .outputs
        .iter()
        .map(|(name, value)| format!("- {name}: {}", truncate(value.to_string(), MAX_RESULT_BYTES)))
        .collect()
}

/// A sentence about numbers and addresses in a model's answer that no result explains; `None` if all are explained.
pub(crate) fn doubt_about_answer(
    text: &str,
    request: &str,
    plan: &Plan,
    steps: &[StepReport],
    plan_outputs: &PlanOutputs,
) -> Option<String> {
    let (results, missing) = (results_text(steps, plan_outputs), missing_text(steps, plan_outputs));
    let sources = [request, &plan_parameters(plan), &results, &missing, &changed_text(steps)];
    numbers_in_text::doubt_about_text("answer", text, &sources, steps.len())
}

/// A sentence about numbers in the request that a model's plan does not use; `None` if it uses all.
pub(crate) fn doubt_about_plan(request: &str, plan: &Plan, steps: &[StepReport]) -> Option<String> {
    let numbers = used_numbers::unused_numbers(request, plan, &changed_text(steps));
    (!numbers.is_empty()).then(|| format!("the request says {}, which no step used", numbers.join(", ")))
}

fn plan_parameters(plan: &Plan) -> String {
    plan.steps.iter().flat_map(used_numbers::step_texts).collect::<Vec<_>>().join("\n")
}

/// Every change to a call, successful or not.
fn changed_text(steps: &[StepReport]) -> String {
    [approved_lines(steps), mended_lines(steps), tried_lines(steps)].concat().join("\n")
}

/// The reports whose results are shown. The result of a loop that is done has those of its items.
fn with_own_result(steps: &[StepReport]) -> impl Iterator<Item = &StepReport> {
    let is_done = |step: &&StepReport| matches!(step.outcome, Outcome::Done(_));
    let done: HashSet<&StepId> = steps.iter().filter(is_done).map(|step| &step.step).collect();
    steps.iter().filter(move |step| step.item_of.as_ref().is_none_or(|of| !done.contains(of)))
}

/// The results as one JSON object, by step id.
pub(crate) fn raw_text(steps: &[StepReport]) -> String {
    let result = |step: &StepReport| match &step.outcome {
        Outcome::Done(value) => Some((step.step.as_str().to_owned(), response_data(&value.load()))),
        Outcome::Failed { .. } | Outcome::Unconfirmed { .. } | Outcome::Skipped { .. } => None,
    };
    with_own_result(steps).filter_map(result).collect::<Object>().to_string()
}

fn done_lines(steps: &[StepReport]) -> Vec<String> {
    let line = |step: &StepReport| match &step.outcome {
        Outcome::Done(value) => {
            let result = truncate(response_data(&value.load()).to_string(), MAX_RESULT_BYTES);
            Some(format!("- {} ({}): {result}", step.step, step.capability))
        }
        Outcome::Failed { .. } | Outcome::Unconfirmed { .. } | Outcome::Skipped { .. } => None,
    };
    limited(with_own_result(steps).filter_map(|step| Some((step, line(step)?))))
}
