//! Where each number in the text of an answer comes from: the request, a result, a parameter. Numbers without a source stand out.

use std::collections::HashMap;

use reknit_protocol::{Object, Path, StepId, Value};

use crate::answer::{AnswerAuthor, Outcome};
use crate::overview::RunOverview;
use crate::synthesis::numbers_in_text::{TextNumber, numbers_in};

/// Beyond this many values a result is not searched: a page must not take seconds.
const MAX_VALUES: usize = 20_000;
/// A text of this many bytes is not searched further. An answer that people read is shorter.
const MAX_TEXT: usize = 16_000;
/// The numbers after so many have no source: a list of results repeats itself.
const MAX_NUMBERS: usize = 100;

/// A number in a text, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedNumber {
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends in the text, in bytes.
    pub end: usize,
    pub source: NumberSource,
}

/// Where a number comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumberSource {
    Request,
    /// It is in the result of a step, exactly or before it was rounded.
    Result {
        step: StepId,
        /// The place in the body of the result.
        path: Path,
    },
    /// It is in several places of the results, and nothing tells which one is meant.
    Results,
    /// An expression of the plan computed it for an output.
    Computed {
        output: String,
    },
    /// It was sent as a parameter of a step.
    Parameter {
        step: StepId,
        name: String,
    },
    /// What happened to a step contains it: the reason of a failure, or a repair.
    History {
        step: StepId,
    },
    /// It can be a count of steps.
    Count,
    Unknown,
}

/// The first 100 numbers in the text of a run's answer, in order. Code copies what it writes from the results, so only a number in
/// the text of a model can be unknown.
pub fn number_sources(run: &RunOverview) -> Vec<SourcedNumber> {
    let Some(answer) = &run.answer else { return Vec::new() };
    let text = answer.text.get(..answer.text.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
    let numbers = numbers_in(text);
    if numbers.is_empty() {
        return Vec::new();
    }
    let known = KnownNumbers::new(known_numbers(run));
    let requested = numbers_in(&run.request);
    let numbers = numbers.into_iter().take(MAX_NUMBERS).filter_map(|number| {
        let source = source_of(&number, &requested, &known, answer.steps.len());
        let is_shown = source != NumberSource::Unknown || answer.written_by == AnswerAuthor::Model;
        let start = number.end.checked_sub(number.text.len())?;
        is_shown.then_some(SourcedNumber { start, end: number.end, source })
    });
    numbers.collect()
}

type KnownNumber = (TextNumber, NumberSource);

/// The numbers that can explain one of the answer.
struct KnownNumbers {
    all: Vec<KnownNumber>,
    by_value: HashMap<(i128, u32), NumberSource>,
}

impl KnownNumbers {
    fn new(all: Vec<KnownNumber>) -> Self {
        let mut by_value: HashMap<_, NumberSource> = HashMap::with_capacity(all.len());
        for (number, source) in &all {
            let known = by_value.entry(number.normalized()).or_insert_with(|| source.clone());
            *known = one_of(known, source);
        }
        Self { all, by_value }
    }

    /// The source of an equal number, else of one that rounds to it.
    fn source_of(&self, number: &TextNumber) -> Option<NumberSource> {
        let equal = self.by_value.get(&number.normalized()).cloned();
        equal.or_else(|| {
            let rounded = self.all.iter().filter(|(other, _)| number.can_come_from(other));
            rounded.map(|(_, source)| source.clone()).reduce(|known, other| one_of(&known, &other))
        })
    }
}

/// The source of a number that has two possible ones. What comes first counts more, but two places in results count the same.
fn one_of(first: &NumberSource, other: &NumberSource) -> NumberSource {
    match (first, other) {
        (NumberSource::Result { .. }, NumberSource::Result { .. }) if first != other => NumberSource::Results,
        _ => first.clone(),
    }
}

/// Every number of the computed outputs, then of the results, parameters and histories.
fn known_numbers(run: &RunOverview) -> Vec<KnownNumber> {
    let mut known = Vec::new();
    for name in run.answer.iter().flat_map(|answer| &answer.computed_outputs) {
        let source = |_: &Path| NumberSource::Computed { output: name.clone() };
        if let Some(value) = run.answer.as_ref().and_then(|answer| answer.outputs.get(name)) {
            collect(value, &mut Path::root(), &source, &mut known);
        }
    }
    for report in run.answer.iter().flat_map(|answer| &answer.steps) {
        let source = |path: &Path| NumberSource::Result { step: report.step.clone(), path: path.clone() };
        if let Outcome::Done(result) | Outcome::Unconfirmed { result, .. } = &report.outcome
            && let Some(result) = result.try_load()
        {
            collect(&result, &mut Path::root(), &source, &mut known);
        }
    }
    for step in &run.steps {
        collect_parameters(&step.id, &step.parameters, &mut known);
    }
    for report in run.answer.iter().flat_map(|answer| &answer.steps) {
        let reason = match &report.outcome {
            Outcome::Failed { reason, .. } | Outcome::Unconfirmed { reason, .. } | Outcome::Skipped { reason } => {
                Some(reason)
            }
            Outcome::Done(_) => None,
        };
        let texts = report.mends.iter().map(|mend| &mend.description).chain(reason);
        let source = NumberSource::History { step: report.step.clone() };
        known.extend(texts.flat_map(|text| numbers_in(text)).map(|number| (number, source.clone())));
    }
    known
}

fn collect_parameters(step: &StepId, parameters: &Object, known: &mut Vec<KnownNumber>) {
    for (name, value) in parameters {
        let source = |_: &Path| NumberSource::Parameter { step: step.clone(), name: name.to_owned() };
        collect(value, &mut Path::root(), &source, known);
    }
}

fn collect(value: &Value, path: &mut Path, source: &dyn Fn(&Path) -> NumberSource, known: &mut Vec<KnownNumber>) {
    if known.len() >= MAX_VALUES {
        return;
    }
    match value {
        Value::Number(number) => {
            known.extend(numbers_in(&number.to_string()).into_iter().map(|number| (number, source(path))));
        }
        Value::String(text) => {
            known.extend(numbers_in(text).into_iter().map(|number| (number, source(path))));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_index(index);
                collect(item, path, source, known);
                path.pop();
            }
        }
        Value::Object(object) => {
            for (key, item) in object {
                path.push_key(key);
                collect(item, path, source, known);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// An equal number counts more than one that rounds to it, and the request more than a result that repeats it.
fn source_of(number: &TextNumber, requested: &[TextNumber], known: &KnownNumbers, steps: usize) -> NumberSource {
    if requested.iter().any(|other| number.equals(other)) {
        return NumberSource::Request;
    }
    match known.source_of(number) {
        Some(source) => source,
        None if requested.iter().any(|other| number.can_come_from(other)) => NumberSource::Request,
        None if number.is_count_up_to(steps) => NumberSource::Count,
        None => NumberSource::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(step: &str, result: &str) -> KnownNumbers {
        let mut known = Vec::new();
        let source = |path: &Path| NumberSource::Result { step: step.into(), path: path.clone() };
        collect(&Value::parse(result).unwrap(), &mut Path::root(), &source, &mut known);
        KnownNumbers::new(known)
    }

    fn sources(text: &str, request: &str, known: &KnownNumbers) -> Vec<NumberSource> {
        let requested = numbers_in(request);
        numbers_in(text).iter().map(|number| source_of(number, &requested, known, 2)).collect()
    }

    #[test]
    fn a_number_of_an_answer_has_the_place_in_the_result_that_it_was_copied_or_rounded_from() {
        let known = known("won", r#"{"data": {"rates": [1391.25], "total": 65150150.625}}"#);
        let at = |path: Path| NumberSource::Result { step: "won".into(), path };
        let total = at(Path::root().key("data").key("total"));
        let rate = at(Path::root().key("data").key("rates").index(0));
        assert_eq!(sources("65,150,150.63 won at 1391.25", "", &known), [total, rate]);
    }

    #[test]
    fn an_equal_number_is_preferred_to_one_that_rounds_to_it() {
        let known = known("a", r#"{"exact": 14.49, "price": 14.5}"#);
        let price = NumberSource::Result { step: "a".into(), path: Path::root().key("price") };
        assert_eq!(sources("14.5 degrees", "", &known), [price]);
    }

    #[test]
    fn a_number_in_two_places_of_the_results_has_neither_as_its_source() {
        let known = known("pages", r#"{"page": 3, "items": [{"stock": 3, "price": 7}]}"#);
        let price = Path::root().key("items").index(0).key("price");
        let expected = [NumberSource::Results, NumberSource::Result { step: "pages".into(), path: price }];
        assert_eq!(sources("3 items at 7", "", &known), expected);
    }

    #[test]
    fn a_number_of_a_computed_output_is_not_said_to_be_from_a_result() {
        let mut all = Vec::new();
        let computed = |_: &Path| NumberSource::Computed { output: "count".to_owned() };
        collect(&Value::from(4), &mut Path::root(), &computed, &mut all);
        all.extend(known("pages", r#"{"page": 4}"#).all);
        let known = KnownNumbers::new(all);
        assert_eq!(sources("4 items", "", &known), [NumberSource::Computed { output: "count".to_owned() }]);
    }

    #[test]
    fn a_number_of_the_request_comes_from_the_request_and_one_of_nowhere_is_unknown() {
        let known = known("a", r#"{"amount": 100}"#);
        let expected = [NumberSource::Request, NumberSource::Unknown, NumberSource::Count];
        assert_eq!(sources("100 shares, 777 won, 2 steps", "sell 100 shares", &known), expected);
    }
}
