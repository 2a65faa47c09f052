//! Fits parameters to the schema of a tool.

use reknit_protocol::Value;
use reknit_salvage::{FitError, FittedValue, Schema, fit, write_plain_integers};

/// Fits parameters like [`fit`](reknit_salvage::fit()), and writes integers without a fraction, because many tools do not take
/// `5.0` for one.
pub fn fit_parameters(parameters: Value, schema: &Schema) -> Result<FittedValue, FitError> {
    let mut fitted = fit(parameters, schema)?;
    let respelled = write_plain_integers(&mut fitted.value, schema);
    fitted.fixes.extend(respelled);
    Ok(fitted)
}
