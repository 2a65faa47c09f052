//! Autowiring: fills required parameters that the plan omits from results that have a field of that name.

use std::collections::HashSet;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, StepId, Value};
use reknit_salvage::{FitProblem, FitProblemKind, Schema, SchemaType};

use crate::bind::related_names::{belong_together, is_generic_name};
use crate::bind::unfitted_parameters::UnfittedParameters;
use crate::evaluate::lookup::ENVELOPE_KEYS;
use crate::fit_parameters::fit_parameters;
use crate::reference::reference_text;
use crate::{Parameters, Provenance, StepResult, StepResults, UnboundParameter, UnboundReason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameMatch {
    Exact,
    Spelling,
}

struct Candidate<'a> {
    step: &'a StepId,
    path: Path,
    value: &'a Value,
}

/// Wires the required parameters that the plan omits. One that cannot be wired becomes unbound.
pub(crate) fn autowire(
    unfitted: &mut UnfittedParameters,
    parameters: &Parameters,
    results: &dyn StepResults,
    from: &[StepId],
    schema: &Schema,
) {
    let is_set = |name: &str| parameters.names().any(|other| are_alike(other, name));
    let required: Vec<String> = missing_required(unfitted, schema).into_iter().filter(|name| !is_set(name)).collect();
    if required.is_empty() || unfitted.is_envelope(schema) {
        return;
    }
    let objects = ResultObjects::new(results, from);
    let found: Vec<(&String, Result<Candidate<'_>, UnboundReason>)> =
        required.iter().map(|name| (name, objects.find(name, schema))).collect();
    let split: Vec<Option<String>> =
        found.iter().map(|(name, _)| split_from(name, &found, parameters, unfitted)).collect();
    for ((name, found), split) in found.into_iter().zip(split) {
        let found = match (found, split) {
            (Ok(candidate), Some(other)) => Err(UnboundReason::Split { candidate: candidate.name(), other }),
            (found, _) => found,
        };
        match found {
            Ok(candidate) => candidate.put_into(unfitted, name),
            Err(reason) => unfitted.unbound.push(UnboundParameter { parameter: name.clone(), reason }),
        }
    }
}

/// The parameter that belongs to another one and does not come from the same object, if there is one.
fn split_from(
    name: &str,
    found: &[(&String, Result<Candidate<'_>, UnboundReason>)],
    parameters: &Parameters,
    unfitted: &UnfittedParameters,
) -> Option<String> {
    let own = found.iter().find(|(other, _)| *other == name).and_then(|(_, found)| found.as_ref().ok())?;
    let is_same = |step: &StepId, path: &Path| step == own.step && object_of(path) == object_of(&own.path);
    let of_wired = found.iter().filter(|(other, _)| belong_together(name, other));
    let of_wired = of_wired.filter(|(_, found)| !found.as_ref().is_ok_and(|found| is_same(found.step, &found.path)));
    let of_plan = parameters.names().filter(|other| belong_together(name, other));
    let of_plan = of_plan.filter(|other| {
        let provenance = unfitted.provenance.iter().find(|(known, _)| known == other).map(|(_, origin)| origin);
        !matches!(provenance, Some(Provenance::Reference { step, path }) if is_same(step, path))
    });
    of_wired.map(|(other, _)| (*other).clone()).chain(of_plan.map(str::to_owned)).next()
}

/// The path of the object that has a value.
fn object_of(path: &Path) -> &[Segment] {
    path.segments().split_last().map_or(&[], |(_, object)| object)
}

fn missing_required(unfitted: &mut UnfittedParameters, schema: &Schema) -> Vec<String> {
    let absent = unfitted.problems(schema).into_iter().filter(|problem| problem.path.is_root());
    let names = absent.filter_map(|problem| match problem.kind {
        FitProblemKind::Required { property } => Some(property),
        _ => None,
    });
    names.collect()
}

impl Candidate<'_> {
    fn put_into(&self, unfitted: &mut UnfittedParameters, name: &str) {
        let provenance = Provenance::Wired { step: self.step.clone(), path: self.path.clone() };
        unfitted.parameters.insert(name, self.value.clone());
        unfitted.provenance.push((name.to_owned(), provenance));
    }

    fn name(&self) -> String {
        reference_text(self.step, &self.path)
    }
}

/// The objects to wire from: the body of each result and the objects inside its envelope.
struct ResultObjects<'a> {
    objects: Vec<(&'a StepId, Path, &'a Object)>,
}

impl<'a> ResultObjects<'a> {
    fn new(results: &'a dyn StepResults, from: &'a [StepId]) -> Self {
        let mut objects: Vec<(&StepId, Path, &Object)> = Vec::new();
        let mut seen: HashSet<&StepId> = HashSet::new();
        for step in from.iter().filter(|step| seen.insert(step)) {
            let StepResult::Ready(Value::Object(body)) = results.result_of(step) else { continue };
            objects.push((step, Path::root(), body));
            let inner =
                ENVELOPE_KEYS.iter().filter_map(|key| Some((step, Path::root().key(key), body.get(key)?.as_object()?)));
            objects.extend(inner);
        }
        Self { objects }
    }

    /// The only value that matches a required parameter.
    fn find(&self, name: &str, schema: &Schema) -> Result<Candidate<'a>, UnboundReason> {
        if is_generic_name(name) {
            let candidates: Vec<String> = self.all_candidates(name).iter().map(Candidate::name).collect();
            let reason = UnboundReason::GenericName { candidates: candidates.clone() };
            return Err(if candidates.is_empty() { UnboundReason::NotGiven } else { reason });
        }
        for matching in [NameMatch::Exact, NameMatch::Spelling] {
            let mut fitting = self.fitting(name, matching, schema);
            match fitting.len() {
                0 => {}
                1 => return fitting.pop().ok_or(UnboundReason::NotGiven),
                _ => {
                    return Err(UnboundReason::Ambiguous { candidates: fitting.iter().map(Candidate::name).collect() });
                }
            }
        }
        let candidates: Vec<String> = self.all_candidates(name).iter().map(Candidate::name).collect();
        Err(if candidates.is_empty() { UnboundReason::NotGiven } else { UnboundReason::NoFit { candidates } })
    }

    fn all_candidates(&self, name: &str) -> Vec<Candidate<'a>> {
        let exact = self.candidates(name, NameMatch::Exact).into_iter();
        exact.chain(self.candidates(name, NameMatch::Spelling)).collect()
    }

    fn fitting(&self, name: &str, matching: NameMatch, schema: &Schema) -> Vec<Candidate<'a>> {
        let mut candidates = self.candidates(name, matching);
        candidates.retain(|candidate| would_fit(name, candidate.value, schema));
        candidates
    }

    /// The values under a name. A value that is repeated inside the envelope counts once.
    fn candidates(&self, name: &str, matching: NameMatch) -> Vec<Candidate<'a>> {
        let mut found: Vec<Candidate<'a>> = Vec::new();
        for (step, path, object) in &self.objects {
            for (key, value) in entries(object, name, matching) {
                // The candidates of one step are adjacent.
                let mut of_step = found.iter().rev().take_while(|other| other.step == *step);
                if !of_step.any(|other| other.value == value && ends_with_key(&other.path, key)) {
                    found.push(Candidate { step, path: path.key(key), value });
                }
            }
        }
        found
    }
}

fn entries<'a>(object: &'a Object, name: &str, matching: NameMatch) -> Vec<(&'a str, &'a Value)> {
    match matching {
        NameMatch::Spelling => object.iter().filter(|(key, _)| *key != name && are_alike(key, name)).collect(),
        // The hash lookup comes first: a result can have thousands of keys.
        NameMatch::Exact if object.contains_key(name) => object.iter().filter(|(key, _)| *key == name).collect(),
        NameMatch::Exact => Vec::new(),
    }
}

fn ends_with_key(path: &Path, key: &str) -> bool {
    matches!(path.segments().last(), Some(Segment::Key(last)) if last == key)
}

/// Whether a value fits the schema as the parameter `name`, at most after a lossless coercion.
pub(crate) fn would_fit(name: &str, value: &Value, schema: &Schema) -> bool {
    let alone = Value::Object(Object::from([(name, value.clone())]));
    if has_layer(&alone, schema) {
        return false;
    }
    match fit_parameters(alone, schema) {
        Ok(fitted) => fitted.value.get(name).is_some(),
        // Ignores the violations of other parameters.
        Err(misfit) => !misfit
            .problems
            .iter()
            .any(|problem| matches!(problem.path.segments().first(), Some(Segment::Key(first)) if first == name)),
    }
}

/// Whether the parameter is a list or an object where the schema wants a scalar. A model may write `[5]` or `{"value": 5}` for 5, but
/// in a result it is what the tool means.
fn has_layer(alone: &Value, schema: &Schema) -> bool {
    let is_container = |value: &Value| matches!(value, Value::Array(_) | Value::Object(_));
    let takes_container =
        |expected: &[SchemaType]| expected.iter().any(|kind| matches!(kind, SchemaType::Array | SchemaType::Object));
    let is_layer = |problem: &FitProblem| {
        problem.path.segments().len() == 1
            && matches!(&problem.kind, FitProblemKind::Type { expected } if !takes_container(expected))
    };
    alone.as_object().is_some_and(|object| object.values().any(is_container))
        && schema.problems(alone).iter().any(is_layer)
}
