//! Reading texts and fitting values.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reknit::protocol::Value;
use reknit::salvage::{self, Completeness, FixKind, PartialState, ReadOptions};

use crate::errors;
use crate::value::{Decimals, from_python, to_python};

/// A compiled JSON Schema.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Schema(salvage::Schema);

#[pymethods]
impl Schema {
    #[new]
    fn new(schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = schema.py();
        let source = match schema.cast::<PyString>() {
            Ok(text) => Value::parse(text.to_str()?).map_err(|error| PyValueError::new_err(error.to_string()))?,
            Err(_) => from_python(schema)?,
        };
        salvage::Schema::compile(&source).map(Self).map_err(|error| errors::of_schema(py, &error))
    }

    /// Whether a value fits as it is.
    fn fits(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.fits(&from_python(value)?))
    }
}

/// A schema that a caller gave: compiled, or still to be compiled.
fn with_schema<T>(
    schema: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Option<&salvage::Schema>) -> PyResult<T>,
) -> PyResult<T> {
    let Some(schema) = schema.filter(|schema| !schema.is_none()) else { return work(None) };
    match schema.cast::<Schema>() {
        Ok(schema) => work(Some(&schema.get().0)),
        Err(_) => work(Some(&Schema::new(schema)?.0)),
    }
}

/// One repair.
#[pyclass(frozen, get_all, module = "reknit")]
pub(crate) struct Fix {
    path: String,
    kind: &'static str,
    description: &'static str,
    before: String,
    after: String,
    penalty: u32,
    times: u32,
}

#[pymethods]
impl Fix {
    fn __repr__(&self) -> String {
        format!("Fix({} at {}: {:?} -> {:?})", self.kind, self.path, self.before, self.after)
    }
}

/// A value with every repair that was made.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Reading {
    #[pyo3(get)]
    value: Py<PyAny>,
    /// Made into Python objects only if somebody looks at them.
    found: Vec<salvage::Fix>,
    #[pyo3(get)]
    completeness: &'static str,
    #[pyo3(get)]
    expressions: Vec<String>,
}

#[pymethods]
impl Reading {
    #[getter]
    fn fixes(&self) -> Vec<Fix> {
        let fix = |fix: &salvage::Fix| Fix {
            path: fix.path.to_string(),
            kind: fix.kind.name(),
            description: fix.kind.description(),
            before: fix.before.clone(),
            after: fix.after.clone(),
            penalty: fix.penalty,
            times: fix.times,
        };
        self.found.iter().map(fix).collect()
    }

    #[getter]
    fn is_complete(&self) -> bool {
        self.completeness == "complete"
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = self.value.bind(py).repr()?;
        Ok(format!("Reading(value={value}, fixes={}, completeness={:?})", self.found.len(), self.completeness))
    }
}

impl Reading {
    fn new(py: Python<'_>, reading: salvage::Reading, decimals: Decimals) -> PyResult<Self> {
        Ok(Self {
            value: to_python(py, &reading.value, decimals)?,
            found: reading.fixes,
            completeness: match reading.completeness {
                Completeness::Complete => "complete",
                Completeness::Truncated => "truncated",
                Completeness::Elided => "elided",
            },
            expressions: reading.expressions.iter().map(ToString::to_string).collect(),
        })
    }
}

/// Fails if a reading without a schema only made a string of prose: `I cannot help with that`.
fn with_json(py: Python<'_>, reading: salvage::Reading) -> PyResult<salvage::Reading> {
    let is_prose = |fix: &salvage::Fix| fix.path.is_root() && matches!(fix.kind, FixKind::BareText | FixKind::Emphasis);
    if reading.value.as_str().is_some() && reading.fixes.iter().any(is_prose) {
        return Err(errors::without_json(py));
    }
    Ok(reading)
}

/// Reads JSON from a model's text, and makes it fit a schema.
#[pyfunction]
#[pyo3(signature = (text, schema=None, *, decimals=false))]
pub(crate) fn read(py: Python<'_>, text: &str, schema: Option<&Bound<'_, PyAny>>, decimals: bool) -> PyResult<Reading> {
    with_schema(schema, |schema| {
        let failed = |error| errors::of_reading(py, &error);
        let reading = match schema {
            Some(schema) => salvage::read_as(text, schema).map_err(failed)?,
            None => with_json(py, salvage::read(text, &ReadOptions::default()).map_err(failed)?)?,
        };
        Reading::new(py, reading, decimals.into())
    })
}

/// Makes a value fit a schema.
#[pyfunction]
#[pyo3(signature = (value, schema, *, decimals=false))]
pub(crate) fn fit(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    decimals: bool,
) -> PyResult<Reading> {
    with_schema(Some(schema), |schema| {
        let Some(schema) = schema else { return Err(PyValueError::new_err("`schema` is missing")) };
        let fitted = salvage::fit(from_python(value)?, schema).map_err(|error| errors::of_fitting(py, &error))?;
        let (value, fixes) = (fitted.value, fitted.fixes);
        let reading = salvage::Reading { value, fixes, completeness: Completeness::Complete, expressions: Vec::new() };
        Reading::new(py, reading, decimals.into())
    })
}

/// What a text says so far.
#[pyclass(frozen, get_all, module = "reknit")]
pub(crate) struct Partial {
    value: Py<PyAny>,
    /// The path of the innermost value that may still change.
    open: String,
    state: &'static str,
}

/// Reads a text that arrives in chunks.
#[pyclass(module = "reknit")]
pub(crate) struct Reader {
    reader: Option<salvage::Reader>,
    schema: Option<Py<PyAny>>,
    decimals: Decimals,
}

impl Reader {
    fn open(&mut self) -> PyResult<&mut salvage::Reader> {
        self.reader.as_mut().ok_or_else(|| PyValueError::new_err("the reader is finished"))
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (schema=None, *, decimals=false))]
    fn new(schema: Option<Py<PyAny>>, decimals: bool) -> Self {
        Self { reader: Some(salvage::Reader::default()), schema, decimals: decimals.into() }
    }

    /// Adds the next chunk: text, or bytes, which may end inside of a character.
    fn push(&mut self, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let reader = self.open()?;
        match chunk.cast::<PyBytes>() {
            Ok(bytes) => reader.push(bytes.as_bytes()),
            Err(_) => reader.push(chunk.cast::<PyString>()?.to_str()?),
        }
        Ok(())
    }

    /// What the text says so far; `None` as long as no array or object has begun.
    fn partial(&mut self, py: Python<'_>) -> PyResult<Option<Partial>> {
        let decimals = self.decimals;
        let Some(partial) = self.open()?.partial() else { return Ok(None) };
        let state = match partial.state() {
            PartialState::Open => "open",
            PartialState::Ended => "ended",
            PartialState::Stopped => "stopped",
        };
        let value = to_python(py, partial.value(), decimals)?;
        Ok(Some(Partial { value, open: partial.open().to_string(), state }))
    }

    /// Reads the whole text. The reader cannot be used afterwards.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Reading> {
        self.open()?;
        let Some(reader) = self.reader.take() else { return Err(PyValueError::new_err("the reader is finished")) };
        let schema = self.schema.as_ref().map(|schema| schema.bind(py));
        with_schema(schema, |schema| {
            let failed = |error| errors::of_reading(py, &error);
            let reading = match schema {
                Some(schema) => reader.finish_as(schema).map_err(failed)?,
                None => with_json(py, reader.finish().map_err(failed)?.reading)?,
            };
            Reading::new(py, reading, self.decimals)
        })
    }
}
