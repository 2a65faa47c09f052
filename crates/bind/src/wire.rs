//! Auto-wiring: parameters that the plan left out, from results that have them.

use std::collections::HashSet;

use reknit_protocol::{Object, Path, Segment, StepId, Value};
use reknit_salvage::{ProblemKind, Schema, fit};

use crate::draft::Draft;
use crate::lookup::LAYERS;
use crate::reference::qualified;
use crate::{Optional, Parameters, Provenance, Reason, Source, Sources, Unbound};
use reknit_protocol::spelling::are_alike;

/// How a name must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    Exact,
    Spelling,
}

/// A value that may be meant.
struct Candidate<'a> {
    step: &'a StepId,
    path: Path,
    value: &'a Value,
}

/// Wires what the plan left out. A required parameter that cannot be wired is unbound; an optional one stays out.
pub(crate) fn wire(
    draft: &mut Draft,
    parameters: &Parameters,
    sources: &dyn Sources,
    from: &[StepId],
    schema: &Schema,
    optional: Optional,
) {
    let is_given = |name: &str| parameters.names().any(|given| are_alike(given, name));
    let required: Vec<String> = required(draft, schema).into_iter().filter(|name| !is_given(name)).collect();
    let results = Results::new(sources, from);
    for name in &required {
        match results.find(name, schema) {
            Ok(candidate) => candidate.put_into(draft, name),
            Err(reason) => draft.unbound.push(Unbound { parameter: name.clone(), reason }),
        }
    }
    if optional == Optional::Left {
        return;
    }
    let declared = schema.source().get("properties").and_then(Value::as_object);
    let optional = declared.into_iter().flat_map(Object::keys).filter(|name| !is_given(name));
    for name in optional.filter(|name| !required.iter().any(|other| other == name)) {
        let fitting = results.fitting(name, Match::Exact, schema);
        if let [only] = fitting.as_slice()
            && !only.value.is_null()
        {
            only.put_into(draft, name);
        }
    }
}

/// The required parameters that are absent.
fn required(draft: &mut Draft, schema: &Schema) -> Vec<String> {
    let absent = draft.problems(schema).into_iter().filter(|problem| problem.path.is_root());
    let names = absent.filter_map(|problem| match problem.kind {
        ProblemKind::Required { property } => Some(property),
        _ => None,
    });
    names.collect()
}

impl Candidate<'_> {
    fn put_into(&self, draft: &mut Draft, name: &str) {
        let provenance = Provenance::Wired { step: self.step.clone(), path: self.path.clone() };
        draft.parameters.insert(name, self.value.clone());
        draft.provenance.push((name.to_owned(), provenance));
    }

    fn name(&self) -> String {
        qualified(self.step, &self.path)
    }
}

/// The results to wire from: the bodies and what is inside one envelope layer, each with its step.
struct Results<'a> {
    objects: Vec<(&'a StepId, Path, &'a Object)>,
}

impl<'a> Results<'a> {
    fn new(sources: &'a dyn Sources, from: &'a [StepId]) -> Self {
        let mut objects: Vec<(&StepId, Path, &Object)> = Vec::new();
        let mut known: HashSet<&StepId> = HashSet::new();
        for step in from.iter().filter(|step| known.insert(step)) {
            let Source::Ready(Value::Object(body)) = sources.source(step) else { continue };
            objects.push((step, Path::root(), body));
            let layers = LAYERS.iter().filter_map(|layer| Some((*layer, body.get(layer)?.as_object()?)));
            objects.extend(layers.map(|(layer, inner)| (step, Path::root().key(layer), inner)));
        }
        Self { objects }
    }

    /// The one value that can be meant by a required parameter.
    fn find(&self, name: &str, schema: &Schema) -> Result<Candidate<'a>, Reason> {
        for matching in [Match::Exact, Match::Spelling] {
            let mut fitting = self.fitting(name, matching, schema);
            match fitting.len() {
                0 => {}
                1 => return fitting.pop().ok_or(Reason::NotGiven),
                _ => return Err(Reason::Ambiguous { candidates: fitting.iter().map(Candidate::name).collect() }),
            }
        }
        let others = self.named(name, Match::Exact).into_iter().chain(self.named(name, Match::Spelling));
        let candidates: Vec<String> = others.map(|candidate| candidate.name()).collect();
        Err(if candidates.is_empty() { Reason::NotGiven } else { Reason::NoFit { candidates } })
    }

    fn fitting(&self, name: &str, matching: Match, schema: &Schema) -> Vec<Candidate<'a>> {
        let mut candidates = self.named(name, matching);
        candidates.retain(|candidate| would_fit(name, candidate.value, schema));
        candidates
    }

    /// The values under a name. One that stands in the body and again in its envelope counts once.
    fn named(&self, name: &str, matching: Match) -> Vec<Candidate<'a>> {
        let mut found: Vec<Candidate<'a>> = Vec::new();
        for (step, at, object) in &self.objects {
            for (key, value) in entries(object, name, matching) {
                // What a step gave stands together.
                let mut of_step = found.iter().rev().take_while(|other| other.step == *step);
                let is_twin = of_step.any(|other| other.value == value && ends_alike(&other.path, key));
                if !is_twin {
                    found.push(Candidate { step, path: at.key(key), value });
                }
            }
        }
        found
    }
}

fn entries<'a>(object: &'a Object, name: &str, matching: Match) -> Vec<(&'a str, &'a Value)> {
    match matching {
        Match::Spelling => object.iter().filter(|(key, _)| *key != name && are_alike(key, name)).collect(),
        // Looked up first: every optional parameter asks, and a result can have thousands of keys.
        Match::Exact if object.contains_key(name) => object.iter().filter(|(key, _)| *key == name).collect(),
        Match::Exact => Vec::new(),
    }
}

fn ends_alike(path: &Path, key: &str) -> bool {
    matches!(path.segments().last(), Some(Segment::Key(last)) if last == key)
}

/// Whether a value could stand under a name, at most with its type mended, which loses nothing.
pub(crate) fn would_fit(name: &str, value: &Value, schema: &Schema) -> bool {
    let alone = Value::Object(Object::from([(name, value.clone())]));
    match fit(alone, schema) {
        Ok(fitted) => fitted.value.get(name).is_some(),
        // What else is missing is not this value's fault.
        Err(misfit) => !misfit
            .problems
            .iter()
            .any(|problem| matches!(problem.path.segments().first(), Some(Segment::Key(first)) if first == name)),
    }
}
