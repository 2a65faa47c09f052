//! From a model's words to a plan.

use std::sync::LazyLock;

use reknit_protocol::{Object, Plan, ShapeError, Value};
use reknit_salvage::{Completeness, ReadError, ReadOptions, Reading, Schema, SchemaError, read, read_as};

use super::file::FileProblem;

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
    /// A file that people write has something in it that does not belong there.
    #[error("the file cannot be read as a plan")]
    File(Vec<FileProblem>),
    /// The schema of plans itself is broken.
    #[error("the schema of plans cannot be compiled")]
    Schema(#[source] SchemaError),
}

// Only what tells a plan from other JSON in the same text; what is inside is checked step by step.
static STEPS: LazyLock<Value> = LazyLock::new(|| {
    let texts = Object::from([("type", Value::from("array")), ("items", typed("string"))]);
    let step = Object::from([
        ("type", Value::from("object")),
        ("required", Value::from_iter(["step_id", "agent_name"].map(Value::from))),
        (
            "properties",
            Value::Object(Object::from([
                ("step_id", typed("string")),
                ("agent_name", typed("string")),
                ("instruction", typed("string")),
                ("depends_on", Value::Object(texts)),
                ("metadata", typed("object")),
            ])),
        ),
    ]);
    Value::Object(Object::from([("type", Value::from("array")), ("items", Value::Object(step))]))
});

static PLAN: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| {
    Schema::compile(&Value::Object(Object::from([
        ("type", Value::from("object")),
        ("required", Value::from_iter([Value::from("steps")])),
        ("properties", Value::Object(Object::from([("steps", STEPS.clone())]))),
    ])))
});

static BARE_STEPS: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| Schema::compile(&STEPS));

fn typed(name: &str) -> Value {
    Value::Object(Object::from([("type", Value::from(name))]))
}

/// Reads a plan, or a list of steps without anything around it. What a planner left out and we know (the request, an id) is
/// filled in.
pub fn read_plan(text: &str, request: &str) -> Result<(Plan, Reading), PlanError> {
    let reading = read_value(text)?;
    if reading.completeness != Completeness::Whole {
        return Err(PlanError::Cut);
    }
    let mut object = match reading.value.clone() {
        Value::Object(object) => object,
        steps => Object::from([("steps", steps)]),
    };
    for (key, known) in [("plan_id", "plan"), ("original_request", request)] {
        if object.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            object.insert(key, known);
        }
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
    match read(text, &ReadOptions::default()) {
        // A plan that is cut in the middle of a step does not fit either, but that is not what its writer must be told.
        Ok(reading) if reading.completeness != Completeness::Whole => Err(PlanError::Cut),
        Ok(reading) if reading.value.as_array().is_some() => {
            read_as(text, schema(&BARE_STEPS)?).map_err(|error| PlanError::Unreadable(Box::new(error)))
        }
        _ => Err(PlanError::Unreadable(Box::new(error))),
    }
}
