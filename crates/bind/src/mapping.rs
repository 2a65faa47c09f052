//! Where missing values were found, kept for the next time.

use reknit_protocol::{Segment, StepId};
use reknit_salvage::Schema;
use serde::{Deserialize, Serialize};

use crate::bind::bind_with;
use crate::expression::Node;
use crate::ids::Ids;
use crate::wire::would_fit;
use crate::{
    Binding, Bound, Expression, Finder, Optional, Parameters, Provenance, Reference, Sources, Template, Unbound,
};

/// What stands for the answer of the producer in a mapping.
const ANSWER: &str = "it";

/// Where the value of one capability's parameter was found in the answer of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// Whose answer has it.
    pub producer: String,
    /// Whose parameter it is.
    pub consumer: String,
    /// The parameter.
    pub parameter: String,
    /// Where it is, as an expression in which `it` is the answer: `it.data.price`.
    pub expression: String,
}

/// A mapping that may hold for a step: the result of `step` is an answer of its producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<'a> {
    /// The parameter.
    pub parameter: &'a str,
    /// The step whose result may have it.
    pub step: &'a StepId,
    /// Where it is, as [`Mapping`] has it.
    pub expression: &'a str,
}

/// What can be learned from a value that a model found: the step that had it, and where, as [`Mapping`] has it.
///
/// Nothing is learned from what may hold for one request only: values that the model wrote, and positions in lists.
///
/// ```
/// use reknit_bind::{Finder, Provenance, lesson};
/// use reknit_protocol::Path;
///
/// let origin = Provenance::Reference { step: "quote".into(), path: Path::root().key("data").key("price") };
/// let found = Provenance::Resolved { by: Finder::Model, origin: Box::new(origin) };
/// assert_eq!(lesson(&found, &["quote".into()]), Some(("quote".into(), "it.data.price".to_owned())));
/// ```
pub fn lesson(found: &Provenance, steps: &[StepId]) -> Option<(StepId, String)> {
    let Provenance::Resolved { by: Finder::Model, origin } = found else { return None };
    let ids = Ids::new(steps);
    let expression: Expression = match origin.as_ref() {
        Provenance::Reference { step, path } => Reference::new(step.clone(), path.clone(), &ids).into(),
        Provenance::Expression { text, .. } => Expression::parse_among(text, &ids).ok()?,
        _ => return None,
    };
    let references = expression.references();
    let step = references.first()?.step().clone();
    let is_general = references.iter().all(|reference| {
        *reference.step() == step && reference.path().segments().iter().all(|part| matches!(part, Segment::Key(_)))
    });
    (is_general && !expression.says_values())
        .then(|| (step, expression.with_step(&ANSWER.into(), &Ids::new(&[ANSWER.into()])).to_string()))
}

/// Binds as [`bind`](crate::bind()) does, and looks for what is then missing where it was found before.
///
/// A mapping is used for what the plan leaves out, if it still gives a value that fits, and no other gives a different one.
pub fn bind_as_learned(
    parameters: &Parameters,
    sources: &dyn Sources,
    wire_from: &[StepId],
    schema: Option<&Schema>,
    optional: Optional,
    known: &[Known<'_>],
) -> Binding {
    let plain = bind_with(parameters, sources, wire_from, schema, optional);
    let Binding::Unbound { unbound, .. } = &plain else { return plain };
    let mut extended = parameters.clone();
    let mut recalled = Vec::new();
    for missing in unbound {
        if let Some(template) = recall(missing, parameters, sources, schema, known) {
            extended.set(&missing.parameter, template);
            recalled.push(missing.parameter.clone());
        }
    }
    if recalled.is_empty() {
        return plain;
    }
    match bind_with(&extended, sources, wire_from, schema, optional) {
        Binding::Bound(bound) => Binding::Bound(as_learned(bound, &recalled)),
        Binding::Unbound { partial, unbound } => Binding::Unbound { partial: as_learned(partial, &recalled), unbound },
        // Each fits alone, but not all together: then nothing of it is sure.
        Binding::Misfit { .. } => plain,
    }
}

fn as_learned(mut bound: Bound, recalled: &[String]) -> Bound {
    for (name, provenance) in &mut bound.provenance {
        if recalled.contains(name) {
            let origin = Box::new(std::mem::replace(provenance, Provenance::Literal));
            *provenance = Provenance::Resolved { by: Finder::Learned, origin };
        }
    }
    bound
}

/// What stands for a missing parameter, if what is known of it gives one value.
fn recall(
    missing: &Unbound,
    parameters: &Parameters,
    sources: &dyn Sources,
    schema: Option<&Schema>,
    known: &[Known<'_>],
) -> Option<Template> {
    let name = missing.parameter.as_str();
    // What the plan asks for and cannot be had is not what was left out another time.
    if parameters.get(name).is_some() {
        return None;
    }
    let mut found: Option<(Expression, reknit_protocol::Value)> = None;
    for known in known.iter().filter(|known| known.parameter == name) {
        let Ok(general) = Expression::parse(known.expression, &[ANSWER.into()]) else { continue };
        let expression = general.with_step(known.step, &Ids::new(std::slice::from_ref(known.step)));
        let Ok(evaluated) = expression.evaluate(sources) else { continue };
        let fits = schema.is_none_or(|schema| would_fit(name, &evaluated.value, schema));
        match &found {
            _ if evaluated.value.is_null() || !fits => {}
            Some((_, other)) if *other != evaluated.value => return None,
            Some(_) => {}
            None => found = Some((expression, evaluated.value)),
        }
    }
    let (expression, _) = found?;
    Some(match expression.as_reference() {
        Some(reference) => Template::Reference(reference.clone()),
        None => Template::Expression(expression),
    })
}

impl Expression {
    /// Whether a value is written in it, or a place inside of what is no result.
    fn says_values(&self) -> bool {
        let mut open = vec![&self.root];
        while let Some(node) = open.pop() {
            match node {
                Node::Reference(_) => {}
                Node::Negate(inner) => open.push(inner),
                // A place in what is no result may be a position in a list.
                Node::Literal(_) | Node::Inside(..) => return true,
                Node::Chain(first, rest) => {
                    open.push(first);
                    open.extend(rest.iter().map(|(_, node)| node));
                }
                Node::Call(_, arguments) => open.extend(arguments),
            }
        }
        false
    }

    /// The same over the result of another step.
    fn with_step(&self, step: &StepId, ids: &Ids<'_>) -> Self {
        Self { root: with_step(&self.root, step, ids) }
    }
}

fn with_step(node: &Node, step: &StepId, ids: &Ids<'_>) -> Node {
    let inside = |node: &Node| Box::new(with_step(node, step, ids));
    match node {
        Node::Literal(value) => Node::Literal(value.clone()),
        Node::Reference(reference) => Node::Reference(Reference::new(step.clone(), reference.path().clone(), ids)),
        Node::Negate(inner) => Node::Negate(inside(inner)),
        Node::Inside(inner, path) => Node::Inside(inside(inner), path.clone()),
        Node::Chain(first, rest) => {
            let rest = rest.iter().map(|(operator, node)| (*operator, with_step(node, step, ids)));
            Node::Chain(inside(first), rest.collect())
        }
        Node::Call(function, arguments) => {
            Node::Call(*function, arguments.iter().map(|argument| with_step(argument, step, ids)).collect())
        }
    }
}
