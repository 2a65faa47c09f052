//! Numbers of a model that appear in neither request nor results, and parameters to be removed that the error does not name.

use std::collections::HashSet;

use reknit_expressions::{Backing, BoundParameters, Provenance, StepResult, StepResults, explain_number};
use reknit_mend::{Advice, CallFault, Remedy, context_or_give_up};
use reknit_plan::PlannedStep;
use reknit_protocol::{Number, Object, Value};
use reknit_salvage::Schema;

use super::call_repair::CallRepair;
use super::knowledge::StepContext;
use super::step_run::StepRun;
use crate::internal_error::Decided;
use crate::synthesis::numbers_in_text::{self, has_words, visit_scalars};

/// The largest number that people usually write as a word.
const DOZEN: u64 = 12;

impl CallRepair<'_> {
    /// Why the numbers of a model are rejected, if they are: they appear in neither request nor results.
    ///
    /// The model is asked once more, for an expression. If it insists, a call that only reads is made, and a person decides
    /// about any other. `held` are the numbers that would go to a person.
    pub(super) fn reject_ungrounded(
        &mut self,
        planned: &PlannedStep,
        fault: &CallFault,
        bound: &BoundParameters,
        held: &[String],
    ) -> Decided<Option<String>> {
        let step = self.step()?;
        let mut ungrounded = self.known().ungrounded(planned, step, fault, bound);
        for number in held {
            if !ungrounded.contains(number) {
                ungrounded.push(number.clone());
            }
        }
        if ungrounded.is_empty() {
            return Ok(None);
        }
        let insists = step.ungrounded == ungrounded;
        let state = self.known().repair_state(step, planned, fault);
        let is_last =
            matches!(context_or_give_up(fault, state, self.context.started.policy.ladder()), Remedy::GiveUp(_));
        if insists || is_last {
            return Ok(None);
        }
        let words = format!(
            "{} does not appear in the request or in any result; write the calculation that gives it",
            ungrounded.join(", ")
        );
        self.step_mut()?.ungrounded = ungrounded;
        Ok(Some(words))
    }
}

impl StepContext<'_> {
    /// Notes for each number that a model wrote what else explains it: the request, or a calculation over results.
    pub(super) fn with_explanations(&self, planned: &PlannedStep, mut bound: BoundParameters) -> BoundParameters {
        let (results, steps) = (self.results_before(planned), self.evidence_ids(planned));
        let requested = numbers_in_text::parse_numbers(self.request);
        for (name, origin) in &mut bound.provenance {
            let Provenance::Corrected { backing: backing @ Backing::Inferred, .. } = origin else { continue };
            let Some(number) = bound.parameters.get(name).and_then(Value::as_number) else { continue };
            let in_request = requested.contains(number).then(|| "the request".to_owned());
            if let Some(text) = in_request.or_else(|| explain_number(number, &results, &steps, &requested)) {
                *backing = Backing::Explained { text };
            }
        }
        bound
    }

    /// The numbers that a model wrote and no evidence supports, each with its parameter.
    pub(super) fn ungrounded(
        &self,
        planned: &PlannedStep,
        step: &StepRun,
        fault: &CallFault,
        bound: &BoundParameters,
    ) -> Vec<String> {
        let written = bound.provenance.iter().flat_map(|(name, origin)| {
            let numbers = written(origin, bound.parameters.get(name));
            numbers.into_iter().map(move |number| (name, number))
        });
        let written: Vec<(&String, Number)> = written.collect();
        if written.is_empty() {
            return Vec::new();
        }
        let known: HashSet<String> = self.known_numbers(planned, step, fault).iter().map(digits).collect();
        let (results, steps) = (self.results_before(planned), self.evidence_ids(planned));
        let requested = numbers_in_text::parse_numbers(self.request);
        let is_grounded = |number: &Number| {
            let digits = digits(number);
            is_often_written_as_word(&digits)
                || known.contains(&digits)
                || explain_number(number, &results, &steps, &requested).is_some()
        };
        let ungrounded = written.into_iter().filter(|(_, number)| !is_grounded(number));
        ungrounded.map(|(name, number)| format!("{name}: {number}")).collect()
    }

    /// Every number in what the model was shown, and in the schema and the tool's description.
    pub(super) fn known_numbers(&self, planned: &PlannedStep, step: &StepRun, fault: &CallFault) -> Vec<Number> {
        let mut known = Vec::new();
        let tried = step.attempts.iter().map(|attempt| &attempt.parameters);
        for parameters in tried.chain([&step.parameters]) {
            parameters.values().for_each(|value| collect_known(value, &mut known));
        }
        fault.details.values().for_each(|value| collect_known(value, &mut known));
        collect_known(&fault.body, &mut known);
        if let Some(schema) = &planned.schema {
            collect_known(schema.source(), &mut known);
        }
        let results = self.results_before(planned);
        for id in self.source_ids(planned) {
            if let StepResult::Ready(body) = results.result_of(&id) {
                collect_known(body, &mut known);
            }
        }
        for text in [self.request, &planned.instruction, &planned.description, &fault.message] {
            known.extend(numbers_in_text::parse_numbers(text));
        }
        known
    }
}

/// Splits the parameters that a model wants to remove into those that may go and those that stay because nothing but the
/// model speaks against them. An order without its limit is another order.
pub(super) fn removable<'a>(
    advice: &'a Advice,
    parameters: &Object,
    schema: Option<&Schema>,
    fault: &CallFault,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let named = advice.removals.iter().map(String::as_str).filter(|name| parameters.contains_key(name));
    named.partition(|name| {
        let is_moved = advice.changes.iter().any(|(_, value)| Some(value) == parameters.get(name));
        is_moved || is_unknown(name, schema) || (!is_required(name, schema) && is_named(name, fault))
    })
}

/// The numbers that a model wrote itself for a parameter: the value, or the operands of a calculation without a result.
fn written(origin: &Provenance, value: Option<&Value>) -> Vec<Number> {
    let mut numbers = Vec::new();
    match origin {
        Provenance::Inferred | Provenance::Corrected { backing: Backing::Inferred, .. } => {
            if let Some(value) = value {
                collect(value, &mut numbers);
            }
        }
        Provenance::Expression { inputs, .. } if !origin.comes_from_result() => {
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

/// Whether the error contains the name as a whole word.
fn is_named(name: &str, fault: &CallFault) -> bool {
    let body = fault.body.to_string();
    let details = Value::Object(fault.details.clone()).to_string();
    [&fault.message, &details, &body].into_iter().any(|text| has_words(text, name))
}

/// The significant digits of a number: without sign and without zeros at both ends. So a changed sign, and a conversion to
/// percent, cents or millions, does not make a number ungrounded.
fn digits(number: &Number) -> String {
    let text = number.to_string();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Whether people also write the number as a word or two: five, a dozen, three hundred.
fn is_often_written_as_word(digits: &str) -> bool {
    digits.is_empty() || digits.parse::<u64>().is_ok_and(|value| value <= DOZEN)
}

/// Collects all numbers in a value that a model was shown, those in texts too: `14:00` has the number 14.
fn collect_known(value: &Value, numbers: &mut Vec<Number>) {
    collect(value, numbers);
    visit_scalars(value, &mut |scalar| {
        numbers.extend(scalar.as_str().into_iter().flat_map(numbers_in_text::parse_numbers));
    });
}

/// Collects all numbers in a value, those written as strings too.
fn collect(value: &Value, numbers: &mut Vec<Number>) {
    visit_scalars(value, &mut |scalar| match scalar {
        Value::Number(number) => numbers.push(number.clone()),
        Value::String(text) => numbers.extend(Number::parse(text.trim()).ok()),
        _ => {}
    });
}
