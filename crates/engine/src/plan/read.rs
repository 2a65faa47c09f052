//! From a model's words to a plan.

use std::sync::LazyLock;

use reknit_protocol::{Object, Plan, ShapeError, Value};
use reknit_salvage::{Completeness, ReadError, ReadOptions, Reading, Schema, SchemaError, read, read_as};

/// Why a model's words are no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// They cannot be read as JSON with steps.
    #[error("this is no plan")]
    Unreadable(#[source] Box<ReadError>),
    /// They end early or leave something out.
    #[error("the plan is cut: its end is missing or it says `...`")]
    Cut,
    /// They have another shape.
    #[error("this does not have the shape of a plan")]
    Shape(#[from] ShapeError),
    /// The schema of plans itself is broken.
    #[error("the schema of plans cannot be compiled")]
    Schema(#[source] SchemaError),
}

// Only what tells a plan from other JSON in the same text; what is inside is checked step by step.
static SHAPE: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| {
    let step = Object::from([
        ("type", Value::from("object")),
        ("required", Value::from_iter(["step_id", "agent_name"].map(Value::from))),
        (
            "properties",
            Value::Object(Object::from([
                ("step_id", typed("string")),
                ("agent_name", typed("string")),
                ("instruction", typed("string")),
                (
                    "depends_on",
                    Value::Object(Object::from([("type", Value::from("array")), ("items", typed("string"))])),
                ),
                ("metadata", typed("object")),
            ])),
        ),
    ]);
    let steps = Object::from([("type", Value::from("array")), ("items", Value::Object(step))]);
    Schema::compile(&Value::Object(Object::from([
        ("type", Value::from("object")),
        ("required", Value::from_iter([Value::from("steps")])),
        ("properties", Value::Object(Object::from([("steps", Value::Object(steps))]))),
    ])))
});

fn typed(name: &str) -> Value {
    Value::Object(Object::from([("type", Value::from(name))]))
}

/// Reads a plan. What a planner left out and we know (the request, an id) is filled in.
pub fn read_plan(text: &str, request: &str) -> Result<(Plan, Reading), PlanError> {
    let schema = SHAPE.as_ref().map_err(|error| PlanError::Schema(error.clone()))?;
    let reading = read_as(text, schema).map_err(|error| why_not(text, error))?;
    if reading.completeness != Completeness::Whole {
        return Err(PlanError::Cut);
    }
    let mut value = reading.value.clone();
    if let Some(object) = value.as_object_mut() {
        for (key, known) in [("plan_id", "plan"), ("original_request", request)] {
            if object.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                object.insert(key, known);
            }
        }
    }
    Ok((Plan::try_from(value)?, reading))
}

/// A plan that is cut in the middle of a step does not fit either, but that is not what its writer must be told.
fn why_not(text: &str, error: ReadError) -> PlanError {
    match read(text, &ReadOptions::default()) {
        Ok(reading) if reading.completeness != Completeness::Whole => PlanError::Cut,
        _ => PlanError::Unreadable(Box::new(error)),
    }
}
