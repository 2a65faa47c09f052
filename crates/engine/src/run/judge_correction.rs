//! Which changes of a model's correction may be sent, and which a person decides.

use reknit_bind::{Backing, BoundParameters, Provenance, StepResult, StepResults, explain_number};
use reknit_mend::{CallFault, ChangeVerdict, ErrorReference, NewValueSource, is_same_value, judge_change, value_kind};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{Number, Object, SideEffect, Value};

use super::Run;
use super::repair_by_rules::facts_about;
use crate::internal_error::Decided;
use crate::synthesis::numbers_in_text;

/// A value that a correction puts in the place of another one.
struct ChangedValue<'a> {
    /// The key that the value has.
    name: &'a str,
    value: &'a Value,
    schema: Option<&'a Value>,
    siblings: &'a Object,
}

/// The changes of a correction that a person decides.
#[derive(Debug, Default)]
pub(super) struct HeldChanges {
    /// One sentence for each parameter.
    pub(super) reasons: Vec<String>,
    /// The numbers among them that no evidence supports, each with its parameter.
    pub(super) numbers: Vec<String>,
}

impl Run {
    /// The changes of a correction that only a person may decide, each with the reason. A person decides about an unsafe call
    /// in any case.
    pub(super) fn changes_for_person(
        &self,
        index: StepIndex,
        planned: &PlannedStep,
        fault: &CallFault,
        bound: &BoundParameters,
    ) -> Decided<HeldChanges> {
        let (class, step) = (self.side_effect(planned), self.state.steps.get(index)?);
        if matches!(class, SideEffect::Read | SideEffect::Unsafe) {
            return Ok(HeldChanges::default());
        }
        let facts = facts_about(planned, step, fault);
        let referred = self.rejected_call(planned, step, fault, &facts)?.referred_parameters();
        let known = self.known_values(planned, fault);
        let properties = planned.schema.as_ref().and_then(|schema| schema.source().get("properties"));
        let mut held = HeldChanges::default();
        for (name, value) in &bound.parameters {
            let is_moved =
                || step.parameters.iter().any(|(old, held)| !bound.parameters.contains_key(old) && held == value);
            let old = step.parameters.get(name);
            if old == Some(value) || is_moved() || is_word_for(old, value) {
                continue;
            }
            let reference = match referred.as_slice() {
                [] => ErrorReference::Nothing,
                names if names.iter().any(|known| known == name) => ErrorReference::Changed,
                _ => ErrorReference::Others,
            };
            let origin = bound.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin);
            let schema = properties.and_then(|properties| properties.get(name));
            let whole = ChangedValue { name, value, schema, siblings: &bound.parameters };
            let mut changed = Vec::new();
            collect_changed(old, whole, &mut changed);
            let is_grounded = is_derived(origin) || is_calculated(origin, &known);
            let reason = changed.iter().find_map(|change| {
                let is_supported = is_grounded || self.is_supported(planned, &known, change.value);
                let source = if is_supported {
                    NewValueSource::Evidence
                } else {
                    NewValueSource::Inferred(value_kind(change.name, change.value, change.schema, change.siblings))
                };
                match judge_change(class, reference, source) {
                    ChangeVerdict::Send => None,
                    ChangeVerdict::AskPerson(reason) => Some((reason, change, is_supported)),
                }
            });
            let Some((reason, change, is_supported)) = reason else { continue };
            held.reasons.push(format!("`{name}` is not changed without approval: {reason}"));
            held.numbers
                .extend(change.value.as_number().filter(|_| !is_supported).map(|number| format!("{name}: {number}")));
        }
        Ok(held)
    }

    /// What counts as evidence for a new value: the request, the instruction of the step, the error and the results. A bound in
    /// the schema, or the value of another parameter, says nothing about this one.
    fn known_values(&self, planned: &PlannedStep, fault: &CallFault) -> KnownValues {
        let mut known = KnownValues { texts: Vec::new(), numbers: Vec::new() };
        for text in [&self.shown_request, &planned.instruction, &fault.message] {
            known.add(text);
        }
        known.add_all(&fault.body);
        known.add_all(&Value::Object(fault.details.clone()));
        let results = self.results(Some(planned));
        for id in self.source_ids() {
            if let StepResult::Ready(body) = results.result_of(&id) {
                known.add_all(body);
            }
        }
        known
    }

    /// Whether a new value is known, or follows from known values. A number must be known with all its digits: a factor of
    /// 100 may be a conversion, or a mistake.
    fn is_supported(&self, planned: &PlannedStep, known: &KnownValues, value: &Value) -> bool {
        match value {
            Value::Number(number) => {
                let requested = numbers_in_text::parse_numbers(&self.shown_request);
                known.numbers.contains(number)
                    || number_word(number).is_some_and(|word| known.contain(word))
                    || explain_number(number, &self.results(Some(planned)), &self.source_ids(), &requested).is_some()
            }
            Value::String(text) => known.contain(text),
            Value::Bool(flag) => known.contain(&flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// Whether a text is the word for a number: the same value in another type.
fn is_word_for(text: Option<&Value>, number: &Value) -> bool {
    let word = number.as_number().and_then(number_word);
    word.is_some_and(|word| text.and_then(Value::as_str).is_some_and(|text| text.trim().eq_ignore_ascii_case(word)))
}

/// The word for a small number.
fn number_word(number: &Number) -> Option<&'static str> {
    let words =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    words.get(number.to_string().parse::<usize>().ok()?).copied()
}

/// Whether code derived the value: from a result, or by an expression that explains it.
fn is_derived(origin: Option<&Provenance>) -> bool {
    origin.is_some_and(|origin| {
        origin.comes_from_result()
            || matches!(origin, Provenance::Corrected { backing: Backing::Known | Backing::Explained { .. }, .. })
    })
}

/// Whether an expression without results gives the value, and all its numbers are known.
fn is_calculated(origin: Option<&Provenance>, known: &KnownValues) -> bool {
    let Some(Provenance::Expression { inputs, .. }) = origin else { return false };
    let is_known =
        |number: &Number| known.numbers.contains(number) || number_word(number).is_some_and(|word| known.contain(word));
    !inputs.is_empty() && inputs.iter().all(|input| input.value.as_number().is_some_and(is_known))
}

/// Collects the scalars that differ by more than type and spelling.
fn collect_changed<'a>(old: Option<&Value>, new: ChangedValue<'a>, changed: &mut Vec<ChangedValue<'a>>) {
    if old.is_some_and(|old| is_same_value(old, new.value)) {
        return;
    }
    match new.value {
        Value::Object(object) => {
            for (name, value) in object {
                let schema = new.schema.and_then(|schema| schema.get("properties")?.get(name));
                let inner = ChangedValue { name, value, schema, siblings: object };
                collect_changed(old.and_then(|old| old.get(name)), inner, changed);
            }
        }
        Value::Array(items) => {
            let before = old.and_then(Value::as_array).unwrap_or_default();
            for (index, value) in items.iter().enumerate() {
                let schema = new.schema.and_then(|schema| schema.get("items"));
                collect_changed(before.get(index), ChangedValue { value, schema, ..new }, changed);
            }
        }
        _ => changed.push(new),
    }
}

/// What a value may come from.
struct KnownValues {
    /// In lower case.
    texts: Vec<String>,
    numbers: Vec<Number>,
}

impl KnownValues {
    fn add(&mut self, text: &str) {
        self.numbers.extend(numbers_in_text::parse_numbers(text));
        self.texts.push(text.to_lowercase());
    }

    /// Adds every string and number in a value.
    fn add_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Value::Object(object) => object.iter().for_each(|(_, value)| self.add_all(value)),
            Value::Number(number) => self.numbers.push(number.clone()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether a text appears somewhere as whole words.
    fn contain(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let appears = |known: &String| {
            known.match_indices(&text).any(|(at, found)| {
                let before = known.get(..at).and_then(|text| text.chars().next_back());
                let after = known.get(at + found.len()..).and_then(|text| text.chars().next());
                !before.is_some_and(is_part) && !after.is_some_and(is_part)
            })
        };
        !text.is_empty() && self.texts.iter().any(appears)
    }
}
