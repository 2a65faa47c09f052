//! JSON values as Python objects, and back.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reknit::protocol::{MAX_DEPTH, Number, Object, Value};

/// What a number with a fraction becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decimals {
    /// A float, as `json.loads` does it.
    Float,
    /// A `decimal.Decimal`, which keeps every digit.
    Decimal,
}

impl From<bool> for Decimals {
    fn from(exact: bool) -> Self {
        if exact { Self::Decimal } else { Self::Float }
    }
}

/// The Python object of a value. Integers keep all their digits.
pub(crate) fn to_python(py: Python<'_>, value: &Value, decimals: Decimals) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::Number(number) => number_to_python(py, number, decimals)?,
        Value::String(text) => PyString::new(py, text).into_any().unbind(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item, decimals)?)?;
            }
            list.into_any().unbind()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            for (key, item) in object {
                dict.set_item(key, to_python(py, item, decimals)?)?;
            }
            dict.into_any().unbind()
        }
    })
}

fn number_to_python(py: Python<'_>, number: &Number, decimals: Decimals) -> PyResult<Py<PyAny>> {
    let text = number.to_string();
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(integer.into_pyobject(py)?.into_any().unbind());
    }
    let is_integer = !text.contains(['.', 'e', 'E']);
    if is_integer {
        return Ok(py.get_type::<PyInt>().call1((text,))?.unbind());
    }
    match decimals {
        Decimals::Float => Ok(PyFloat::new(py, text.parse().unwrap_or(f64::NAN)).into_any().unbind()),
        Decimals::Decimal => {
            static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let decimal =
                DECIMAL.get_or_try_init(py, || Ok::<_, PyErr>(py.import("decimal")?.getattr("Decimal")?.unbind()))?;
            decimal.call1(py, (text,))
        }
    }
}

/// The value of a Python object: what `json.dumps` takes, and decimals, dataclasses, models of pydantic, sets and dates.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    read_value(value, MAX_DEPTH)
}

/// `depth` is how much deeper it may nest, so that an object that contains itself is an error.
fn read_value(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyValueError::new_err("the value nests too deeply, or contains itself"));
    };
    if value.is_none() {
        Ok(Value::Null)
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Ok(Value::Bool(flag.is_true()))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::String(text.to_str()?.to_owned()))
    } else if value.is_instance_of::<PyInt>() {
        number(&value.py().get_type::<PyInt>().call1((value,))?.str()?)
    } else if value.is_instance_of::<PyFloat>() {
        number(&value.py().get_type::<PyFloat>().call1((value,))?.repr()?)
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let mut object = Object::with_capacity(dict.len());
        for (key, item) in dict {
            object.insert(key.str()?.to_str()?, read_value(&item, depth)?);
        }
        Ok(Value::Object(object))
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: PyResult<Vec<Value>> = value.try_iter()?.map(|item| read_value(&item?, depth)).collect();
        Ok(Value::Array(items?))
    } else {
        let (is_number, plain): (bool, Bound<'_, PyAny>) =
            value.py().import("reknit._plain")?.getattr("plain")?.call1((value,))?.extract()?;
        if is_number { number(&plain.str()?) } else { read_value(&plain, depth) }
    }
}

fn number(text: &Bound<'_, PyString>) -> PyResult<Value> {
    // Python writes `1e+16`, and `5e-324`, as JSON does.
    let text = text.to_str()?;
    Number::parse(text).map(Value::Number).map_err(|_| PyValueError::new_err(format!("{text} is not a number of JSON")))
}
