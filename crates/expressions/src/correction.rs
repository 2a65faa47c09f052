//! Applies corrections to the parameters of a call, and fits them to the schema of the tool.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, StepId, Value};
use reknit_salvage::{FitProblem, FitProblemKind, FixKind, Schema};

use crate::bind::unfitted_parameters::UnfittedParameters;
use crate::resolve::Resolver;
use crate::step_ids::StepIds;
use crate::template::{TextPart, TextTemplate};
use crate::unbound::{joined, quoted_list};
use crate::{
    Backing, BoundParameters, Expression, Provenance, StepResults, Template, TemplateParseError, UnboundParameter,
    ValueChange,
};

#[derive(Debug, Clone, PartialEq)]
pub enum CorrectionOutcome {
    /// All parameters after the correction, fitted to the schema. The provenance covers only the changed ones.
    Changed(BoundParameters),
    /// The same values, but some numbers are spelled differently: `5` for `5.0`. Matters to a tool that could not decode
    /// the number.
    Respelled(BoundParameters),
    Unchanged,
}

/// Why a correction cannot be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CorrectionError {
    #[error("unknown fields: {}", quoted_list(.names))]
    UnknownFields {
        names: Vec<String>,
        /// The fields that the tool knows.
        known: Vec<String>,
    },
    #[error("the correction contains an invalid template")]
    Template(#[from] Box<TemplateParseError>),
    #[error("cannot resolve the correction: {}", joined(.0))]
    Unbound(Vec<UnboundParameter>),
    #[error("the corrected parameters do not fit the schema: {}", joined(.problems))]
    Misfit { parameters: Object, problems: Vec<FitProblem> },
}

/// Applies a correction written by a model. Parameters that the correction does not mention keep their values.
///
/// A string with `{{...}}` is a template. A string without braces is evaluated if it parses as an expression
/// (`100 * step-1.price`) and the schema does not allow a string. Every other value is a literal with the provenance
/// `Corrected` by `rung`.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_expressions::{CorrectionOutcome, Provenance, apply_correction};
/// use reknit_protocol::{Object, StepId, Value};
/// use reknit_salvage::Schema;
///
/// let ids: [StepId; 1] = ["step-1".into()];
/// let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
/// let schema = Schema::compile(&Value::parse(r#"{"properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#)?)?;
/// let current = Object::from([("amount", 0.into()), ("to", "KRW".into())]);
/// let correction = Object::from([("amount", "100 * step-1.response.price".into())]);
///
/// let CorrectionOutcome::Changed(bound) = apply_correction(&current, &correction, &results, &ids, Some(&schema), "context")? else {
///     panic!("the amount changes")
/// };
/// assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"to":"KRW"}"#);
/// assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Expression { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_correction(
    current: &Object,
    correction: &Object,
    results: &dyn StepResults,
    ids: &[StepId],
    schema: Option<&Schema>,
    rung: &str,
) -> Result<CorrectionOutcome, CorrectionError> {
    let known = known_fields(schema, current.keys());
    let (correction, renames) = use_known_spelling(correction, &known);
    reject_unknown_fields(&correction, &known, schema)?;
    let entries = parse_templates(&correction, &StepIds::new(ids))?;

    let unfitted = merge_correction(current, &entries, renames, results, schema)?;
    let has_same_values = unfitted.parameters == *current;
    match fit_to_schema(unfitted, schema) {
        // The current values do not fit either.
        Err(_) if has_same_values => Ok(CorrectionOutcome::Unchanged),
        bound => Ok(outcome(bound?, current, rung, &Backing::Inferred)),
    }
}

/// Resolves the entries and merges them into the current parameters.
pub(crate) fn merge_correction(
    current: &Object,
    entries: &[(String, Template)],
    renames: Vec<ValueChange>,
    results: &dyn StepResults,
    schema: Option<&Schema>,
) -> Result<UnfittedParameters, CorrectionError> {
    let mut resolver = Resolver::new(results);
    let mut unfitted = UnfittedParameters::resolve(entries, &mut resolver);
    let mut merged = Value::Object(current.clone());
    merge(&mut merged, Value::Object(std::mem::take(&mut unfitted.parameters)));
    unfitted.set_parameters(merged);
    if let Some(schema) = schema {
        unfitted.decide_by_schema(&mut resolver, schema);
    }
    unfitted.changes.splice(0..0, renames.into_iter().chain(resolver.changes));
    if unfitted.unbound.is_empty() { Ok(unfitted) } else { Err(CorrectionError::Unbound(unfitted.unbound)) }
}

pub(crate) fn fit_to_schema(
    unfitted: UnfittedParameters,
    schema: Option<&Schema>,
) -> Result<BoundParameters, CorrectionError> {
    match schema {
        None => Ok(unfitted.into_bound()),
        Some(schema) => unfitted.fit(schema).map_err(|(bound, problems)| {
            let parameters = bound.parameters;
            CorrectionError::Misfit { parameters, problems }
        }),
    }
}

/// Replaces the parameters with ones that code has changed on `rung`. Their values are literals, never templates.
pub fn replace_parameters(
    current: &Object,
    changed: Object,
    schema: Option<&Schema>,
    rung: &str,
) -> Result<CorrectionOutcome, CorrectionError> {
    let provenance = changed.keys().map(|name| (name.to_owned(), Provenance::Literal)).collect();
    let unfitted = UnfittedParameters { parameters: changed, provenance, ..UnfittedParameters::default() };
    Ok(outcome(fit_to_schema(unfitted, schema)?, current, rung, &Backing::Known))
}

/// Compares the parameters with the current ones and marks changed literals as corrected.
fn outcome(mut bound: BoundParameters, current: &Object, rung: &str, backing: &Backing) -> CorrectionOutcome {
    if bound.parameters == *current && bound.parameters.to_string() == current.to_string() {
        return CorrectionOutcome::Unchanged;
    }
    let (parameters, is_respelled) = (&bound.parameters, bound.parameters == *current);
    let text = |object: &Object, name: &str| object.get(name).map(Value::to_string);
    bound.provenance.retain(|(name, _)| {
        parameters.get(name) != current.get(name) || (is_respelled && text(parameters, name) != text(current, name))
    });
    for (_, provenance) in &mut bound.provenance {
        if *provenance == Provenance::Literal {
            *provenance = Provenance::Corrected { rung: rung.to_owned(), backing: backing.clone() };
        }
    }
    if is_respelled { CorrectionOutcome::Respelled(bound) } else { CorrectionOutcome::Changed(bound) }
}

/// The fields that the schema declares, and `others`.
pub(crate) fn known_fields<'a>(schema: Option<&Schema>, others: impl Iterator<Item = &'a str>) -> Vec<String> {
    let declared = schema.and_then(|schema| schema.source().get("properties")?.as_object());
    let mut known: Vec<String> = declared.into_iter().flat_map(Object::keys).map(str::to_owned).collect();
    for name in others {
        if !known.iter().any(|other| other == name) {
            known.push(name.to_owned());
        }
    }
    known
}

/// Renames fields that differ from a known field only in spelling, unless more than one field matches.
pub(crate) fn use_known_spelling(correction: &Object, known: &[String]) -> (Object, Vec<ValueChange>) {
    let mut renamed = Object::with_capacity(correction.len());
    let mut changes = Vec::new();
    for (name, value) in correction {
        let alike: Vec<&String> = known.iter().filter(|other| are_alike(other, name)).collect();
        let similar = correction.keys().filter(|other| are_alike(other, name)).count();
        let new_name = match alike.as_slice() {
            [other] if *other != name && similar == 1 => {
                let kind = FixKind::KeySpelling.name().to_owned();
                let (before, after) = (name.to_owned(), (*other).clone());
                changes.push(ValueChange { path: Path::root().key(other), kind, before, after });
                other.as_str()
            }
            _ => name,
        };
        renamed.insert(new_name, value.clone());
    }
    (renamed, changes)
}

fn reject_unknown_fields(
    correction: &Object,
    known: &[String],
    schema: Option<&Schema>,
) -> Result<(), CorrectionError> {
    let Some(schema) = schema else { return Ok(()) };
    let problems = schema.problems(&Value::Object(correction.clone()));
    let unknown =
        problems.into_iter().filter(|problem| problem.path.is_root()).filter_map(|problem| match problem.kind {
            FitProblemKind::UnknownProperty { names } => Some(names),
            _ => None,
        });
    let names: Vec<String> = unknown.flatten().collect();
    if names.is_empty() { Ok(()) } else { Err(CorrectionError::UnknownFields { names, known: known.to_vec() }) }
}

/// Parses the values of a correction.
pub(crate) fn parse_templates(
    correction: &Object,
    ids: &StepIds<'_>,
) -> Result<Vec<(String, Template)>, CorrectionError> {
    let mut entries = Vec::with_capacity(correction.len());
    for (name, value) in correction {
        let template = Template::parse_at(value, ids, &mut Path::root().key(name)).map_err(Box::new)?;
        entries.push((name.to_owned(), with_calculations(template, ids)));
    }
    Ok(entries)
}

/// Attaches to each plain string the expression that it parses as. The schema decides later whether to evaluate it.
fn with_calculations(template: Template, ids: &StepIds<'_>) -> Template {
    match template {
        Template::Literal(Value::String(text)) if !text.contains("{{") => {
            match Expression::parse_with_ids(&text, ids) {
                Ok(expression) if !expression.is_literal() => {
                    Template::Text(TextTemplate { parts: vec![TextPart::Literal(text)], calculation: Some(expression) })
                }
                _ => Template::Literal(text.into()),
            }
        }
        Template::Literal(Value::Array(items)) => {
            with_calculations(Template::Array(items.into_iter().map(Template::Literal).collect()), ids)
        }
        Template::Literal(Value::Object(object)) => {
            let entries = object.into_iter().map(|(key, value)| (key, Template::Literal(value)));
            with_calculations(Template::Object(entries.collect()), ids)
        }
        Template::Array(items) => Template::array(items.into_iter().map(|item| with_calculations(item, ids)).collect()),
        Template::Object(entries) => {
            let entries = entries.into_iter().map(|(key, template)| (key, with_calculations(template, ids)));
            Template::object(entries.collect())
        }
        other => other,
    }
}

/// Merges a difference into a value: objects key by key, every other value as a whole.
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
