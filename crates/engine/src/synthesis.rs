//! The answer in words: written by code, or written by a model and looked through by code.

pub(crate) mod figures;

use std::fmt::Write as _;

use reknit_protocol::{Object, Plan, ToolResponse, Value};

use crate::answer::{MissingOutput, Outcome, Status, StepReport};
use reknit_mend::Fate;
use reknit_mend::MendEffect;
use reknit_protocol::truncate;

/// The most of one result that is shown, in bytes.
const SHOWN: usize = 8_192;

/// What a plan gives.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) outputs: Object,
    pub(crate) missing: Vec<MissingOutput>,
}

/// Everything that was done, mended and left out, one line each.
pub(crate) fn template_text(status: Status, steps: &[StepReport], given: &Given) -> String {
    let mut text = match status {
        Status::Complete => "Everything was done.".to_owned(),
        Status::Partial => "Some of it was done.".to_owned(),
        Status::Failed => "Nothing could be done.".to_owned(),
        Status::Impossible => "The tools cannot do this.".to_owned(),
        Status::Cancelled => "The run was cancelled.".to_owned(),
        Status::BudgetExhausted => "A limit was reached before everything was done.".to_owned(),
    };
    for (title, lines) in [("Outputs", output_lines(given)), ("Done", done_lines(steps))] {
        add(&mut text, title, &lines);
    }
    text + &account_text(steps, &given.missing)
}

/// What was mended, tried and left out, to be put behind an answer; empty if there is nothing to tell.
pub(crate) fn account_text(steps: &[StepReport], missing: &[MissingOutput]) -> String {
    let mut text = String::new();
    for (title, lines) in
        [("Mended", mended_lines(steps)), ("Tried", tried_lines(steps)), ("Missing", missing_lines(steps, missing))]
    {
        add(&mut text, title, &lines);
    }
    text
}

fn add(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\n{title}:\n{}", lines.join("\n"));
    }
}

/// The results as a model sees them.
pub(crate) fn results_text(steps: &[StepReport], given: &Given) -> String {
    let lines = [done_lines(steps), output_lines(given)].concat();
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}

/// What is missing, as a model sees it; empty if nothing is.
pub(crate) fn missing_text(steps: &[StepReport], given: &Given) -> String {
    missing_lines(steps, &given.missing).join("\n")
}

fn output_lines(given: &Given) -> Vec<String> {
    given.outputs.iter().map(|(name, value)| format!("- {name}: {}", truncate(value.to_string(), SHOWN))).collect()
}

/// The numbers that a model wrote into the answer and no result states; none, in words, if all are explained.
pub(crate) fn unstated(text: &str, request: &str, plan: &Plan, steps: &[StepReport], given: &Given) -> Option<String> {
    let (results, missing) = (results_text(steps, given), missing_text(steps, given));
    let known = [request, &sent(plan), &results, &missing, &changed_text(steps)];
    let numbers = figures::unexplained(text, known, steps.len());
    (!numbers.is_empty()).then(|| format!("the answer says {}, which no result states", numbers.join(", ")))
}

/// The numbers of the request that a model's plan does not use; none, in words, if it uses all.
pub(crate) fn unused(request: &str, plan: &Plan, steps: &[StepReport]) -> Option<String> {
    let numbers = figures::unused(request, [sent(plan).as_str(), &changed_text(steps)]);
    (!numbers.is_empty()).then(|| format!("the request says {}, which no step used", numbers.join(", ")))
}

fn sent(plan: &Plan) -> String {
    let parameters = plan.steps.iter().filter_map(|step| Some(step.parameters()?.to_string()));
    parameters.collect::<Vec<_>>().join("\n")
}

/// How calls were mended, as a model sees it; empty if none was.
pub(crate) fn mended_text(steps: &[StepReport]) -> String {
    mended_lines(steps).join("\n")
}

/// Every change to a call, whether it helped or not.
fn changed_text(steps: &[StepReport]) -> String {
    [mended_lines(steps), tried_lines(steps)].concat().join("\n")
}

/// The results as one JSON object, by the ids of their steps.
pub(crate) fn raw_text(steps: &[StepReport]) -> String {
    let result = |step: &StepReport| match &step.outcome {
        Outcome::Done(value) => Some((step.step.as_str().to_owned(), data(value))),
        Outcome::Failed { .. } | Outcome::Skipped { .. } => None,
    };
    steps.iter().filter_map(result).collect::<Object>().to_string()
}

fn done_lines(steps: &[StepReport]) -> Vec<String> {
    let line = |step: &StepReport| match &step.outcome {
        Outcome::Done(value) => Some(format!("- {} ({}): {}", step.step, step.capability, shown(value))),
        Outcome::Failed { .. } | Outcome::Skipped { .. } => None,
    };
    steps.iter().filter_map(line).collect()
}

/// What helped.
fn mended_lines(steps: &[StepReport]) -> Vec<String> {
    applied_lines(steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))))
}

/// What did not help.
fn tried_lines(steps: &[StepReport]) -> Vec<String> {
    applied_lines(steps.iter().filter(|step| !matches!(step.outcome, Outcome::Done(_))))
}

fn applied_lines<'a>(steps: impl Iterator<Item = &'a StepReport>) -> Vec<String> {
    let lines = |step: &StepReport| -> Vec<String> {
        let applied = step.mends.iter().filter(|mend| mend.effect == MendEffect::Applied);
        applied.map(|mend| format!("- {} by {}: {}", step.step, mend.rung.as_str(), mend.words)).collect()
    };
    steps.flat_map(lines).collect()
}

fn missing_lines(steps: &[StepReport], missing: &[MissingOutput]) -> Vec<String> {
    let line = |step: &StepReport| match &step.outcome {
        Outcome::Done(_) => None,
        Outcome::Failed { reason, fate } => {
            let unknown = if *fate == Fate::Unknown { " (it may have happened all the same)" } else { "" };
            Some(format!("- {} ({}): failed{unknown}: {reason}", step.step, step.capability))
        }
        Outcome::Skipped { reason } => Some(format!("- {} ({}): skipped: {reason}", step.step, step.capability)),
    };
    let outputs = missing.iter().map(|output| format!("- output {}: {}", output.name, output.reason));
    steps.iter().filter_map(line).chain(outputs).collect()
}

fn shown(value: &Value) -> String {
    truncate(data(value).to_string(), SHOWN)
}

/// What the tool gave, without the envelope around it.
pub(crate) fn data(value: &Value) -> Value {
    let response = ToolResponse::from_value(value).ok().filter(|_| ToolResponse::is_envelope(value));
    response.as_ref().and_then(ToolResponse::data).unwrap_or(value).clone()
}
