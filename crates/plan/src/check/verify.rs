//! Checks the read calls of steps with `verify`, and that calls only read which are made again and again.

use reknit_protocol::{Path, Plan, PlanInput, Segment, SideEffect, Step};

use super::parsed_plan::{ParsedPlan, ParsedStep};
use super::{Code, PlanAuthor, PlanLocation, PlanProblem, capability, parameters};
use crate::announced::KnownEntry;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::verify_call::verify_call;
use crate::{StepControls, StepIndex};

/// The capabilities that the steps verify with, and the problems with their names.
pub(super) fn find<'c>(
    parsed: &ParsedPlan<'_>,
    catalogue: &'c Catalogue,
    author: PlanAuthor,
) -> (Vec<KnownEntry<'c>>, Vec<PlanProblem>) {
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

/// The calls that must only read and do not: those of steps with `until`, and those of a `verify`. `side_effect` tells the class
/// of a step's call, as declared or configured; it is `None` for an unknown capability, which [`check`](super::check())
/// reports.
pub fn check_read_calls(plan: &Plan, side_effect: impl Fn(&Step) -> Option<SideEffect>) -> Vec<PlanProblem> {
    let mut problems = Vec::new();
    for (position, step) in plan.steps.iter().enumerate().filter(|(_, step)| !step.is_computed()) {
        let location = || PlanLocation::step(StepIndex::new(position), &step.step_id).key("metadata");
        let mut report = |call: &Step, location: PlanLocation, key: &str, consequence: &str| {
            let Some(class) = side_effect(call).filter(|class| *class != SideEffect::Read) else { return };
            let capability = format!("{}/{}", call.tool, call.capability().unwrap_or_default());
            let message = format!(
                "`{key}`: the side effect class of `{capability}` is `{}`, not `read`{consequence}",
                class.as_str()
            );
            let hint = format!(
                "call one that only reads, or declare it with `\"{capability}\" = \"read\"` in `[effects.classes]`"
            );
            problems.push(PlanProblem::new(Code::BadControl, location, message).with_hint(Some(hint)));
        };
        if step.has_control("until") && step.agent_file().is_none() {
            report(step, location().key("until"), "until", ", but it is called again and again");
        }
        if let Some(call) = verify_call(step) {
            report(&call, location().key("verify").key("tool"), "verify", "");
        }
    }
    problems
}
