//! Fills missing parameters from a model's answer.

use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::Schema;

use crate::correction::{fit_to_schema, known_fields, merge_correction, parse_templates, use_known_spelling};
use crate::step_ids::StepIds;
use crate::{BoundParameters, CorrectionError, Expression, Provenance, ResolvedBy, StepResults, Template};

/// The outcome of [`fill_missing`].
#[derive(Debug, Clone, PartialEq)]
pub struct FilledParameters {
    /// All parameters, fitted to the schema. The provenance covers only the parameters that were missing.
    pub bound: BoundParameters,
    /// Names in the answer that were not requested. Their parameters are unchanged.
    pub ignored: Vec<String>,
}

/// Fills the `missing` parameters from a model's answer. The answer gives for each a path or an expression over the
/// results, or a literal value if no result contains it.
///
/// Parameters that the plan sets are never changed. A literal value is [`Provenance::Inferred`], even if a result contains
/// an equal value. Fails if the parameters do not fit the schema.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_expressions::{ResolvedBy, Provenance, fill_missing};
/// use reknit_protocol::{Object, StepId, Value};
/// use reknit_salvage::Schema;
///
/// let ids: [StepId; 1] = ["quote".into()];
/// let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"current_price": 468.285}"#)?)]);
/// let schema = Schema::compile(&Value::parse(r#"{"required": ["amount"], "properties": {"amount": {"type": "number"}}}"#)?)?;
/// let answer = Object::from([("amount", "{{100 * quote.current_price}}".into())]);
///
/// let filled = fill_missing(&Object::new(), &answer, &["amount"], &results, &ids, Some(&schema))?;
/// assert_eq!(filled.bound.parameters.to_string(), r#"{"amount":46828.5}"#);
/// assert!(matches!(filled.bound.provenance_of("amount"), Some(Provenance::Resolved { by: ResolvedBy::Model, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fill_missing(
    given: &Object,
    answer: &Object,
    missing: &[&str],
    results: &dyn StepResults,
    steps: &[StepId],
    schema: Option<&Schema>,
) -> Result<FilledParameters, CorrectionError> {
    let known = known_fields(schema, given.keys().chain(missing.iter().copied()));
    let (answer, renames) = use_known_spelling(answer, &known);
    let is_missing = |name: &str| missing.contains(&name);
    let ignored = answer.keys().filter(|name| !is_missing(name)).map(str::to_owned).collect();
    let requested: Object = answer.into_iter().filter(|(name, _)| is_missing(name)).collect();
    let ids = StepIds::new(steps);
    let mut entries = parse_templates(&requested, &ids)?;
    for (name, template) in &mut entries {
        if let Some(reference) = requested.get(name).and_then(|value| bare_reference(value, results, &ids)) {
            *template = reference;
        }
    }
    let mut bound = fit_to_schema(merge_correction(given, &entries, renames, results, schema)?, schema)?;
    bound.provenance.retain(|(name, _)| is_missing(name));
    for (_, provenance) in &mut bound.provenance {
        let origin = std::mem::replace(provenance, Provenance::Inferred);
        if origin.comes_from_result() {
            *provenance = Provenance::Resolved { by: ResolvedBy::Model, origin: Box::new(origin) };
        }
    }
    Ok(FilledParameters { bound, ignored })
}

/// The reference that a string without braces spells. An equal value in a result does not count as a reference: equality
/// may be coincidence, and the reference would be learned for later runs.
fn bare_reference(value: &Value, results: &dyn StepResults, ids: &StepIds<'_>) -> Option<Template> {
    let expression = Expression::parse_with_ids(value.as_str()?, ids).ok()?;
    let reference = expression.as_reference().filter(|reference| !reference.path().is_root())?;
    expression.evaluate(results).is_ok().then(|| Template::Reference(reference.clone()))
}
