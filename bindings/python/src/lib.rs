//! Reknit for Python: reading what models write, mending failed calls, and running plans and agents with Python functions
//! as tools. The package `reknit` around it has the documentation, the types, and what is easier in Python.

mod errors;
mod mend;
mod model;
mod read;
mod run;
mod value;

use pyo3::prelude::*;

#[pymodule]
fn _reknit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ReadError", module.py().get_type::<errors::ReadError>())?;
    module.add("RunError", module.py().get_type::<errors::RunError>())?;
    module.add_class::<read::Schema>()?;
    module.add_class::<read::Reading>()?;
    module.add_class::<read::Fix>()?;
    module.add_class::<read::Reader>()?;
    module.add_class::<read::Partial>()?;
    module.add_class::<mend::Mender>()?;
    module.add_class::<run::Engine>()?;
    module.add_class::<run::RunHandle>()?;
    module.add_function(wrap_pyfunction!(read::read, module)?)?;
    module.add_function(wrap_pyfunction!(read::fit, module)?)?;
    Ok(())
}
