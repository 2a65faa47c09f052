//! Applying what a model says should be different.

use reknit_protocol::{Object, Path, StepId, Value};
use reknit_salvage::{FixKind, Problem, ProblemKind, Schema};

use crate::draft::Draft;
use crate::ids::Ids;
use crate::resolve::Resolver;
use crate::template::{Part, Text};
use crate::{Backing, Bound, Change, Expression, Provenance, Sources, Template, TemplateError, Unbound};
use reknit_protocol::spelling::are_alike;

/// What a correction came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Corrected {
    /// The new parameters, all of them, which fit the schema. The provenance is that of the changed ones only.
    Changed(Bound),
    /// The correction says what was already there.
    Unchanged,
}

/// Why a correction is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CorrectionError {
    /// It has fields the tool does not know.
    #[error("unknown fields: {}", .names.join(", "))]
    UnknownFields {
        /// Those fields.
        names: Vec<String>,
        /// The fields there are.
        known: Vec<String>,
    },
    /// A template in it cannot be read.
    #[error("a template in the correction cannot be read")]
    Template(#[from] Box<TemplateError>),
    /// A value in it cannot be had.
    #[error("the correction has no value for {}", list(.0))]
    Unbound(Vec<Unbound>),
    /// The parameters would not fit the schema.
    #[error("the corrected parameters do not fit: {}", list(.problems))]
    Misfit {
        /// The parameters as they would be.
        parameters: Object,
        /// What is wrong with them.
        problems: Vec<Problem>,
    },
}

fn list(things: &[impl ToString]) -> String {
    things.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Applies a correction, which is a difference: what it does not mention stays.
///
/// A text with `{{...}}` is a template. A text that the schema does not allow, but that can be read as a calculation over
/// the results (`100 * step-1.price`), is one. Everything else is a literal, corrected by `rung`; [`explain`](crate::explain) may find what speaks for
/// it.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_bind::{Corrected, Provenance, correct};
/// use reknit_protocol::{Object, StepId, Value};
/// use reknit_salvage::Schema;
///
/// let ids: [StepId; 1] = ["step-1".into()];
/// let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
/// let schema = Schema::compile(&Value::parse(r#"{"properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#)?)?;
/// let current = Object::from([("amount", 0.into()), ("to", "KRW".into())]);
/// let correction = Object::from([("amount", "100 * step-1.response.price".into())]);
///
/// let Corrected::Changed(bound) = correct(&current, &correction, &results, &ids, Some(&schema), "context")? else {
///     panic!("it is another amount")
/// };
/// assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"to":"KRW"}"#);
/// assert!(matches!(bound.origin("amount"), Some(Provenance::Expression { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn correct(
    current: &Object,
    correction: &Object,
    sources: &dyn Sources,
    ids: &[StepId],
    schema: Option<&Schema>,
    rung: &str,
) -> Result<Corrected, CorrectionError> {
    let known = known_fields(current, schema);
    let (correction, renames) = with_known_names(correction, &known);
    refuse_unknown(&correction, &known, schema)?;
    let entries = templates(&correction, &Ids::new(ids))?;

    let draft = merged(current, &entries, renames, sources, schema)?;
    if draft.parameters == *current {
        return Ok(Corrected::Unchanged);
    }
    Ok(finish(fitted(draft, schema)?, current, rung, &Backing::Inferred))
}

/// The parameters with the entries put into them, not yet known to fit.
pub(crate) fn merged(
    current: &Object,
    entries: &[(String, Template)],
    renames: Vec<Change>,
    sources: &dyn Sources,
    schema: Option<&Schema>,
) -> Result<Draft, CorrectionError> {
    let mut resolver = Resolver::new(sources);
    let mut draft = Draft::resolve(entries, &mut resolver);
    let mut merged = Value::Object(current.clone());
    merge(&mut merged, Value::Object(std::mem::take(&mut draft.parameters)));
    if let Value::Object(object) = merged {
        draft.parameters = object;
    }
    if let Some(schema) = schema {
        draft.settle(&mut resolver, schema);
    }
    draft.changes.splice(0..0, renames.into_iter().chain(resolver.changes));
    if draft.unbound.is_empty() { Ok(draft) } else { Err(CorrectionError::Unbound(draft.unbound)) }
}

pub(crate) fn fitted(draft: Draft, schema: Option<&Schema>) -> Result<Bound, CorrectionError> {
    match schema {
        None => Ok(draft.into_bound()),
        Some(schema) => draft.fit(schema).map_err(|(bound, problems)| {
            let parameters = bound.parameters;
            CorrectionError::Misfit { parameters, problems }
        }),
    }
}

/// Takes over parameters that code has changed, as `rung`. Their values are what they are: no text in them is a template.
pub fn correct_to(
    current: &Object,
    changed: Object,
    schema: Option<&Schema>,
    rung: &str,
) -> Result<Corrected, CorrectionError> {
    let provenance = changed.keys().map(|name| (name.to_owned(), Provenance::Literal)).collect();
    let draft = Draft { parameters: changed, provenance, ..Draft::default() };
    let bound = match schema {
        None => draft.into_bound(),
        Some(schema) => draft.fit(schema).map_err(|(bound, problems)| {
            let parameters = bound.parameters;
            CorrectionError::Misfit { parameters, problems }
        })?,
    };
    Ok(finish(bound, current, rung, &Backing::Known))
}

fn finish(mut bound: Bound, current: &Object, rung: &str, backing: &Backing) -> Corrected {
    if bound.parameters == *current {
        return Corrected::Unchanged;
    }
    let parameters = &bound.parameters;
    bound.provenance.retain(|(name, _)| parameters.get(name) != current.get(name));
    for (_, provenance) in &mut bound.provenance {
        if *provenance == Provenance::Literal {
            *provenance = Provenance::Corrected { rung: rung.to_owned(), backing: backing.clone() };
        }
    }
    Corrected::Changed(bound)
}

/// The fields that are declared or in use.
pub(crate) fn known_fields(current: &Object, schema: Option<&Schema>) -> Vec<String> {
    let declared = schema.and_then(|schema| schema.source().get("properties")?.as_object());
    let mut known: Vec<String> = declared.into_iter().flat_map(Object::keys).map(str::to_owned).collect();
    known.extend(
        current.keys().filter(|name| !known.iter().any(|other| other == name)).map(str::to_owned).collect::<Vec<_>>(),
    );
    known
}

/// Gives fields that are only spelt differently the name they are known by, if there is no doubt about it.
pub(crate) fn with_known_names(correction: &Object, known: &[String]) -> (Object, Vec<Change>) {
    let mut renamed = Object::with_capacity(correction.len());
    let mut changes = Vec::new();
    for (name, value) in correction {
        let alike: Vec<&String> = known.iter().filter(|other| are_alike(other, name)).collect();
        let rivals = correction.keys().filter(|other| are_alike(other, name)).count();
        match alike.as_slice() {
            [other] if *other != name && rivals == 1 => {
                let kind = FixKind::KeySpelling.name().to_owned();
                let (before, after) = (name.to_owned(), (*other).clone());
                changes.push(Change { path: Path::root().key(other), kind, before, after });
                renamed.insert(other.as_str(), value.clone());
            }
            _ => {
                renamed.insert(name, value.clone());
            }
        }
    }
    (renamed, changes)
}

fn refuse_unknown(correction: &Object, known: &[String], schema: Option<&Schema>) -> Result<(), CorrectionError> {
    let Some(schema) = schema else { return Ok(()) };
    let problems = schema.problems(&Value::Object(correction.clone()));
    let unknown =
        problems.into_iter().filter(|problem| problem.path.is_root()).filter_map(|problem| match problem.kind {
            ProblemKind::UnknownProperty { names } => Some(names),
            _ => None,
        });
    let names: Vec<String> = unknown.flatten().collect();
    if names.is_empty() { Ok(()) } else { Err(CorrectionError::UnknownFields { names, known: known.to_vec() }) }
}

pub(crate) fn templates(correction: &Object, ids: &Ids<'_>) -> Result<Vec<(String, Template)>, CorrectionError> {
    let mut entries = Vec::with_capacity(correction.len());
    for (name, value) in correction {
        let template = Template::parse_at(value, ids, &mut Path::root().key(name)).map_err(Box::new)?;
        entries.push((name.to_owned(), with_calculations(template, ids)));
    }
    Ok(entries)
}

/// Notes of each plain text which calculation it could be; the schema decides whether it is one.
fn with_calculations(template: Template, ids: &Ids<'_>) -> Template {
    match template {
        Template::Literal(Value::String(text)) if !text.contains("{{") => match Expression::parse_among(&text, ids) {
            Ok(expression) if !expression.is_literal() => {
                Template::Text(Text { parts: vec![Part::Literal(text)], calculation: Some(expression) })
            }
            _ => Template::Literal(text.into()),
        },
        Template::Literal(Value::Array(items)) => {
            Template::array(items.into_iter().map(|item| with_calculations(Template::Literal(item), ids)).collect())
        }
        Template::Literal(Value::Object(object)) => {
            let entries =
                object.into_iter().map(|(key, value)| (key, with_calculations(Template::Literal(value), ids)));
            Template::object(entries.collect())
        }
        Template::Array(items) => Template::Array(items.into_iter().map(|item| with_calculations(item, ids)).collect()),
        Template::Object(entries) => {
            let entries = entries.into_iter().map(|(key, template)| (key, with_calculations(template, ids)));
            Template::Object(entries.collect())
        }
        other => other,
    }
}

/// Puts a difference into a value: objects key by key, everything else as a whole.
fn merge(value: &mut Value, difference: Value) {
    match (value, difference) {
        (Value::Object(object), Value::Object(difference)) => {
            for (key, new) in difference {
                match object.get_mut(&key) {
                    Some(old) => merge(old, new),
                    None => {
                        object.insert(key, new);
                    }
                }
            }
        }
        (value, difference) => *value = difference,
    }
}
