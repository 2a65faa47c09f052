//! The types of the outputs of a plan.

use std::sync::Arc;

use reknit_protocol::schema::X_TYPE;
use reknit_protocol::{PlanOutput, Value};
use reknit_salvage::Schema;

use super::hint::suggestion;
use super::inputs::TYPES;
use super::problem::{PlanLocation, PlanProblem, ProblemCode as Code};

/// The schema of an output; `None` if it declares no type. Fails if there is no such type.
pub(super) fn schema(name: &str, output: &PlanOutput) -> Result<Option<Arc<Schema>>, PlanProblem> {
    let Some(schema) = output.schema() else { return Ok(None) };
    let location = || PlanLocation::named("outputs", name).key("type");
    if let Some(word) = schema.get(X_TYPE).and_then(Value::as_str) {
        let problem = PlanProblem::new(Code::UnknownType, location(), format!("there is no type `{word}`"));
        return Err(problem.with_hint(Some(suggestion(word, &TYPES))));
    }
    let compiled = Schema::compile(&Value::Object(schema));
    let compiled = compiled.map_err(|error| PlanProblem::new(Code::UnknownType, location(), error.to_string()))?;
    Ok(Some(Arc::new(compiled)))
}
