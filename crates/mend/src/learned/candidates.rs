//! The rules that may be behind a correction.

use std::collections::BTreeMap;

use reknit_expressions::{Expression, Reference, StepIds};
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, StepId, Value};

use super::faulty_call::{ERROR, FIXED_SOURCES, NUMBER, PARAMETERS, REQUEST, stating};
use super::value_forms::{conversions, value_forms};
use super::{ErrorPattern, LearnedRule, Lesson, RuleValue};
use crate::facts::object_keys::is_scalar;
use crate::only;

/// The most values of an error or a result that are compared with a new value.
const MAX_COMPARED: usize = 2_000;

/// The most places in results that a new value is taken to come from.
const MAX_PLACES: usize = 4;

const MAX_RULES: usize = 32;

/// A whole number below this is in many results by coincidence.
const SMALL_NUMBER: f64 = 10.0;

/// The rules that turn the failed call of a lesson into the corrected one, the most likely first. None if the correction has
/// a value that neither the call, the error, the schema, a result nor the request holds.
pub(super) fn candidate_rules(lesson: &Lesson) -> Vec<LearnedRule> {
    let (changed, removed) = (lesson.changed(), lesson.removed());
    let sources = Sources::of(lesson);
    let mut choices: Vec<Vec<(&str, RuleValue)>> = vec![Vec::new()];
    for name in &changed {
        let values = sources.values_of(lesson, name);
        let extended = choices.iter().flat_map(|chosen| {
            values.iter().map(|value| chosen.iter().cloned().chain([(*name, value.clone())]).collect())
        });
        choices = extended.take(MAX_RULES).collect();
    }
    let rules = choices.into_iter().map(|chosen| {
        let change: BTreeMap<String, RuleValue> =
            chosen.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let is_absent = |name: &&&str| !lesson.call.parameters.contains_key(name);
        let error = ErrorPattern::of(&lesson.call, &[changed.as_slice(), removed.as_slice()].concat());
        let rule = LearnedRule {
            absent: changed.iter().filter(is_absent).map(|name| (*name).to_owned()).collect(),
            results: sources.used_results(&change),
            change,
            remove: removed.iter().map(|name| (*name).to_owned()).collect(),
            ..LearnedRule::proposal(lesson.call.capability.clone(), error)
        };
        rule.with_computed_id()
    });
    let is_right = |rule: &LearnedRule| {
        rule.validate().is_ok() && rule.apply(&lesson.call).is_some_and(|fix| fix.parameters == lesson.corrected)
    };
    rules.filter(is_right).collect()
}

/// What the expressions of rules about a call may refer to.
struct Sources {
    /// The names of the results, each with its step and capability.
    results: Vec<(StepId, StepId, String)>,
    ids: Vec<StepId>,
}

impl Sources {
    fn of(lesson: &Lesson) -> Self {
        let mut results: Vec<(StepId, StepId, String)> = Vec::new();
        for result in &lesson.call.results {
            if lesson.call.result_of(&result.capability).is_none() {
                continue;
            }
            let short = result.capability.rsplit('/').next().unwrap_or_default();
            let is_taken =
                |name: &str| FIXED_SOURCES.contains(&name) || results.iter().any(|(taken, ..)| taken.as_str() == name);
            let name = if is_taken(short) { result.capability.as_str() } else { short };
            results.push((name.into(), result.step.clone(), result.capability.clone()));
        }
        let ids =
            FIXED_SOURCES.map(StepId::from).into_iter().chain(results.iter().map(|(name, ..)| name.clone())).collect();
        Self { results, ids }
    }

    fn reference(&self, source: &str, path: Path) -> Reference {
        Reference::new(source.into(), path, &StepIds::new(&self.ids))
    }

    fn parameter(&self, name: &str) -> String {
        self.reference(PARAMETERS, Path::root().key(name)).to_string()
    }

    /// The results that expressions refer to, by the names that they use.
    fn used_results(&self, change: &BTreeMap<String, RuleValue>) -> BTreeMap<String, String> {
        let parsed = change.values().filter_map(|value| Expression::parse(&value.of, &self.ids).ok());
        let used: Vec<StepId> = parsed
            .flat_map(|expression| {
                expression.references().into_iter().map(|reference| reference.step().clone()).collect::<Vec<_>>()
            })
            .collect();
        let results = self.results.iter().filter(|(name, ..)| used.contains(name));
        results.map(|(name, _, capability)| (name.as_str().to_owned(), capability.clone())).collect()
    }

    /// The values that a parameter may have got, the most likely first.
    fn values_of(&self, lesson: &Lesson, name: &str) -> Vec<RuleValue> {
        let Some(new) = lesson.corrected.get(name) else { return Vec::new() };
        let (call, old) = (&lesson.call, lesson.call.parameters.get(name));
        let of_call = |names: &[&str]| -> Vec<String> {
            let held = names.iter().filter_map(|name| Some((*name, call.parameters.get(name)?)));
            held.flat_map(|(name, value)| {
                let reference = self.parameter(name);
                let forms = value_forms(value, &reference);
                std::iter::once(reference).chain(forms).collect::<Vec<_>>()
            })
            .collect()
        };
        let mut texts = of_call(&lesson.removed());
        texts.extend(of_call(&[name]));
        let others: Vec<&str> = lesson.changed().into_iter().filter(|other| *other != name).collect();
        texts.extend(
            others.iter().filter(|other| call.parameters.get(other) == Some(new)).map(|other| self.parameter(other)),
        );
        texts.extend(self.of_error(lesson, new));
        texts.extend(self.explained(lesson, name));
        let mut values: Vec<RuleValue> = self.giving(lesson, texts, new);
        values.extend(
            old.and_then(Value::as_str)
                .filter(|_| call.states(name, new) && is_scalar(new))
                .map(|old| RuleValue { of: self.parameter(name), map: Some(Object::from([(old, new.clone())])) }),
        );
        let mut texts = Vec::new();
        if old.is_some_and(|old| old.as_number().is_some()) {
            texts.extend(conversions(lesson, name, &self.parameter(name)));
        }
        texts.extend(self.of_results(lesson, name, new));
        texts.push(self.reference(REQUEST, Path::root().key(NUMBER)).to_string());
        values.extend(self.giving(lesson, texts, new));
        values
    }

    fn giving(&self, lesson: &Lesson, texts: Vec<String>, new: &Value) -> Vec<RuleValue> {
        let names = self.results.iter().map(|(name, _, capability)| (name.as_str().to_owned(), capability.clone()));
        let Some(sources) = lesson.call.sources(&names.collect()) else { return Vec::new() };
        let gives = |text: &String| {
            let expression = Expression::parse(text, &self.ids).ok();
            expression
                .and_then(|expression| expression.evaluate(&sources).ok())
                .is_some_and(|found| found.value == *new)
        };
        texts.into_iter().filter(gives).map(|of| RuleValue { of, map: None }).collect()
    }

    /// The only field of the error with a value: `error.details.suggested`.
    fn of_error(&self, lesson: &Lesson, new: &Value) -> Option<String> {
        let details = Value::Object(lesson.call.fault.details.clone());
        let (root, inside) = if lesson.call.fault.details.is_empty() {
            (Path::root().key("body"), &lesson.call.fault.body)
        } else {
            (Path::root().key("details"), &details)
        };
        only(places_of(inside, new, &root).into_iter()).map(|place| self.reference(ERROR, place).to_string())
    }

    /// The fields of results with a value. One that has the name of the parameter comes before the others.
    fn of_results(&self, lesson: &Lesson, name: &str, new: &Value) -> Vec<String> {
        let is_small =
            new.as_number().is_some_and(|number| number.is_integer() && number.to_f64().abs() < SMALL_NUMBER);
        if is_small || !matches!(new, Value::String(_) | Value::Number(_)) {
            return Vec::new();
        }
        let found = self.results.iter().flat_map(|(source, _, capability)| {
            let value = lesson.call.result_of(capability).map(|result| &result.value);
            let places = value.map(|value| places_of(value, new, &Path::root())).unwrap_or_default();
            places.into_iter().map(move |place| (source, place))
        });
        let mut found: Vec<(&StepId, Path)> = found.collect();
        let is_named = |path: &Path| matches!(path.segments().last(), Some(Segment::Key(key)) if are_alike(key, name));
        found.sort_by_key(|(_, path)| !is_named(path));
        found.truncate(MAX_PLACES);
        found.into_iter().map(|(source, path)| self.reference(source.as_str(), path).to_string()).collect()
    }

    /// The expression with which a new value was explained, over the results by their capabilities.
    fn explained(&self, lesson: &Lesson, name: &str) -> Vec<String> {
        let steps: Vec<StepId> = self.results.iter().map(|(_, step, _)| step.clone()).collect();
        let source_of = |step: &StepId| {
            let result = self.results.iter().find(|(_, of, _)| of == step);
            result.map(|(source, ..)| source.clone())
        };
        let number = lesson.call.request_number().cloned().map(Value::Number);
        let reference_for = |value: &Value| {
            let is_number = number.as_ref() == Some(value);
            is_number.then(|| self.reference(REQUEST, Path::root().key(NUMBER)))
        };
        let ids = StepIds::new(&self.ids);
        let origins = lesson.origins.iter().filter(|origin| origin.parameter == name);
        let parsed = origins.filter_map(|origin| Expression::parse(&origin.expression, &steps).ok());
        let general = parsed.filter_map(|expression| expression.generalize(&source_of, &reference_for, &ids));
        general.map(|expression| expression.to_string()).collect()
    }
}

/// The paths of a value inside another one, through objects only: the place of an item in a list means nothing.
fn places_of(whole: &Value, wanted: &Value, root: &Path) -> Vec<Path> {
    let mut open = vec![(root.clone(), whole)];
    let (mut found, mut compared) = (Vec::new(), 0);
    while let Some((path, value)) = open.pop() {
        compared += 1;
        if compared > MAX_COMPARED {
            break;
        }
        if value == wanted {
            found.push(path);
        } else if let Value::Object(object) = value {
            let members: Vec<(&str, &Value)> = stating(object).collect();
            open.extend(members.into_iter().rev().map(|(name, value)| (path.key(name), value)));
        }
    }
    found
}
