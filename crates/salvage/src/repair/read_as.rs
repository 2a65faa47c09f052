//! Reading JSON that fits a schema from text.

use super::fit::fit_with;
use super::fit_error::FitError;
use super::notation::read_unfitted;
use super::read::{Candidate, Completeness, ReadOptions, ReadTextError, Reading, YesNoWords, read_with};
use crate::schema::{FitProblem, FitProblemKind};
use crate::{Fix, Schema};
use reknit_protocol::Value;

/// Reads a JSON value that fits a schema from text, with the default limits.
///
/// Text without JSON that fits may be the arguments of a call in another notation, such as `f(city="Bern")` or
/// `<city>Bern</city>`. Of all readings that can be made to fit, the one with the lowest penalty wins. If no reading can be made to fit, the
/// error is [`ReadTextError::DoesNotFit`]; so it is if the text has a key twice, with different values.
pub fn read_as(text: &str, schema: &Schema) -> Result<Reading, ReadTextError> {
    let reading = read_with(text, &ReadOptions::default(), YesNoWords::AsText, &|candidate| finish(candidate, schema));
    reading.or_else(|error| read_notation(text, schema).and_then(Result::ok).ok_or(error))
}

/// Reads the arguments of a call in another notation than JSON. `None` if the text is none, or leaves a doubt.
fn read_notation(text: &str, schema: &Schema) -> Option<Result<Reading, FitError>> {
    let (value, fix) = read_unfitted(text, schema)?;
    let fitted = fit_with(value, schema, &[]).map(|(value, fixes, expressions)| {
        let fixes = std::iter::once(fix).chain(fixes.into_vec()).collect();
        Reading { value, fixes, completeness: Completeness::Complete, expressions }
    });
    Some(fitted)
}

fn finish(candidate: Candidate, schema: &Schema) -> Result<Reading, FitError> {
    let Candidate { value, mut fixes, completeness, arithmetic, .. } = candidate;
    if let Some(conflict) = fixes.first_conflict() {
        return Err(FitError { problems: vec![two_values(conflict)], value });
    }
    let (value, later, expressions) = fit_with(value, schema, &arithmetic)?;
    fixes.extend(later);
    Ok(Reading { value, fixes: fixes.into_vec(), completeness, expressions })
}

/// Which of two values of one key is meant is not known.
fn two_values(conflict: &Fix) -> FitProblem {
    let [first, second] = [&conflict.before, &conflict.after].map(|text| {
        // A long value was cut.
        Value::parse(text).unwrap_or_else(|_| Value::from(text.as_str()))
    });
    let message = format!("the key is there twice, with the values {} and {}", conflict.before, conflict.after);
    let kind = FitProblemKind::Ambiguous { first, second };
    FitProblem { path: conflict.path.clone(), schema_path: String::new(), kind, message }
}
