//! Fitting a value to a schema: what a model meant, in the types the tool asks for.
//!
//! ```text
//! value --fits--> as it is, except for misspelt keys
//!   '--plan: what is wrong, the cheapest way to what is wanted--> apply --fits--> value with fixes
//!                                                                   '--does not--> misfit
//! ```

mod apply;
mod choice;
mod decode;
mod misfit;
mod plan;
mod planner;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use reknit_protocol::{Path, Value};

pub use misfit::Misfit;

use crate::fix::Fixes;
use crate::schema::{Problem, with_room};
use crate::{Fix, Schema};
use apply::Applied;
use planner::{Keys, Known, Planner};

/// A value that fits, with what was changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The value.
    pub value: Value,
    /// Every change, in the order of the value; empty if it fitted as it was.
    pub fixes: Vec<Fix>,
}

/// Makes a value fit a schema, changing only what has to be changed.
///
/// Read are: numbers and booleans in strings, arrays and objects in strings (JSON or Python), numbers for strings, a single
/// value for an array, other spellings of an allowed value, a null for an optional property, and misspelt keys. Nothing is
/// invented, cut or rounded: what is not clearly meant is a [`Misfit`], which shows what is wrong and keeps the value.
///
/// A value that fits is returned as it is, with one exception: an unknown key that is another spelling of an absent
/// property gets the name of that property, and its value is then fitted to what that property wants.
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
pub fn fit(value: Value, schema: &Schema) -> Result<Fitted, Misfit> {
    let (value, fixes, _) = fit_with(value, schema, &[])?;
    Ok(Fitted { value, fixes: fixes.into_list() })
}

/// As [`fit`], for a value with unquoted arithmetic: the strings at the paths in `arithmetic`.
///
/// Where a number is wanted there, the arithmetic becomes an expression, and that it is a string is not held against it.
/// The third part of the result are the paths of the expressions.
pub(crate) fn fit_with(
    value: Value,
    schema: &Schema,
    arithmetic: &[Path],
) -> Result<(Value, Fixes, Vec<Path>), Misfit> {
    let arithmetic: HashSet<Path> = arithmetic.iter().cloned().collect();
    let fits = schema.fits(&value);
    let needs_room = schema.may_need_room() && (!fits || schema.needs_room(&value));
    match with_room(needs_room, || settle(&value, schema, &arithmetic, fits)) {
        Outcome::Unchanged => Ok((value, Fixes::default(), Vec::new())),
        Outcome::Changed(result, fixes) => Ok((result.value, fixes, result.expressions)),
        Outcome::Misfit { problems, .. } => Err(Misfit { value, problems }),
    }
}

/// How fitting went.
enum Outcome {
    Unchanged,
    Changed(Applied, Fixes),
    Misfit { problems: Vec<Problem>, renames: bool },
}

fn settle(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>, fits: bool) -> Outcome {
    let attempt = |keys| attempt(value, schema, arithmetic, fits, keys);
    let first = attempt(Keys::Mend);
    let Outcome::Misfit { renames, .. } = &first else { return first };
    if fits {
        return Outcome::Unchanged;
    }
    if *renames {
        let second = attempt(Keys::Leave);
        if !matches!(second, Outcome::Misfit { .. }) {
            return second;
        }
    }
    first
}

fn attempt(value: &Value, schema: &Schema, arithmetic: &HashSet<Path>, fits: bool, keys: Keys) -> Outcome {
    let known = if fits { Known::Fits } else { Known::Nothing };
    let (plan, notes) = Planner::new(value, schema, arithmetic, keys).run(known);
    if plan.is_keep() && fits {
        return Outcome::Unchanged;
    }
    let (result, fixes) = apply::apply(value, &plan);
    if !notes.gave_up && schema.fits_but_for(&result.value, &result.expressions) {
        return Outcome::Changed(result, fixes);
    }
    let remaining = schema.problems_but_for(&result.value, &result.expressions);
    let renames = notes.renames;
    Outcome::Misfit { problems: notes.explain(value, remaining), renames }
}
