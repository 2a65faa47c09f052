//! Mappings learned in earlier runs: where the value of a missing parameter was found.

use reknit_protocol::{Segment, StepId};
use reknit_salvage::Schema;
use serde::{Deserialize, Serialize};

use crate::bind::autowire::would_fit;
use crate::bind::bind;
use crate::expression::Node;
use crate::step_ids::StepIds;
use crate::{
    Binding, BoundParameters, Expression, Parameters, Provenance, Reference, ResolvedBy, StepResults, Template,
    UnboundParameter,
};

/// The name of the producer's result in the expression of a mapping.
const PRODUCER_RESULT: &str = "it";

/// Where the value of a capability's parameter was found in the result of another capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterMapping {
    /// The capability whose result has the value.
    pub producer: String,
    /// The capability that takes the parameter.
    pub consumer: String,
    pub parameter: String,
    /// The location of the value, as an expression in which `it` is the producer's result: `it.data.price`.
    pub expression: String,
    #[serde(default)]
    pub status: MappingStatus,
}

/// Whether a person has accepted a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MappingStatus {
    /// A model found it, and nobody has looked at it. A call that succeeds does not confirm it.
    #[default]
    Inferred,
    Accepted,
}

/// A [`ParameterMapping`] that may apply to a step, because the result of `step` comes from its producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappingCandidate<'a> {
    pub parameter: &'a str,
    /// The step whose result may have the value.
    pub step: &'a StepId,
    pub expression: &'a str,
    pub status: MappingStatus,
}

/// The step and the [`ParameterMapping`] expression to remember for a value that a model located.
///
/// Returns `None` if the value may be specific to one request: the expression contains a literal or an array index, or it
/// refers to more than one step.
///
/// ```
/// use reknit_expressions::{ResolvedBy, Provenance, learnable_expression};
/// use reknit_protocol::Path;
///
/// let origin = Provenance::Reference { step: "quote".into(), path: Path::root().key("data").key("price") };
/// let resolved = Provenance::Resolved { by: ResolvedBy::Model, origin: Box::new(origin) };
/// assert_eq!(learnable_expression(&resolved, &["quote".into()]), Some(("quote".into(), "it.data.price".to_owned())));
/// ```
pub fn learnable_expression(provenance: &Provenance, steps: &[StepId]) -> Option<(StepId, String)> {
    let Provenance::Resolved { by: ResolvedBy::Model, origin } = provenance else { return None };
    let ids = StepIds::new(steps);
    let expression: Expression = match origin.as_ref() {
        Provenance::Reference { step, path } => Reference::new(step.clone(), path.clone(), &ids).into(),
        Provenance::Expression { text, .. } => Expression::parse_with_ids(text, &ids).ok()?,
        _ => return None,
    };
    let references = expression.references();
    let step = references.first()?.step().clone();
    let is_general = references.iter().all(|reference| {
        *reference.step() == step && reference.path().segments().iter().all(|part| matches!(part, Segment::Key(_)))
    });
    // A path into a computed value may contain an array index.
    if !is_general
        || expression.nodes().any(|node| matches!(node, Node::Literal(_) | Node::Access(..) | Node::Item(..)))
    {
        return None;
    }
    Some((step, expression.with_step(&PRODUCER_RESULT.into()).to_string()))
}

/// Binds like [`bind`](crate::bind()), then fills parameters that are still missing with learned mappings.
///
/// A mapping applies only to a parameter that the plan omits. It must give a value that fits the schema, and no other
/// mapping may give a different value. Inferred mappings are ignored where an accepted one gives a value.
pub fn bind_with_mappings(
    parameters: &Parameters,
    results: &dyn StepResults,
    wire_from: &[StepId],
    schema: Option<&Schema>,
    candidates: &[MappingCandidate<'_>],
) -> Binding {
    let without_mappings = bind(parameters, results, wire_from, schema);
    let Binding::Unbound { unbound, .. } = &without_mappings else { return without_mappings };
    let mut extended = parameters.clone();
    let mut mapped = Vec::new();
    for missing in unbound {
        for (status, by) in
            [(MappingStatus::Accepted, ResolvedBy::Accepted), (MappingStatus::Inferred, ResolvedBy::Learned)]
        {
            let candidates = candidates.iter().filter(|candidate| candidate.status == status);
            match mapped_template(missing, parameters, results, schema, candidates) {
                Ok(None) => continue,
                Ok(Some(template)) => {
                    extended.set(&missing.parameter, template);
                    mapped.push((missing.parameter.clone(), by));
                }
                Err(DifferentValues) => {}
            }
            break;
        }
    }
    if mapped.is_empty() {
        return without_mappings;
    }
    match bind(&extended, results, wire_from, schema) {
        Binding::Bound(bound) => Binding::Bound(mark_learned(bound, &mapped)),
        Binding::Unbound { partial, unbound } => Binding::Unbound { partial: mark_learned(partial, &mapped), unbound },
        // Each value fits alone but not all together, so none of them is certain.
        Binding::Misfit { .. } => without_mappings,
    }
}

fn mark_learned(mut bound: BoundParameters, mapped: &[(String, ResolvedBy)]) -> BoundParameters {
    for (name, provenance) in &mut bound.provenance {
        if let Some((_, by)) = mapped.iter().find(|(mapped, _)| mapped == name) {
            let origin = Box::new(std::mem::replace(provenance, Provenance::Literal));
            *provenance = Provenance::Resolved { by: *by, origin };
        }
    }
    bound
}

/// Several mappings give different values.
struct DifferentValues;

/// The template on whose value all mappings agree; `None` if they give no value.
fn mapped_template<'a>(
    missing: &UnboundParameter,
    parameters: &Parameters,
    results: &dyn StepResults,
    schema: Option<&Schema>,
    candidates: impl Iterator<Item = &'a MappingCandidate<'a>>,
) -> Result<Option<Template>, DifferentValues> {
    let name = missing.parameter.as_str();
    // A mapping is learned from an omitted parameter. It says nothing about one that the plan sets but cannot resolve.
    if parameters.get(name).is_some() {
        return Ok(None);
    }
    let mut found: Option<(Expression, reknit_protocol::Value)> = None;
    for candidate in candidates.filter(|candidate| candidate.parameter == name) {
        let Ok(general) = Expression::parse(candidate.expression, &[PRODUCER_RESULT.into()]) else { continue };
        let expression = general.with_step(candidate.step);
        let Ok(evaluation) = expression.evaluate(results) else { continue };
        let fits = schema.is_none_or(|schema| would_fit(name, &evaluation.value, schema));
        match &found {
            _ if evaluation.value.is_null() || !fits => {}
            Some((_, other)) if *other != evaluation.value => return Err(DifferentValues),
            Some(_) => {}
            None => found = Some((expression, evaluation.value)),
        }
    }
    Ok(found.map(|(expression, _)| expression.into()))
}

impl Expression {
    fn with_step(&self, step: &StepId) -> Self {
        let ids = StepIds::new(std::slice::from_ref(step));
        let replace =
            |reference: &Reference| Node::Reference(Reference::new(step.clone(), reference.path().clone(), &ids));
        Self { root: self.root.replace_references(&replace) }
    }
}
