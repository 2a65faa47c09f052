//! Taking in where a model says that missing values are.

use reknit_protocol::{Object, Path, StepId, Value};
use reknit_salvage::Schema;

use crate::correct::{fitted, known_fields, merged, templates, with_known_names};
use crate::ids::Ids;
use crate::{Bound, CorrectionError, Expression, Finder, Provenance, Source, Sources, Template};

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
/// What the plan has given is never changed. A value that the model wrote itself is [`Provenance::Inferred`], unless just
/// one place in the results holds that very value: then it is a reference to that place. What does not fit is refused.
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
        if let Some(place) = asked.get(name).and_then(|value| place(value, sources, steps, &ids)) {
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

/// The place that a plain value stands for: the path it spells, or the only place that holds it.
fn place(value: &Value, sources: &dyn Sources, steps: &[StepId], ids: &Ids<'_>) -> Option<Template> {
    let spelt = value.as_str().and_then(|text| Expression::parse_with(text, ids).ok());
    let spelt = spelt.filter(|path| path.as_reference().is_some_and(|reference| !reference.path().is_root()));
    if let Some(reference) = spelt.filter(|path| path.evaluate(sources).is_ok()) {
        return reference.as_reference().cloned().map(Template::Reference);
    }
    if says_little(value) {
        return None;
    }
    let mut places = Places { value, found: Vec::new() };
    for step in steps {
        if let Source::Ready(body) = sources.source(step) {
            places.look(step, body, &mut Path::root());
        }
    }
    match places.found.as_slice() {
        [(step, path)] => Some(Template::Reference(crate::Reference::new((*step).clone(), path.clone(), ids))),
        _ => None,
    }
}

/// Whether a value is the same as many others by chance alone.
fn says_little(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// The places that hold a value.
struct Places<'a> {
    value: &'a Value,
    found: Vec<(&'a StepId, Path)>,
}

impl<'a> Places<'a> {
    fn look(&mut self, step: &'a StepId, here: &Value, path: &mut Path) {
        // Two are as good as many: neither is the only one.
        if self.found.len() > 1 {
            return;
        }
        if here == self.value {
            self.found.push((step, path.clone()));
            return;
        }
        match here {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push_index(index);
                    self.look(step, item, path);
                    path.pop();
                }
            }
            Value::Object(object) => {
                for (key, value) in object {
                    path.push_key(key);
                    self.look(step, value, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}
