//! Mending of calls that other programs made.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reknit::protocol::{SideEffect, Value};
use reknit::{FailedCall, Mending};

use crate::errors;
use crate::model::target;
use crate::run::runtime;
use crate::value::{Decimals, from_python, to_python};

/// Says what to do about failed calls.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Mender(reknit::Mender);

/// The class of side effects with this name.
pub(crate) fn side_effect(word: &str) -> PyResult<SideEffect> {
    SideEffect::from_word(word).ok_or_else(|| {
        PyValueError::new_err(format!(
            "there is no side effect `{word}`: write read, idempotent, keyed, undeclared or unsafe"
        ))
    })
}

#[pymethods]
impl Mender {
    #[new]
    #[pyo3(signature = (model=None))]
    fn new(model: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mender = reknit::Mender::new();
        Ok(Self(match model {
            Some(model) => mender.model(target("model", model)?),
            None => mender,
        }))
    }

    /// `(action, parameters or None, fixes, approval or reason or None, after_ms or None)`.
    #[pyo3(signature = (tool, schema, parameters, error, *, status=400, description="", context="", effect="read"))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn mend<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        schema: &Bound<'py, PyAny>,
        parameters: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        status: u16,
        description: &str,
        context: &str,
        effect: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Value::Object(parameters) = from_python(parameters)? else {
            return Err(PyValueError::new_err("`parameters` is not a dictionary"));
        };
        let error = match error.cast::<PyString>() {
            Ok(text) => text.to_str()?.to_owned(),
            Err(_) => from_python(error)?.to_string(),
        };
        let call = FailedCall::new(tool, from_python(schema)?, parameters, &error)
            .status(status)
            .description(description)
            .context(context)
            .side_effect(side_effect(effect)?);
        let mending = py.detach(|| runtime().block_on(self.0.mend(&call))).map_err(|error| errors::of_error(&error))?;
        let found = PyDict::new(py);
        match mending {
            Mending::Corrected(correction) => {
                found.set_item("action", "corrected")?;
                let parameters = Value::Object(correction.parameters);
                found.set_item("parameters", to_python(py, &parameters, Decimals::Float)?)?;
                let fixes: Vec<(&str, &str)> =
                    correction.fixes.iter().map(|fix| (fix.rung.as_str(), fix.description.as_str())).collect();
                found.set_item("fixes", fixes)?;
                found.set_item("approval", correction.approval)?;
            }
            Mending::SendAgain { after } => {
                found.set_item("action", "send_again")?;
                found.set_item("after", after.as_secs_f64())?;
            }
            Mending::NotMended { reason } => {
                found.set_item("action", "not_mended")?;
                found.set_item("reason", reason)?;
            }
            _ => found.set_item("action", "not_mended")?,
        }
        Ok(found)
    }
}
