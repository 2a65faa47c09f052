//! Steps that run another plan: they are replaced by the steps of that plan before anything runs.
//!
//! A step `stock` with `plan: stock.yaml` becomes `stock.inputs`, which computes the inputs; the steps of the plan, each as
//! `stock.STEP`; and `stock`, which computes the outputs when all of them are over. Texts are rewritten so that every reference
//! means what it meant in its own file.

use reknit_expressions::{RenameError, Renaming, StepIds};
use reknit_protocol::{Object, Plan, PlanInput, Step, StepId, Value};

use super::loaded_plan::{LoadedPlan, StepOrigin};
use super::rewrite_step::{escape_braces, rewrite_or_keep, rewrite_step};
use crate::{INPUTS, ITEM, REPLY, RESULT, inputs};

/// The keys of a step that one which runs a plan cannot have, with the keys of a plan file.
const NOT_ALLOWED: [(&str, &str); 6] = [
    ("foreach", "foreach"),
    ("at_once", "at_once"),
    ("max_items", "max_items"),
    ("limit_ms", "timeout"),
    ("until", "until"),
    ("verify", "verify"),
];

/// What is wrong with a step that runs a plan: the key under which it is, and the message with its hint.
pub(super) struct SubPlanProblem {
    pub(super) position: usize,
    pub(super) key: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Replaces the steps that run plans. `sub_plans` are these plans, their own steps already replaced, each with the position of
/// its step, in order.
pub(super) fn replace(
    plan: &Plan,
    sub_plans: &[(usize, LoadedPlan)],
) -> Result<(Plan, Vec<StepOrigin>), Vec<SubPlanProblem>> {
    let of_step = |position: usize| sub_plans.iter().find(|(of, _)| *of == position).map(|(_, inner)| inner);
    let with_plans = || plan.steps.iter().enumerate().filter_map(|(at, step)| Some((at, step, &of_step(at)?.plan)));
    let problems: Vec<SubPlanProblem> =
        with_plans().flat_map(|(position, step, inner)| problems_of(position, step, inner)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let own_names = names_of(plan);
    let inner_names = with_plans().flat_map(|(_, step, inner)| {
        let ids = inner.steps.iter().map(|inner| inner.step_id.as_str());
        [INPUTS].into_iter().chain(ids).map(|id| within(&step.step_id, id)).collect::<Vec<_>>()
    });
    let names: Vec<StepId> = own_names.iter().cloned().chain(inner_names).collect();
    let (own_ids, after) = (StepIds::new(&own_names), StepIds::new(&names));
    let same = |id: &StepId| id.clone();
    let own = Renaming::new(&own_ids, &after, &same);
    let (mut steps, mut origins) = (Vec::new(), Vec::new());
    let mut first_file = 1;
    for (position, step) in plan.steps.iter().enumerate() {
        let ambiguous = |error: RenameError| {
            let hint = Some("rename a step".to_owned());
            vec![SubPlanProblem { position, key: "id", message: error.to_string(), hint }]
        };
        let step = rewrite_or_keep(step, own).map_err(ambiguous)?;
        let origin = StepOrigin { file: 0, position };
        origins.push(origin);
        let Some(inner) = of_step(position) else {
            steps.push(step);
            continue;
        };
        steps.extend(parts(&step, &inner.plan, &after).map_err(ambiguous)?);
        origins.extend(inner.origins.iter().map(|inner| StepOrigin { file: first_file + inner.file, ..*inner }));
        origins.push(origin);
        first_file += inner.files.len();
    }
    let mut outputs = plan.outputs.clone();
    for (_, output) in &mut outputs {
        output.value = own.expression(&output.value).unwrap_or_else(|_| output.value.clone());
    }
    Ok((Plan { steps, outputs, ..plan.clone() }, origins))
}

/// All names that the texts of a plan may use. Which of them a text may really use is checked later.
fn names_of(plan: &Plan) -> Vec<StepId> {
    let ids = plan.steps.iter().map(|step| step.step_id.clone());
    ids.chain([INPUTS, ITEM, RESULT, REPLY].map(StepId::from)).collect()
}

fn within(step: &StepId, inner: &str) -> StepId {
    StepId::new(format!("{step}.{inner}"))
}

/// The steps that replace a step that runs a plan.
fn parts(step: &Step, plan: &Plan, after: &StepIds<'_>) -> Result<Vec<Step>, RenameError> {
    let names = names_of(plan);
    let before = StepIds::new(&names);
    let id = &step.step_id;
    let rename = |inner: &StepId| {
        let is_step = plan.steps.iter().any(|step| step.step_id == *inner);
        if is_step || inner.as_str() == INPUTS { within(id, inner.as_str()) } else { inner.clone() }
    };
    let renaming = Renaming::new(&before, after, &rename);
    let gate = within(id, INPUTS);
    let mut parts = vec![inputs_step(step, plan, &gate)];
    for inner in &plan.steps {
        let mut inner = rewrite_step(inner, renaming)?;
        inner.step_id = within(id, inner.step_id.as_str());
        inner.depends_on = inner.depends_on.iter().map(|needed| within(id, needed.as_str())).collect();
        inner.depends_on.push(gate.clone());
        let outer = match inner.metadata.get("within").and_then(Value::as_str) {
            Some(other) => within(id, other),
            None => gate.clone(),
        };
        inner.metadata.insert("within", outer.as_str());
        for key in ["on_failure", "approve", "retry"] {
            let makes_call = !inner.is_computed() || key == "on_failure";
            if let Some(value) = step.metadata.get(key).filter(|_| makes_call && !inner.has_control(key)) {
                inner.metadata.insert(key, value.clone());
            }
        }
        parts.push(inner);
    }
    let mut result = Object::new();
    let mut properties = Object::new();
    for (name, output) in &plan.outputs {
        result.insert(name.as_str(), format!("{{{{{}}}}}", renaming.expression(&output.value)?));
        properties.extend(output.schema().map(|schema| (name.clone(), Value::Object(schema))));
    }
    let mut last = computing(id.clone(), &step.instruction, Value::Object(result));
    last.depends_on = parts.iter().map(|part| part.step_id.clone()).collect();
    last.metadata.insert("within", gate.as_str());
    last.metadata.extend(step.metadata.get("expect").map(|value| ("expect".to_owned(), value.clone())));
    if !properties.is_empty() {
        last.metadata.insert("result_schema", Object::from([("properties", Value::Object(properties))]));
    }
    parts.push(last);
    Ok(parts)
}

/// The step that computes the inputs of a plan, which decides whether the plan runs.
fn inputs_step(step: &Step, plan: &Plan, id: &StepId) -> Step {
    let given = step.parameters();
    let value = |(name, input): &(String, PlanInput)| {
        let given = given.and_then(|given| given.get(name)).cloned();
        let value = given.or_else(|| input.default.as_ref().map(escape_braces));
        (name.clone(), value.unwrap_or_default())
    };
    let values: Object = plan.inputs.iter().map(value).collect();
    let mut inputs_step = computing(id.clone(), "", Value::Object(values));
    inputs_step.depends_on.clone_from(&step.depends_on);
    inputs_step.metadata.extend(step.metadata.get("when").map(|value| ("when".to_owned(), value.clone())));
    inputs_step.metadata.insert("result_schema", inputs::schema(plan));
    inputs_step
}

fn computing(id: StepId, instruction: &str, result: Value) -> Step {
    let mut step = Step::new(id, "compute", "", instruction);
    step.metadata = Object::from([("compute", Value::Bool(true))]);
    step.with_parameters(Object::from([("result", result)]))
}

/// What is wrong with a step that runs this plan.
fn problems_of(position: usize, step: &Step, plan: &Plan) -> Vec<SubPlanProblem> {
    let problem =
        |key, message: String, hint: &str| SubPlanProblem { position, key, message, hint: Some(hint.to_owned()) };
    let mut problems = Vec::new();
    for (_, written) in NOT_ALLOWED.iter().filter(|(key, _)| step.has_control(key)) {
        let message = format!("a step that runs a plan cannot have `{written}`");
        let hint = "write it in the steps of that plan";
        problems.push(problem(written, message, hint));
    }
    if step.metadata.get("on_failure").is_some_and(|value| !value.is_null() && value.as_str() != Some("stop")) {
        let message = "only `stop` is possible for a step that runs a plan".to_owned();
        problems.push(problem("on_failure", message, "write it in the steps of that plan"));
    }
    if plan.steps.iter().any(|step| step.step_id.as_str() == INPUTS) {
        let message = format!("a step of that plan is called `{INPUTS}`");
        problems.push(problem("plan", message, "give it another id"));
    }
    let templates = |value: &Value| value.to_string().contains("{{");
    let given = step.parameters().cloned().unwrap_or_else(Object::new);
    let mut known = given.clone();
    // What a reference brings is fitted to its type when it is known.
    let mut declared = plan.clone();
    declared.inputs.retain(|(name, _)| {
        let refers = given.get(name).is_some_and(templates);
        if refers {
            known.remove(name);
        }
        !refers
    });
    for found in inputs::resolve_inputs(&declared, &known).err().into_iter().flatten() {
        let message = format!("{}: {}", found.location, found.message);
        problems.push(SubPlanProblem { position, key: "with", message, hint: found.hint });
    }
    problems
}
