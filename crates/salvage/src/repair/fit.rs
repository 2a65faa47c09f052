//! Fitting a value to a schema: converting it to the types and names that the schema asks for.
//!
//! ```text
//! value --fits--> unchanged, except for misspelt keys
//!   '--plan the changes with the lowest penalty--> apply --fits--> value with fixes
//!                                                    '--does not fit--> FitError
//! ```

mod apply;
mod decode;
mod envelope;
mod list_in_text;
mod plain_integers;
mod plan;
mod planner;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use reknit_protocol::{Path, Value};

pub use plain_integers::write_plain_integers;

use super::fit_error::FitError;
use crate::fix::FixList;
use crate::schema::{FitProblem, with_large_stack};
use crate::{Fix, Schema};
use apply::AppliedPlan;
use envelope::Envelope;
use plain_integers::rewrite_dates;
use planner::{KeyRenaming, Planner, Validity};

/// A value that fits a schema, with the changes that were needed.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedValue {
    pub value: Value,
    /// Every change, in the order of the value. Empty if the value fitted unchanged.
    pub fixes: Vec<Fix>,
}

/// Makes a value fit a schema and changes only what has to change.
///
/// `fit` converts numbers and booleans in strings, arrays and objects in strings (JSON or Python), and numbers in place of
/// strings. It wraps a single value in an array, corrects the spelling of keys and allowed values, drops a null for an
/// optional property, and removes one layer around the arguments of a call, such as `{"arguments": {...}}`. It never invents, truncates or rounds a value: if the meaning is not clear, it returns a
/// [`FitError`] that says what is wrong and keeps the value.
///
/// A value that fits is returned unchanged, with two exceptions. An unknown key that is another spelling of an absent
/// property is renamed, and its value is fitted to that property. A layer around the arguments is removed if the value fits
/// only because the schema requires nothing: its single key is unknown, and the arguments in it have keys that are known.
///
/// ```
/// use reknit_protocol::Value;
/// use reknit_salvage::{Schema, fit};
///
/// let schema = Schema::compile(&Value::parse(
///     r#"{"type": "object", "properties": {"lat": {"type": "number"}, "max_results": {"type": "integer"}}}"#,
/// )?)?;
/// let fitted = fit(Value::parse(r#"{"lat": "35.6897", "maxResults": "1,000"}"#)?, &schema)?;
/// assert_eq!(fitted.value.to_string(), r#"{"lat":35.6897,"max_results":1000}"#);
/// assert_eq!(fitted.fixes.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit(value: Value, schema: &Schema) -> Result<FittedValue, FitError> {
    let (value, fixes, _) = fit_with(value, schema, &[])?;
    Ok(FittedValue { value, fixes: fixes.into_vec() })
}

/// As [`fit`], for a value with unquoted arithmetic: the strings at the paths in `arithmetic`.
///
/// Where the schema asks for a number, the arithmetic becomes an expression, which is accepted although it is a string.
/// The third part of the result are the paths of the expressions.
pub(crate) fn fit_with(
    value: Value,
    schema: &Schema,
    arithmetic: &[Path],
) -> Result<(Value, FixList, Vec<Path>), FitError> {
    let arithmetic: HashSet<Path> = arithmetic.iter().cloned().collect();
    let outcome = fit_on_any_stack(&value, schema, &arithmetic);
    let outcome = match without_envelope(&value, schema, &arithmetic, &outcome) {
        Some(inner) => inner,
        None => outcome,
    };
    let (mut value, mut fixes, expressions) = match outcome {
        Outcome::Unchanged => (value, FixList::default(), Vec::new()),
        Outcome::Changed(result, fixes) => (result.value, fixes, result.expressions),
        Outcome::DoesNotFit { problems, .. } => return Err(FitError { value, problems }),
    };
    rewrite_dates(&mut value, schema, &mut fixes);
    Ok((value, fixes, expressions))
}

/// The outcome for the arguments alone, if the value is an envelope around them.
fn without_envelope(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>, outcome: &Outcome) -> Option<Outcome> {
    let envelope = Envelope::find(value, schema)?;
    if !matches!(outcome, Outcome::DoesNotFit { .. }) && !envelope.fits_by_chance(schema) {
        return None;
    }
    let mut fixes = FixList::default();
    fixes.push(Path::root, envelope.kind, &value.to_string(), envelope.inner.to_string());
    let result = match fit_on_any_stack(&envelope.inner, schema, &envelope.inner_paths(arithmetic)) {
        Outcome::Unchanged => AppliedPlan { value: envelope.inner.into_owned(), expressions: Vec::new() },
        Outcome::Changed(result, more) => {
            fixes.extend(more);
            result
        }
        Outcome::DoesNotFit { .. } => return None,
    };
    // Two layers are no envelope.
    let has_another = Envelope::find(&result.value, schema).is_some_and(|inner| inner.fits_by_chance(schema));
    (!has_another).then_some(Outcome::Changed(result, fixes))
}

fn fit_on_any_stack(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>) -> Outcome {
    let fits = schema.fits(value);
    let needs_large_stack = schema.is_deep && (!fits || schema.needs_large_stack(value));
    with_large_stack(needs_large_stack, || fit_keys_and_values(value, schema, arithmetic, fits))
}

enum Outcome {
    Unchanged,
    Changed(AppliedPlan, FixList),
    DoesNotFit { problems: Vec<FitProblem>, renamed_keys: bool },
}

/// Tries to fit the value with misspelt keys renamed, then with all keys kept.
fn fit_keys_and_values(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>, fits: bool) -> Outcome {
    let attempt = |renaming| attempt(value, schema, arithmetic, fits, renaming);
    let first = attempt(KeyRenaming::On);
    let Outcome::DoesNotFit { renamed_keys, .. } = &first else { return first };
    if fits {
        return Outcome::Unchanged;
    }
    if *renamed_keys {
        let second = attempt(KeyRenaming::Off);
        if !matches!(second, Outcome::DoesNotFit { .. }) {
            return second;
        }
    }
    first
}

fn attempt(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>, fits: bool, renaming: KeyRenaming) -> Outcome {
    let validity = if fits { Validity::Valid } else { Validity::Unknown };
    let (plan, notes) = Planner::new(value, schema, arithmetic, renaming).run(validity);
    if plan.is_keep() && fits {
        return Outcome::Unchanged;
    }
    let (result, fixes) = apply::apply(value, &plan);
    if !notes.gave_up && schema.fits_except_at(&result.value, &result.expressions) {
        return Outcome::Changed(result, fixes);
    }
    let remaining = schema.problems_except_at(&result.value, &result.expressions);
    let renamed_keys = notes.renamed_keys;
    Outcome::DoesNotFit { problems: notes.explain(value, remaining), renamed_keys }
}
