//! The values of the inputs of a plan, and the types of its inputs and outputs.

use std::sync::Arc;

use reknit_protocol::schema::X_TYPE;
use reknit_protocol::{Object, Plan, PlanInput, PlanOutput, Value};
use reknit_salvage::{FitProblem, Schema, fit};

use super::INPUTS;
use super::hint::suggestion;
use super::problem::{PlanLocation, PlanProblem, ProblemCode as Code};

/// The types that hints list; [`reknit_protocol::schema::for_type`] accepts more names for them.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// The value of each input, the given one or else the default, fitted to its type.
pub fn resolve_inputs(plan: &Plan, given: &Object) -> Result<Object, Vec<PlanProblem>> {
    let mut problems: Vec<PlanProblem> = given.keys().filter_map(|name| unknown(plan, name)).collect();
    let mut values = Object::new();
    for (name, input) in &plan.inputs {
        let message = "it has no default, and no value was given";
        let missing = || vec![PlanProblem::new(Code::MissingInput, PlanLocation::named(INPUTS, name), message)];
        let value = given.get(name).or(default(input)).ok_or_else(missing);
        match value.and_then(|value| fit_input(name, input, value)) {
            Ok(value) => _ = values.insert(name.as_str(), value),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// The default of an input. `null` is not a default.
fn default(input: &PlanInput) -> Option<&Value> {
    input.default.as_ref().filter(|value| !value.is_null())
}

pub(super) fn check(plan: &Plan) -> Vec<PlanProblem> {
    let problems = plan.inputs.iter().flat_map(|(name, input)| {
        let unknown = unknown_type(INPUTS, name, &input.schema()).into_iter().collect::<Vec<_>>();
        match default(input) {
            Some(default) if unknown.is_empty() => fit_input(name, input, default).err().unwrap_or_default(),
            _ => unknown,
        }
    });
    problems.collect()
}

/// The schema of the object that templates call `inputs`.
pub(super) fn schema(plan: &Plan) -> Value {
    let properties = plan.inputs.iter().map(|(name, input)| (name.clone(), Value::Object(input.schema())));
    let properties = Value::Object(properties.collect());
    Value::from([("type", "object".into()), ("properties", properties), ("additionalProperties", false.into())])
}

fn fit_input(name: &str, input: &PlanInput, value: &Value) -> Result<Value, Vec<PlanProblem>> {
    let location = || PlanLocation::named(INPUTS, name);
    let schema = Schema::compile(&Value::Object(input.schema()))
        .map_err(|error| vec![PlanProblem::new(Code::UnknownType, location(), error.to_string())])?;
    fit(value.clone(), &schema).map(|fitted| fitted.value).map_err(|misfit| {
        let problem = |problem: &FitProblem| PlanProblem::new(Code::BadValue, location(), &*problem.message);
        misfit.problems.iter().map(problem).collect()
    })
}

fn unknown(plan: &Plan, name: &str) -> Option<PlanProblem> {
    let names: Vec<&str> = plan.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let message = "the plan has no such input";
    (!names.contains(&name)).then(|| {
        PlanProblem::new(Code::UnknownInput, PlanLocation::named(INPUTS, name), message)
            .with_hint(Some(suggestion(name, &names)))
    })
}

/// The problem of an input or output with a type that does not exist.
fn unknown_type(list: &str, name: &str, schema: &Object) -> Option<PlanProblem> {
    let word = schema.get(X_TYPE)?.as_str()?;
    let location = PlanLocation::named(list, name).key("type");
    let problem = PlanProblem::new(Code::UnknownType, location, format!("there is no type `{word}`"));
    Some(problem.with_hint(Some(suggestion(word, &TYPES))))
}

/// The schema of an output; `None` if it declares no type. Fails if there is no such type.
pub(super) fn output_schema(name: &str, output: &PlanOutput) -> Result<Option<Arc<Schema>>, PlanProblem> {
    let Some(schema) = output.schema() else { return Ok(None) };
    if let Some(problem) = unknown_type("outputs", name, &schema) {
        return Err(problem);
    }
    let compiled = Schema::compile(&Value::Object(schema)).map(|schema| Some(Arc::new(schema)));
    let location = || PlanLocation::named("outputs", name).key("type");
    compiled.map_err(|error| PlanProblem::new(Code::UnknownType, location(), error.to_string()))
}
