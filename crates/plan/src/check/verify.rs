//! Checks the read calls of steps with `verify`.

use reknit_protocol::{Path, PlanInput, Segment, Step};

use super::parsed_plan::{ParsedPlan, ParsedStep};
use super::{Code, PlanAuthor, PlanLocation, PlanProblem, capability, parameters};
use crate::StepControls;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::verify_call::verify_call;

/// The capabilities that the steps verify with, and the problems with their names.
pub(super) fn find<'c>(
    parsed: &ParsedPlan<'_>,
    catalogue: &'c Catalogue,
    author: PlanAuthor,
) -> (Vec<Option<&'c CatalogueEntry>>, Vec<PlanProblem>) {
    let mut problems = Vec::new();
    let entry = |(location, step, _): (PlanLocation, &Step, &ParsedStep)| {
        let found = capability::find(&verify_call(step)?, location.clone(), catalogue, author);
        found.map_err(|problem| problems.push(of_verify(problem, &location, "tool"))).ok()
    };
    (parsed.steps().map(entry).collect(), problems)
}

/// The parameters of a step's `verify` that are missing or unknown, and the values that do not fit.
pub(super) fn check_parameters(
    location: &PlanLocation,
    step: &Step,
    parsed_step: &ParsedStep,
    entry: &CatalogueEntry,
    inputs: &[(String, PlanInput)],
) -> Vec<PlanProblem> {
    let (Some(verify), Some(call)) = (&parsed_step.controls.verify, verify_call(step)) else { return Vec::new() };
    let parsed_call = ParsedStep {
        parameters: verify.parameters.clone(),
        controls: StepControls::default(),
        dependencies: Vec::new(),
    };
    let problems = parameters::check(location, &call, &parsed_call, entry, inputs);
    problems.into_iter().map(|problem| of_verify(problem, location, "with")).collect()
}

/// A problem of the read call as one of the step that makes it.
fn of_verify(problem: PlanProblem, step: &PlanLocation, key: &str) -> PlanProblem {
    // Below `metadata.parameters` of the read call; `metadata.capability` has nothing below it.
    let below = problem.location.path.segments().iter().skip(step.path.segments().len() + 2);
    let below: Path = below.cloned().collect::<Vec<Segment>>().into_iter().collect();
    let location = step.clone().key("metadata").key("verify").key(key).inside(&below);
    PlanProblem::new(Code::BadControl, location, format!("`verify`: {}", problem.message)).with_hint(problem.hint)
}
