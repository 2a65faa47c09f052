//! What a plan is given when it is run.

use reknit_protocol::schema::X_TYPE;
use reknit_protocol::{Input, Object, Plan, Value};
use reknit_salvage::{Schema, fit};

use super::INPUTS;
use super::hint::suggestion;
use super::problem::{PlanPlace, PlanProblem, ProblemCode as Code};

/// The types that people are told about; [`reknit_protocol::schema::for_type`] knows more words for them.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// The value of each input: what is given, else its default, fitted to its type.
pub fn settle_inputs(plan: &Plan, given: &Object) -> Result<Object, Vec<PlanProblem>> {
    let mut problems: Vec<PlanProblem> = given.keys().filter_map(|name| unknown(plan, name)).collect();
    let mut values = Object::new();
    for (name, input) in &plan.inputs {
        let value = given.get(name).or(default(input)).ok_or_else(|| vec![missing(name)]);
        match value.and_then(|value| settle(name, input, value)) {
            Ok(value) => _ = values.insert(name.as_str(), value),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// The default of an input. Null is none: so it is written, and so it is read.
fn default(input: &Input) -> Option<&Value> {
    input.default.as_ref().filter(|value| !value.is_null())
}

/// Whether the inputs make sense before anything is given.
pub(super) fn check(plan: &Plan) -> Vec<PlanProblem> {
    let problems = plan.inputs.iter().flat_map(|(name, input)| {
        let unknown = unknown_type(name, input).into_iter().collect::<Vec<_>>();
        match default(input) {
            Some(default) if unknown.is_empty() => settle(name, input, default).err().unwrap_or_default(),
            _ => unknown,
        }
    });
    problems.collect()
}

/// The schema of all inputs together, as templates see them.
pub(super) fn schema(plan: &Plan) -> Value {
    let properties = plan.inputs.iter().map(|(name, input)| (name.clone(), Value::Object(input.schema())));
    Value::Object(Object::from([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties.collect())),
        ("additionalProperties", Value::Bool(false)),
    ]))
}

fn settle(name: &str, input: &Input, value: &Value) -> Result<Value, Vec<PlanProblem>> {
    let place = || PlanPlace::named(INPUTS, name);
    let schema = Schema::compile(&Value::Object(input.schema()))
        .map_err(|error| vec![PlanProblem::new(Code::UnknownType, place(), error.to_string())])?;
    fit(value.clone(), &schema).map(|fitted| fitted.value).map_err(|misfit| {
        let problem = |problem: &reknit_salvage::Problem| PlanProblem::new(Code::BadValue, place(), &*problem.message);
        misfit.problems.iter().map(problem).collect()
    })
}

fn missing(name: &str) -> PlanProblem {
    let message = "it has no default and nothing is given";
    PlanProblem::new(Code::MissingInput, PlanPlace::named(INPUTS, name), message)
}

fn unknown(plan: &Plan, name: &str) -> Option<PlanProblem> {
    let names: Vec<&str> = plan.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let message = "the plan has no such input";
    (!names.contains(&name)).then(|| {
        PlanProblem::new(Code::UnknownInput, PlanPlace::named(INPUTS, name), message)
            .hint(Some(suggestion(name, &names)))
    })
}

fn unknown_type(name: &str, input: &Input) -> Option<PlanProblem> {
    let schema = input.schema();
    let word = schema.get(X_TYPE)?.as_str()?;
    let message = format!("there is no type `{word}`");
    let place = PlanPlace::named(INPUTS, name).key("type");
    Some(PlanProblem::new(Code::UnknownType, place, message).hint(Some(suggestion(word, &TYPES))))
}
