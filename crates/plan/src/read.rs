//! Reads a plan from the answer of a model.

use std::sync::LazyLock;

use reknit_protocol::{Object, Path, Plan, ShapeError, Value, shorten};
use reknit_salvage::{
    Completeness, Fix, FixKind, ReadOptions, ReadTextError, Reading, Schema, SchemaError, read, read_as,
};

use crate::file_problem::FileProblem;

/// Why a text is not a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    #[error("found no plan: expected JSON with `steps`, each with `step_id` and `agent_name`")]
    Unreadable(#[source] Box<ReadTextError>),
    #[error("the plan is incomplete: its end is missing or it contains `...`")]
    Incomplete,
    #[error("the JSON is not a plan")]
    Shape(#[from] ShapeError),
    #[error("the file cannot be read as a plan")]
    File(Vec<FileProblem>),
    #[error("the schema of plans cannot be compiled")]
    Schema(#[source] SchemaError),
}

/// Only what distinguishes the steps of a plan from other JSON in the same text; the check looks at the rest.
const STEPS: &str = r#"{"type": "array", "items": {"type": "object", "required": ["step_id", "agent_name"], "properties": {
    "step_id": {"type": "string"}, "agent_name": {"type": "string"}, "instruction": {"type": "string"},
    "depends_on": {"type": "array", "items": {"type": "string"}}, "metadata": {"type": "object"}}}}"#;

static PLAN: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| {
    compiled(&format!(r#"{{"type": "object", "required": ["steps"], "properties": {{"steps": {STEPS}}}}}"#))
});

static BARE_STEPS: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| compiled(STEPS));

fn compiled(schema: &str) -> Result<Schema, SchemaError> {
    Schema::compile(&Value::parse(schema).unwrap_or_default())
}

/// Reads a plan or a bare list of steps. The plan gets this request, whatever the model wrote as such, and an id if it has none.
pub fn read_plan(text: &str, request: &str) -> Result<(Plan, Reading), PlanError> {
    let reading = read_value(text)?;
    if reading.completeness != Completeness::Complete {
        return Err(PlanError::Incomplete);
    }
    let mut object = match reading.value.clone() {
        Value::Object(object) => object,
        steps => Object::from([("steps", steps)]),
    };
    let is_absent = |object: &Object, key| object.get(key).and_then(Value::as_str).is_none_or(str::is_empty);
    if is_absent(&object, "plan_id") {
        object.insert("plan_id", "plan");
    }
    if !request.is_empty() || is_absent(&object, "original_request") {
        object.insert("original_request", request);
    }
    Ok((Plan::try_from(Value::Object(object))?, reading))
}

fn read_value(text: &str) -> Result<Reading, PlanError> {
    let schema = |compiled: &'static Result<Schema, SchemaError>| {
        compiled.as_ref().map_err(|error| PlanError::Schema(error.clone()))
    };
    let error = match read_as(text, schema(&PLAN)?) {
        Ok(reading) => return Ok(reading),
        Err(error) => error,
    };
    let reading = match read(text, &ReadOptions::default()) {
        // A plan that ends inside a step does not fit the schema either, but the cause is that it is incomplete.
        Ok(reading) if reading.completeness != Completeness::Complete => return Err(PlanError::Incomplete),
        Ok(reading) => reading,
        Err(_) => return Err(PlanError::Unreadable(Box::new(error))),
    };
    if reading.value.as_array().is_some() {
        return read_as(text, schema(&BARE_STEPS)?).map_err(|error| PlanError::Unreadable(Box::new(error)));
    }
    let Some(inner) = inside_layer(&reading.value) else { return Err(PlanError::Unreadable(Box::new(error))) };
    let plan = read_as(&inner, schema(&PLAN)?).or_else(|error| match schema(&BARE_STEPS) {
        Ok(steps) => read_as(&inner, steps).map_err(|_| PlanError::Unreadable(Box::new(error))),
        Err(error) => Err(error),
    })?;
    let envelope = Fix {
        path: Path::root(),
        kind: FixKind::Envelope,
        before: shorten(text.trim(), MAX_QUOTED).into_owned(),
        after: shorten(&inner, MAX_QUOTED).into_owned(),
        penalty: FixKind::Envelope.penalty(),
        times: 1,
    };
    let fixes = reading.fixes.into_iter().chain([envelope]).chain(plan.fixes).collect();
    Ok(Reading { fixes, ..plan })
}

/// How much of a text is quoted, in characters.
const MAX_QUOTED: usize = 200;

/// The text of the plan in `{"plan": {...}}`, if the object has nothing else.
fn inside_layer(value: &Value) -> Option<String> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    match object.get("plan")? {
        Value::String(text) => Some(text.clone()),
        inner @ (Value::Object(_) | Value::Array(_)) => Some(inner.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_in_a_layer_of_that_name_and_the_layer_is_recorded() {
        let plan = r#"{"steps": [{"step_id": "a", "agent_name": "shop/price", "instruction": "look"}]}"#;
        for text in [
            format!(r#"{{"plan": {plan}}}"#),
            format!("{{'plan': {plan},}}"),
            format!(r#"{{"plan": {}}}"#, Value::from(plan)),
            r#"{"plan": [{"step_id": "a", "agent_name": "shop/price", "instruction": "look"}]}"#.to_owned(),
        ] {
            let (plan, reading) = read_plan(&text, "").unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(plan.steps.len(), 1, "{text}");
            assert!(reading.fixes.iter().any(|fix| fix.kind == FixKind::Envelope), "{text}");
        }
        for text in [
            format!(r#"{{"plan": {plan}, "note": "or not"}}"#),
            format!(r#"{{"draft": {plan}}}"#),
            r#"{"plan": "go there"}"#.to_owned(),
        ] {
            assert!(read_plan(&text, "").is_err(), "{text}");
        }
    }
}
