//! Errors as Python exceptions. Each has the members `code` and `details`, which the Python package documents.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reknit::protocol::Value;
use reknit::salvage::{FitError, ReadTextError, SchemaError};

use crate::value::{Decimals, to_python};

create_exception!(reknit, ReadError, PyValueError, "A text cannot be read, or a value does not fit its schema.");
create_exception!(reknit, RunError, PyRuntimeError, "A run ended without everything that it was asked for.");

/// An exception with a code for programs, and details.
fn read_error(py: Python<'_>, code: &str, message: String, details: &Bound<'_, PyDict>) -> PyErr {
    let error = ReadError::new_err(message);
    let value = error.value(py);
    // Setting attributes of a new exception cannot fail in a way that anybody could handle.
    let _ = value.setattr("code", code);
    let _ = value.setattr("details", details);
    error
}

pub(crate) fn of_reading(py: Python<'_>, error: &ReadTextError) -> PyErr {
    let details = PyDict::new(py);
    let code = match error {
        ReadTextError::DoesNotFit(misfit) => return of_fitting(py, misfit),
        ReadTextError::Ambiguous { first, second } => {
            let readings: Vec<_> = [first, second]
                .into_iter()
                .filter_map(|reading| to_python(py, &reading.value, Decimals::Float).ok())
                .collect();
            let _ = details.set_item("readings", readings);
            "ambiguous"
        }
        ReadTextError::Unreadable { position, .. } => {
            let _ = details.set_item("line", position.line);
            let _ = details.set_item("column", position.column);
            "unreadable"
        }
        ReadTextError::Empty { .. } => "empty",
        ReadTextError::TooDeep { .. } => "too_deep",
        ReadTextError::TooLarge { .. } => "too_large",
        _ => "unreadable",
    };
    read_error(py, code, error.to_string(), &details)
}

pub(crate) fn without_json(py: Python<'_>) -> PyErr {
    read_error(py, "empty", "there is no JSON in the text".to_owned(), &PyDict::new(py))
}

pub(crate) fn of_fitting(py: Python<'_>, error: &FitError) -> PyErr {
    let details = PyDict::new(py);
    let problems: Vec<(String, String)> =
        error.problems.iter().map(|problem| (problem.path.to_string(), problem.message.clone())).collect();
    let _ = details.set_item("problems", problems);
    read_error(py, "misfit", error.to_string(), &details)
}

pub(crate) fn of_schema(py: Python<'_>, error: &SchemaError) -> PyErr {
    read_error(py, "bad_schema", error.to_string(), &PyDict::new(py))
}

/// A failed run: its status, and the whole outcome as JSON.
pub(crate) fn of_run(py: Python<'_>, message: String, status: &str, outcome: &Value) -> PyErr {
    let error = RunError::new_err(message);
    let value = error.value(py);
    let _ = value.setattr("status", status);
    if let Ok(outcome) = to_python(py, outcome, Decimals::Float) {
        let _ = value.setattr("outcome", outcome);
    }
    error
}

/// Any other error, with its causes.
pub(crate) fn of_error(error: &dyn std::error::Error) -> PyErr {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    PyRuntimeError::new_err(message)
}
