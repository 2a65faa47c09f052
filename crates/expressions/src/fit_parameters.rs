//! Fits parameters to the schema of a tool.

use reknit_protocol::Value;
use reknit_salvage::{
    FitError, FitProblem, FitProblemKind, FittedValue, Fix, FixKind, Schema, SchemaType, fit, write_plain_integers,
};

/// Fits parameters like [`fit`](reknit_salvage::fit()), but never turns a text with commas into a list of one item: `"a, b"`
/// may be one item or two, and the tool would not say which it took. Integers are written without a fraction, because many
/// tools do not take `5.0` for one.
pub fn fit_parameters(parameters: Value, schema: &Schema) -> Result<FittedValue, FitError> {
    let before = parameters.clone();
    let mut fitted = fit(parameters, schema)?;
    let problems: Vec<FitProblem> = fitted.fixes.iter().filter_map(comma_list).collect();
    if !problems.is_empty() {
        return Err(FitError { value: before, problems });
    }
    let respelled = write_plain_integers(&mut fitted.value, schema);
    fitted.fixes.extend(respelled);
    Ok(fitted)
}

fn comma_list(fix: &Fix) -> Option<FitProblem> {
    let Ok(Value::String(text)) = Value::parse(&fix.before) else { return None };
    if fix.kind != FixKind::ScalarForArray || !text.contains(',') {
        return None;
    }
    let items: Value = text.split(',').map(|item| Value::from(item.trim())).collect();
    Some(FitProblem {
        path: fix.path.clone(),
        schema_path: String::new(),
        kind: FitProblemKind::Type { expected: vec![SchemaType::Array] },
        message: format!(
            "expected an array, found the string {}: write {items}, or {} for one item",
            fix.before, fix.after
        ),
    })
}
