//! The answer to one line, without its id.

use reknit_protocol::{Object, Path, Value};
use reknit_salvage::{Completeness, FitError, Fix, ReadTextError, Reading, SchemaError};

use super::request::BadLine;
use crate::commands::repair::error_position;

/// The answer for a value that was read from a text.
pub(super) fn reading(reading: Reading) -> Object {
    let Reading { value, fixes, completeness, expressions } = reading;
    let mut answer = fitted(value, &fixes);
    match completeness {
        Completeness::Complete => None,
        Completeness::Truncated => answer.insert("completeness", "truncated"),
        Completeness::Elided => answer.insert("completeness", "elided"),
    };
    if !expressions.is_empty() {
        answer.insert("expressions", expressions.iter().map(path).collect::<Value>());
    }
    answer
}

/// The answer for a value that fits the schema.
pub(super) fn fitted(value: Value, fixes: &[Fix]) -> Object {
    Object::from([("value", value), ("fixes", fixes.iter().map(fix).collect())])
}

fn fix(fix: &Fix) -> Value {
    let mut object = Object::from([
        ("path", path(&fix.path)),
        ("kind", fix.kind.name().into()),
        ("before", fix.before.as_str().into()),
        ("after", fix.after.as_str().into()),
        ("penalty", fix.penalty.into()),
    ]);
    if fix.times > 1 {
        object.insert("times", fix.times);
    }
    object.into()
}

fn path(path: &Path) -> Value {
    path.to_string().into()
}

pub(super) fn bad_line(bad: BadLine) -> Object {
    let mut details = Object::from([("line", bad.line.into())]);
    if let Some(column) = bad.column {
        details.insert("column", column);
    }
    error(bad.code, bad.message, details)
}

/// The answer to a request whose schema is not valid or too complex.
pub(super) fn bad_schema(problem: &SchemaError) -> Object {
    let is_too_complex = matches!(problem, SchemaError::TooComplex { .. } | SchemaError::PatternsTooLarge);
    let code = if is_too_complex { "too_complex" } else { "bad_schema" };
    error(code, problem.to_string(), Object::new())
}

/// The answer for a value that does not fit the schema.
pub(super) fn misfit(misfit: &FitError) -> Object {
    let problems = misfit.problems.iter().map(|problem| {
        Object::from([("path", path(&problem.path)), ("message", problem.message.as_str().into())]).into()
    });
    error("misfit", misfit.to_string(), Object::from([("problems", problems.collect())]))
}

pub(super) fn read_error(problem: &ReadTextError) -> Object {
    let code = match problem {
        ReadTextError::DoesNotFit(problem) => return misfit(problem),
        ReadTextError::Ambiguous { first, second } => {
            let readings = [first, second].map(|reading| reading.value.clone()).into_iter().collect();
            let message = "the text can be read in two ways".to_owned();
            return error("ambiguous", message, Object::from([("readings", readings)]));
        }
        ReadTextError::Empty { .. } => "empty",
        ReadTextError::TooDeep { .. } => "too_deep",
        ReadTextError::TooLarge { .. } => "too_large",
        _ => "unreadable",
    };
    let details =
        error_position(problem).map(|at| Object::from([("line", at.line.into()), ("column", at.column.into())]));
    error(code, problem.to_string(), details.unwrap_or_default())
}

fn error(code: &str, message: String, details: Object) -> Object {
    let mut error = Object::from([("code", code.into()), ("message", message.into())]);
    error.extend(details);
    Object::from([("error", error.into())])
}
