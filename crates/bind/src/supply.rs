//! Taking in where a model says that missing values are.

use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::Schema;

use crate::correct::{fitted, known_fields, merged, templates, with_known_names};
use crate::ids::Ids;
use crate::{Bound, CorrectionError, Expression, Finder, Provenance, Sources, Template};

/// What the answer of a model came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Supplied {
    /// All parameters, which fit the schema. The provenance is that of the missing ones only.
    pub bound: Bound,
    /// What nobody asked for, and so was left as it is.
    pub ignored: Vec<String>,
}

/// Takes in a model's answer for the `missing` parameters: where each is, as a path or an expression over the results,
/// or the value itself where no result holds it.
///
/// What the plan has given is never changed. A value that the model wrote itself is [`Provenance::Inferred`], also if some
/// place in the results holds the same. What does not fit is refused.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_bind::{Finder, Provenance, supply};
/// use reknit_protocol::{Object, StepId, Value};
/// use reknit_salvage::Schema;
///
/// let ids: [StepId; 1] = ["quote".into()];
/// let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"current_price": 468.285}"#)?)]);
/// let schema = Schema::compile(&Value::parse(r#"{"required": ["amount"], "properties": {"amount": {"type": "number"}}}"#)?)?;
/// let answer = Object::from([("amount", "{{100 * quote.current_price}}".into())]);
///
/// let supplied = supply(&Object::new(), &answer, &["amount"], &results, &ids, Some(&schema))?;
/// assert_eq!(supplied.bound.parameters.to_string(), r#"{"amount":46828.5}"#);
/// assert!(matches!(supplied.bound.origin("amount"), Some(Provenance::Resolved { by: Finder::Model, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn supply(
    given: &Object,
    answer: &Object,
    missing: &[&str],
    sources: &dyn Sources,
    steps: &[StepId],
    schema: Option<&Schema>,
) -> Result<Supplied, CorrectionError> {
    let mut known = known_fields(given, schema);
    known.extend(
        missing
            .iter()
            .filter(|name| !known.iter().any(|other| other == *name))
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>(),
    );
    let (answer, renames) = with_known_names(answer, &known);
    let is_missing = |name: &str| missing.contains(&name);
    let ignored = answer.keys().filter(|name| !is_missing(name)).map(str::to_owned).collect();
    let asked: Object = answer.into_iter().filter(|(name, _)| is_missing(name)).collect();
    let ids = Ids::new(steps);
    let mut entries = templates(&asked, &ids)?;
    for (name, template) in &mut entries {
        if let Some(place) = asked.get(name).and_then(|value| place(value, sources, &ids)) {
            *template = place;
        }
    }
    let mut bound = fitted(merged(given, &entries, renames, sources, schema)?, schema)?;
    bound.provenance.retain(|(name, _)| is_missing(name));
    for (_, provenance) in &mut bound.provenance {
        let origin = std::mem::replace(provenance, Provenance::Inferred);
        if origin.has_source() {
            *provenance = Provenance::Resolved { by: Finder::Model, origin: Box::new(origin) };
        }
    }
    Ok(Supplied { bound, ignored })
}

/// The place that a plain text spells. A value that some place happens to hold is not taken for that place: what is the
/// same by chance would be the wrong thing the next time.
fn place(value: &Value, sources: &dyn Sources, ids: &Ids<'_>) -> Option<Template> {
    let spelt = value.as_str().and_then(|text| Expression::parse_among(text, ids).ok());
    let spelt = spelt.filter(|path| path.as_reference().is_some_and(|reference| !reference.path().is_root()));
    let reference = spelt.filter(|path| path.evaluate(sources).is_ok())?;
    reference.as_reference().cloned().map(Template::Reference)
}
