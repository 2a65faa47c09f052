//! What a model says about a failed call and nothing else bears out: parameters that should go, and numbers that stand
//! nowhere.

use std::collections::HashSet;

use reknit_bind::{Backing, Bound, Provenance, Source, Sources, explain};
use reknit_protocol::{Number, Object, SideEffect, Value};
use reknit_salvage::Schema;

use super::Run;
use super::steps::StepRun;
use crate::synthesis::figures;
use reknit_mend::Fault;
use reknit_mend::{Advice, Remedy, last_rung};
use reknit_plan::Planned;

/// Up to here people write numbers in words.
const DOZEN: u64 = 12;

impl Run {
    /// Notes of each number that a model wrote what else gives it: the request, or a calculation over what was known.
    pub(super) fn with_explanations(&self, planned: &Planned, mut bound: Bound) -> Bound {
        let (results, steps) = (self.results(Some(planned)), self.source_ids());
        let said = figures::numbers(&self.started.request);
        for (name, origin) in &mut bound.provenance {
            let Provenance::Corrected { backing: backing @ Backing::Inferred, .. } = origin else { continue };
            let Some(number) = bound.parameters.get(name).and_then(Value::as_number) else { continue };
            let is_said = said.contains(number).then(|| "the request".to_owned());
            if let Some(text) = is_said.or_else(|| explain(number, &results, &steps, &said)) {
                *backing = Backing::Explained { text };
            }
        }
        bound
    }

    /// Why the numbers of a model are not taken, if they are not: they stand in nothing that is known.
    ///
    /// It is asked once more. Where it insists, a call that only reads is made, one whose class nobody knows too, and a
    /// person sees the unsafe one; where something is known to be changed, a number out of nowhere is no better than none.
    pub(super) fn doubt(&mut self, index: usize, planned: &Planned, fault: &Fault, bound: &Bound) -> Option<String> {
        let class = self.class(planned);
        let step = self.state.steps.get(index)?;
        let unfounded = self.unfounded(planned, step, fault, bound);
        if unfounded.is_empty() {
            return None;
        }
        let insists = step.doubted == unfounded;
        let used = self.used(step, planned, fault);
        let is_last = matches!(last_rung(fault, used, self.started.policy.ladder()), Remedy::GiveUp(_));
        let may_stand = match class {
            SideEffect::Read | SideEffect::Undeclared | SideEffect::Unsafe => insists || is_last,
            SideEffect::Idempotent | SideEffect::Keyed => false,
        };
        if may_stand {
            return None;
        }
        let words = format!("{} stands in nothing that is known, and follows from nothing", unfounded.join(", "));
        self.state.steps.get_mut(index)?.doubted = unfounded;
        Some(words)
    }

    /// The numbers that a model wrote and nothing bears out, each with its parameter.
    fn unfounded(&self, planned: &Planned, step: &StepRun, fault: &Fault, bound: &Bound) -> Vec<String> {
        let written = bound.provenance.iter().flat_map(|(name, origin)| {
            let numbers = written(origin, bound.parameters.get(name));
            numbers.into_iter().map(move |number| (name, number))
        });
        let written: Vec<(&String, Number)> = written.collect();
        if written.is_empty() {
            return Vec::new();
        }
        let known: HashSet<String> = self.known_numbers(planned, step, fault).iter().map(digits).collect();
        let (results, steps) = (self.results(Some(planned)), self.source_ids());
        let said = figures::numbers(&self.started.request);
        let is_founded = |number: &Number| {
            let digits = digits(number);
            is_said_in_words(&digits) || known.contains(&digits) || explain(number, &results, &steps, &said).is_some()
        };
        let unfounded = written.into_iter().filter(|(_, number)| !is_founded(number));
        unfounded.map(|(name, number)| format!("{name}: {number}")).collect()
    }

    /// Every number in what the model was shown, and a bit more: one that is known is never doubted.
    fn known_numbers(&self, planned: &Planned, step: &StepRun, fault: &Fault) -> Vec<Number> {
        let mut known = Vec::new();
        let tried = step.attempts.iter().map(|attempt| &attempt.parameters);
        for parameters in tried.chain([&step.parameters]) {
            collect_of(parameters, &mut known);
        }
        collect_of(&fault.details, &mut known);
        collect(&fault.body, &mut known);
        if let Some(schema) = &planned.schema {
            collect(schema.source(), &mut known);
        }
        let results = self.results(Some(planned));
        for id in self.source_ids() {
            if let Source::Ready(body) = results.source(&id) {
                collect(body, &mut known);
            }
        }
        for text in [&self.started.request, &planned.instruction, &planned.description, &fault.message] {
            known.extend(figures::numbers(text));
        }
        known
    }
}

/// Which of the parameters that a model would leave out may go, and which stay: where nothing but the model speaks against
/// them. An order without its limit is another order.
pub(super) fn removable<'a>(
    advice: &'a Advice,
    parameters: &Object,
    schema: Option<&Schema>,
    fault: &Fault,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let named = advice.removals.iter().map(String::as_str).filter(|name| parameters.contains_key(name));
    named.partition(|name| {
        let is_moved = advice.changes.iter().any(|(_, value)| Some(value) == parameters.get(name));
        is_moved || is_unknown(name, schema) || (!is_required(name, schema) && is_named(name, fault))
    })
}

/// The numbers that a model wrote itself for a parameter: the value, or what it calculates with where no result is in it.
fn written(origin: &Provenance, value: Option<&Value>) -> Vec<Number> {
    let mut numbers = Vec::new();
    match origin {
        Provenance::Inferred | Provenance::Corrected { backing: Backing::Inferred, .. } => {
            if let Some(value) = value {
                collect(value, &mut numbers);
            }
        }
        Provenance::Expression { inputs, .. } if !origin.has_source() => {
            for input in inputs {
                collect(&input.value, &mut numbers);
            }
        }
        _ => {}
    }
    numbers
}

fn is_unknown(name: &str, schema: Option<&Schema>) -> bool {
    let properties = schema.and_then(|schema| schema.source().get("properties")?.as_object());
    properties.is_some_and(|properties| !properties.contains_key(name))
}

fn is_required(name: &str, schema: Option<&Schema>) -> bool {
    let required = schema.and_then(|schema| schema.source().get("required")?.as_array());
    required.is_some_and(|required| required.iter().any(|entry| entry.as_str() == Some(name)))
}

/// Whether the error has the name in it, as a word of its own.
fn is_named(name: &str, fault: &Fault) -> bool {
    let body = fault.body.to_string();
    let details = Value::Object(fault.details.clone()).to_string();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    [&fault.message, &details, &body].into_iter().any(|text| {
        text.match_indices(name).any(|(at, found)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    })
}

/// The digits of a number that say something: without its sign and without the zeros at both ends. A sign that is turned, and
/// what percent, cents and millions make of a number, are no numbers out of nowhere.
fn digits(number: &Number) -> String {
    let text = number.to_string();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Whether people also say it in a word or two: five, a dozen, three hundred.
fn is_said_in_words(digits: &str) -> bool {
    digits.is_empty() || digits.parse::<u64>().is_ok_and(|value| value <= DOZEN)
}

fn collect_of(object: &Object, numbers: &mut Vec<Number>) {
    for (_, value) in object {
        collect(value, numbers);
    }
}

/// All numbers in a value, those that are written as texts too.
fn collect(value: &Value, numbers: &mut Vec<Number>) {
    match value {
        Value::Number(number) => numbers.push(number.clone()),
        Value::String(text) => numbers.extend(Number::parse(text.trim()).ok()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, numbers)),
        Value::Object(object) => collect_of(object, numbers),
        Value::Null | Value::Bool(_) => {}
    }
}
