//! Validates parameters, and describes what is wrong so that the caller can correct the call.

mod rejection;

use reknit_protocol::{Path, ToolError, Value};
use reknit_salvage::{FitProblemKind, Schema};

use rejection::Rejection;

/// How many problems `details.problems` lists.
const MAX_PROBLEMS: usize = 10;

/// Checks that the parameters fit the schema.
///
/// The error describes one problem, a missing field before any other. If there are several, `details.problems` has the
/// message of each.
pub(crate) fn validate(schema: &Schema, parameters: &Value) -> Result<(), Box<ToolError>> {
    if schema.fits(parameters) {
        return Ok(());
    }
    let problems = schema.problems(parameters);
    let has_wrong_type = |path: &Path| {
        problems.iter().any(|other| other.path == *path && matches!(other.kind, FitProblemKind::Type { .. }))
    };
    let rejections: Vec<Rejection> = problems
        .iter()
        // The validator reports a number in place of a listed string twice; the type alone says enough.
        .filter(|problem| match problem.kind {
            FitProblemKind::Enum { .. } | FitProblemKind::Const { .. } => !has_wrong_type(&problem.path),
            _ => true,
        })
        .flat_map(|problem| Rejection::from_problem(schema.source(), parameters, problem))
        .collect();
    let Some(first) = rejections.iter().find(|one| one.is_missing()).or_else(|| rejections.first()) else {
        return Ok(());
    };
    let mut error = first.to_error();
    if rejections.len() > 1 {
        let messages = rejections.iter().take(MAX_PROBLEMS).map(|one| one.message.as_str().into());
        error.details.insert("problems", messages.collect::<Vec<Value>>());
    }
    Err(error.into())
}

#[cfg(test)]
mod tests;
