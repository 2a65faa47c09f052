//! Adds the steps of a second plan to a plan that has run.

use reknit_expressions::{Renaming, StepIds};
use reknit_protocol::{Plan, Step, StepId};

use crate::file::rewrite_or_keep;
use crate::{INPUTS, ITEM, PlanLocation, PlanProblem, ProblemCode, REPLY, RESULT, StepIndex};

/// A plan with the steps of a second one behind its own.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtendedPlan {
    pub plan: Plan,
    pub added: Vec<StepId>,
    /// What was changed in the second plan, one sentence for each change.
    pub changes: Vec<String>,
}

/// Adds the steps of `second`, which may refer to the steps of `first`. `is_done` tells which of those are done.
///
/// A step of `second` that repeats a done one is left out: the done one stays. A step with the id of one that is not done gets
/// an id of its own, also where `second` refers to it. Fails if a step has the id of a done one and does something else.
///
/// ```
/// use reknit_plan::{append_steps, read_plan_file};
///
/// let (first, _) = read_plan_file("steps: [{id: a, tool: t/x}, {id: b, tool: t/y}]")?;
/// let (second, _) = read_plan_file("steps: [{id: b, tool: t/z}, {id: c, tool: t/x, with: {of: '{{a.id}} {{b.id}}'}}]")?;
/// let extended = append_steps(&first, second, |id| id.as_str() == "a").expect("no problems");
/// assert_eq!(extended.added, ["b-2".into(), "c".into()]);
/// assert_eq!(extended.plan.steps[3].parameters().expect("parameters").to_string(), r#"{"of":"{{a.id}} {{b-2.id}}"}"#);
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn append_steps(
    first: &Plan,
    second: Plan,
    is_done: impl Fn(&StepId) -> bool,
) -> Result<ExtendedPlan, Vec<PlanProblem>> {
    let (mut changes, mut problems, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (position, step) in second.steps.into_iter().enumerate() {
        let known = first.steps.iter().find(|known| known.step_id == step.step_id);
        match known.filter(|known| is_done(&known.step_id)) {
            Some(known) if is_same_work(known, &step) => {
                changes.push(format!("left out step `{}`, which is done already", step.step_id));
            }
            Some(_) => {
                let location = PlanLocation::step(StepIndex::new(position), &step.step_id).key("step_id");
                let message = format!("`{}` is the id of a step that is done and stays", step.step_id);
                let hint = Some("give the new step another id, or refer to the result of the done one".to_owned());
                problems.push(PlanProblem::new(ProblemCode::DuplicateId, location, message).with_hint(hint));
            }
            None => kept.push(step),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let new_ids = new_ids(first, &kept);
    let is_renamed = new_ids.iter().zip(&kept).any(|(id, step)| *id != step.step_id);
    if is_renamed {
        changes.extend(new_ids.iter().zip(&kept).filter(|(id, step)| **id != step.step_id).map(|(id, step)| {
            format!("called the new step `{}` `{id}`, because the first plan has a step of that name", step.step_id)
        }));
        kept = renamed(first, kept, &new_ids)?;
    }
    let mut plan = first.clone();
    plan.steps.extend(kept);
    plan.outputs.retain(|(name, _)| !second.outputs.iter().any(|(other, _)| other == name));
    plan.outputs.extend(second.outputs);
    Ok(ExtendedPlan { plan, added: new_ids, changes })
}

/// Whether two steps do the same, whatever they are for.
fn is_same_work(one: &Step, other: &Step) -> bool {
    let work = |step: &Step| {
        let given = step.metadata.iter().filter(|(_, value)| !value.is_null());
        given.map(|(key, value)| (key.to_owned(), value.clone())).collect::<reknit_protocol::Object>()
    };
    one.tool == other.tool && work(one) == work(other)
}

/// The ids of the new steps: their own, or the first free one of `pay-2`, `pay-3` and so on.
fn new_ids(first: &Plan, second: &[Step]) -> Vec<StepId> {
    let of_first: Vec<&StepId> = first.steps.iter().map(|step| &step.step_id).collect();
    let mut taken: Vec<StepId> = second.iter().map(|step| step.step_id.clone()).collect();
    let mut ids = Vec::new();
    for step in second {
        let id = &step.step_id;
        let mut chosen = id.clone();
        let mut number = 2;
        while of_first.contains(&&chosen) || chosen != *id && taken.contains(&chosen) {
            chosen = StepId::new(format!("{id}-{number}"));
            number += 1;
        }
        taken.push(chosen.clone());
        ids.push(chosen);
    }
    ids
}

/// The new steps with their new ids, also in their texts.
fn renamed(first: &Plan, second: Vec<Step>, new_ids: &[StepId]) -> Result<Vec<Step>, Vec<PlanProblem>> {
    let special = || [INPUTS, ITEM, RESULT, REPLY].map(StepId::from);
    let of_first = || first.steps.iter().map(|step| step.step_id.clone());
    let is_new = |id: &StepId| first.steps.iter().all(|step| step.step_id != *id);
    let of_second = second.iter().map(|step| step.step_id.clone()).filter(is_new);
    let before: Vec<StepId> = of_first().chain(special()).chain(of_second).collect();
    let after: Vec<StepId> = of_first().chain(new_ids.iter().cloned()).chain(special()).collect();
    let pairs: Vec<(StepId, StepId)> =
        second.iter().map(|step| step.step_id.clone()).zip(new_ids.iter().cloned()).collect();
    let rename =
        |id: &StepId| pairs.iter().find(|(old, _)| old == id).map_or_else(|| id.clone(), |(_, new)| new.clone());
    let (before, after) = (StepIds::new(&before), StepIds::new(&after));
    let renaming = Renaming::new(&before, &after, &rename);
    let step = |(position, step): (usize, Step)| {
        let mut rewritten = rewrite_or_keep(&step, renaming).map_err(|error| {
            let location = PlanLocation::step(StepIndex::new(position), &step.step_id);
            vec![PlanProblem::new(ProblemCode::DuplicateId, location, error.to_string())]
        })?;
        rewritten.step_id = rename(&step.step_id);
        rewritten.depends_on = step.depends_on.iter().map(rename).collect();
        Ok(rewritten)
    };
    second.into_iter().enumerate().map(step).collect()
}
