//! Reading JSON that fits a schema from text.

use super::fit::fit_with;
use super::fit_error::FitError;
use super::read::{Candidate, ReadOptions, ReadTextError, Reading, YesNoWords, read_with};
use crate::Schema;

/// Reads a JSON value that fits a schema from text, with the default limits.
///
/// Of all readings that can be made to fit, the one with the lowest penalty wins. If no reading can be made to fit, the
/// error is [`ReadTextError::DoesNotFit`].
pub fn read_as(text: &str, schema: &Schema) -> Result<Reading, ReadTextError> {
    read_with(text, &ReadOptions::default(), YesNoWords::AsText, &|candidate| finish(candidate, schema))
}

fn finish(candidate: Candidate, schema: &Schema) -> Result<Reading, FitError> {
    let Candidate { value, mut fixes, completeness, arithmetic, .. } = candidate;
    let (value, later, expressions) = fit_with(value, schema, &arithmetic)?;
    fixes.extend(later);
    Ok(Reading { value, fixes: fixes.into_vec(), completeness, expressions })
}
