//! Which changes of a model's correction may be sent, and which a person decides.

use reknit_expressions::{
    Backing, BoundParameters, InputSource, Provenance, ResolvedBy, StepResult, StepResults, explain_number,
};
use reknit_mend::{
    CallFault, ChangeVerdict, ErrorReference, FaultOrigin, NewValueSource, ValueKind, is_same_value, judge_change,
    value_kind,
};
use reknit_plan::{INPUTS, PlannedStep, StepIndex};
use reknit_protocol::{Number, Object, Path, SideEffect, Value};

use super::Run;
use super::repair_by_rules::facts_about;
use crate::internal_error::Decided;
use crate::synthesis::numbers_in_text::{self, has_words};
use crate::synthesis::used_numbers::WORDS;

/// A value that a correction puts in the place of another one.
#[derive(Clone)]
pub(super) struct ChangedValue<'a> {
    /// Its place in the parameters.
    pub(super) path: Path,
    /// The key that the value has.
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pub(super) schema: Option<&'a Value>,
    pub(super) siblings: &'a Object,
}

/// The new value of a parameter.
pub(super) struct NewValue<'a> {
    pub(super) whole: ChangedValue<'a>,
    /// The value before.
    pub(super) old: Option<&'a Value>,
    pub(super) origin: Option<&'a Provenance>,
    /// The places that the error refers to; `None` if it refers to this parameter as a whole.
    pub(super) referred: Option<&'a [Path]>,
}

/// A new value that a person decides.
pub(super) struct HeldValue {
    pub(super) reason: &'static str,
    /// The number that no evidence supports, if it is one.
    pub(super) number: Option<Number>,
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
        let referred = self.rejected_call(planned, step, fault, &facts)?.referred_paths();
        // What we say ourselves about a missing value is no evidence for it.
        let is_own = fault.origin == FaultOrigin::Local && !self.missing(planned).is_empty();
        let known = self.known_values(planned, Some(fault).filter(|_| !is_own));
        let properties = planned.schema.as_ref().and_then(|schema| schema.source().get("properties"));
        let mut held = HeldChanges::default();
        for (name, value) in &bound.parameters {
            let is_moved =
                || step.parameters.iter().any(|(old, held)| !bound.parameters.contains_key(old) && held == value);
            let old = step.parameters.get(name);
            if old == Some(value) || is_moved() || is_word_for(old, value) {
                continue;
            }
            let origin = bound.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin);
            let schema = properties.and_then(|properties| properties.get(name));
            let whole = ChangedValue { path: Path::root().key(name), name, value, schema, siblings: &bound.parameters };
            let new = NewValue { whole, old, origin, referred: Some(&referred) };
            let Some(held_value) = self.reason_to_ask(planned, &known, new) else {
                continue;
            };
            held.reasons.push(format!("`{name}` is not changed without approval: {}", held_value.reason));
            held.numbers.extend(held_value.number.map(|number| format!("{name}: {number}")));
        }
        Ok(held)
    }

    /// Why a person decides about the new value of a parameter, if one does.
    pub(super) fn reason_to_ask(
        &self,
        planned: &PlannedStep,
        known: &KnownValues,
        new: NewValue<'_>,
    ) -> Option<HeldValue> {
        let class = self.side_effect(planned);
        let mut changed = Vec::new();
        collect_changed(new.old, new.whole, &mut changed);
        changed.iter().find_map(|change| {
            let reference =
                new.referred.map_or(ErrorReference::Changed, |referred| reference_to(&change.path, referred));
            let kind = match value_kind(change.name, change.value, change.schema, change.siblings) {
                // The error says nothing against a value that its schema allows.
                ValueKind::Text if reference == ErrorReference::Nothing && is_listed(change.schema, new.old) => {
                    ValueKind::Exact
                }
                kind => kind,
            };
            let is_models_input =
                !self.is_plan_of_person() && new.origin.is_some_and(|origin| origin.refers_to(INPUTS));
            let is_supported = !is_unconfirmed(new.origin)
                && (!is_models_input && is_derived(new.origin, change.value, known)
                    || self.is_supported(planned, known, change.value, kind));
            let source = if is_supported { NewValueSource::Evidence } else { NewValueSource::Inferred(kind) };
            match judge_change(class, reference, source) {
                ChangeVerdict::Send => None,
                ChangeVerdict::AskPerson(reason) => {
                    let number = change.value.as_number().filter(|_| !is_supported).cloned();
                    Some(HeldValue { reason, number })
                }
            }
        })
    }

    /// What counts as evidence for a new value: the request, the error, the results, and in the plan of a person its inputs and the
    /// instruction of the step. A bound in the schema, or the value of another parameter, says nothing about this one.
    pub(super) fn known_values(&self, planned: &PlannedStep, fault: Option<&CallFault>) -> KnownValues {
        let mut known = KnownValues::default();
        let instruction = Some(&planned.instruction).filter(|_| self.is_plan_of_person());
        for text in [&self.shown_request].into_iter().chain(instruction) {
            known.add(text);
            known.stated.push(text.to_lowercase());
        }
        if let Some(fault) = fault {
            fault.said().into_iter().for_each(|text| known.add(text));
            known.add_all(&fault.body);
            known.add_all(&Value::Object(fault.details.clone()));
        }
        let results = self.results_before(planned);
        for id in self.evidence_ids(planned) {
            if let StepResult::Ready(body) = results.result_of(&id) {
                known.add_all(body);
            }
        }
        known
    }

    /// Whether a new value is known, or follows from known values. A number must be known with all its digits: a factor of
    /// 100 may be a conversion, or a mistake.
    fn is_supported(&self, planned: &PlannedStep, known: &KnownValues, value: &Value, kind: ValueKind) -> bool {
        match value {
            Value::Number(number) => {
                let requested = numbers_in_text::parse_numbers(&self.shown_request);
                known.numbers.contains(number)
                    || known.state_in_words(number)
                    || explain_number(number, &self.results_before(planned), &self.evidence_ids(planned), &requested)
                        .is_some()
            }
            Value::String(text) if kind == ValueKind::Exact => known.identify(text),
            Value::String(text) => known.contain(text),
            Value::Bool(flag) => known.contain(&flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// What the error refers to, seen from a changed place: to it, to a place around or inside it, or to other places.
fn reference_to(path: &Path, referred: &[Path]) -> ErrorReference {
    let is_prefix = |one: &Path, other: &Path| other.segments().starts_with(one.segments());
    match referred {
        [] => ErrorReference::Nothing,
        places if places.iter().any(|place| is_prefix(place, path) || is_prefix(path, place)) => {
            ErrorReference::Changed
        }
        _ => ErrorReference::Others,
    }
}

/// Whether a text is the word for a number: the same value in another type.
fn is_word_for(text: Option<&Value>, number: &Value) -> bool {
    let word = number.as_number().and_then(number_word);
    word.is_some_and(|word| text.and_then(Value::as_str).is_some_and(|text| text.trim().eq_ignore_ascii_case(word)))
}

/// The word for a small number.
fn number_word(number: &Number) -> Option<&'static str> {
    WORDS.get(number.to_string().parse::<usize>().ok()?).copied()
}

/// Whether the value was found by a mapping that no person has accepted.
fn is_unconfirmed(origin: Option<&Provenance>) -> bool {
    matches!(origin, Some(Provenance::Resolved { by: ResolvedBy::Learned, .. }))
}

/// Whether code derived the whole value: from a result, or by a calculation whose numbers and texts are known. A text, a list or
/// an object with parts from results also has parts that a model wrote.
fn is_derived(origin: Option<&Provenance>, value: &Value, known: &KnownValues) -> bool {
    match origin {
        Some(Provenance::Corrected { backing, .. }) => {
            matches!(backing, Backing::Known | Backing::Explained { .. } | Backing::Rule { .. })
        }
        Some(Provenance::Resolved { origin, .. }) => is_derived(Some(origin), value, known),
        Some(Provenance::Expression { inputs, .. }) => {
            let mut literals = inputs.iter().filter(|input| input.source == InputSource::Literal);
            !inputs.is_empty() && literals.all(|literal| is_known_operand(&literal.value, value, known))
        }
        Some(Provenance::Text { .. } | Provenance::Nested { .. }) | None => false,
        Some(origin) => origin.comes_from_result(),
    }
}

/// The units of time that functions of the language take.
const UNITS: [&str; 5] = ["seconds", "minutes", "hours", "days", "weeks"];

/// Whether a literal of an expression is known: a number as it is or as a percentage, a text, the name of a field, or a unit.
fn is_known_operand(literal: &Value, result: &Value, known: &KnownValues) -> bool {
    match literal {
        Value::Number(number) => {
            known.numbers.contains(number)
                || known.state_in_words(number)
                || known.mention_percent() && is_percentage(number, known)
        }
        Value::String(text) => {
            let in_result = result.as_str().is_some_and(|result| result.to_lowercase().contains(&text.to_lowercase()));
            let is_word = text.chars().any(char::is_alphanumeric);
            known.contain(text)
                || !is_word
                || !in_result && (known.keys.contains(text) || UNITS.contains(&text.as_str()))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether a number is 100, or a known percentage as a factor: 0.2, 1.2 or 0.8 for 20.
fn is_percentage(number: &Number, known: &KnownValues) -> bool {
    let (number, hundred) = (number.to_f64(), 100.0);
    let is_close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    is_close(number, hundred)
        || known
            .numbers
            .iter()
            .map(|percent| percent.to_f64() / hundred)
            .any(|share| [share, 1.0 + share, 1.0 - share].iter().any(|factor| is_close(number, *factor)))
}

/// Collects the scalars that differ by more than type and spelling, and lists and objects that have lost their items.
fn collect_changed<'a>(old: Option<&Value>, new: ChangedValue<'a>, changed: &mut Vec<ChangedValue<'a>>) {
    if old.is_some_and(|old| is_same_value(old, new.value)) {
        return;
    }
    match new.value {
        Value::Object(object) if !object.is_empty() => {
            for (name, value) in object {
                let schema = new.schema.and_then(|schema| schema.get("properties")?.get(name));
                let path = new.path.key(name);
                let inner = ChangedValue { path, name, value, schema, siblings: object };
                collect_changed(old.and_then(|old| old.get(name)), inner, changed);
            }
        }
        Value::Array(items) if items.len() >= old.and_then(Value::as_array).map_or(1, <[Value]>::len) => {
            let before = old.and_then(Value::as_array).unwrap_or_default();
            for (index, value) in items.iter().enumerate() {
                let schema = new.schema.and_then(|schema| schema.get("items"));
                let path = new.path.index(index);
                collect_changed(before.get(index), ChangedValue { path, value, schema, ..new }, changed);
            }
        }
        _ => changed.push(new),
    }
}

/// What a value may come from.
#[derive(Default)]
pub(super) struct KnownValues {
    /// The request and the instruction, in lower case.
    stated: Vec<String>,
    /// In lower case.
    texts: Vec<String>,
    numbers: Vec<Number>,
    keys: Vec<String>,
}

impl KnownValues {
    fn add(&mut self, text: &str) {
        self.numbers.extend(numbers_in_text::parse_numbers(text));
        self.texts.push(text.to_lowercase());
    }

    fn mention_percent(&self) -> bool {
        self.texts.iter().any(|text| text.contains('%') || text.contains("percent"))
    }

    /// Adds every string and number in a value.
    fn add_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Value::Object(object) => object.iter().for_each(|(name, value)| {
                self.keys.push(name.to_owned());
                self.add_all(value);
            }),
            Value::Number(number) => self.numbers.push(number.clone()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether an address or an identifier is known: as a whole value, in the request, or in an error as more than a word.
    fn identify(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        let is_code = text.chars().any(|letter| letter.is_ascii_digit() || letter == '@');
        let is_quoted = |known: &String| {
            [('"', '"'), ('\'', '\''), ('`', '`')]
                .iter()
                .any(|(open, close)| known.contains(&format!("{open}{text}{close}")))
        };
        self.texts.contains(&text)
            || appears_in(&self.stated, &text)
            || appears_in(&self.texts, &text) && (is_code || self.texts.iter().any(is_quoted))
    }

    /// Whether the request or the instruction has the word for a number. In an error, `one` belongs to "must be one of".
    fn state_in_words(&self, number: &Number) -> bool {
        number_word(number).is_some_and(|word| appears_in(&self.stated, word))
    }

    /// Whether a text appears somewhere as whole words.
    fn contain(&self, text: &str) -> bool {
        appears_in(&self.texts, &text.trim().to_lowercase())
    }
}

/// Whether a text in lower case appears in one of the texts as whole words.
fn appears_in(texts: &[String], text: &str) -> bool {
    !text.is_empty() && texts.iter().any(|known| has_words(known, text))
}

/// Whether the schema lists the values that are allowed, and this is one of them.
fn is_listed(schema: Option<&Value>, value: Option<&Value>) -> bool {
    let listed = schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    listed.is_some_and(|listed| value.is_some_and(|value| listed.contains(value)))
}
