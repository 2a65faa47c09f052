//! Finds an expression over known values that gives a number which a model wrote.

use reknit_protocol::{Number, Object, Path, StepId, Value};

use crate::step_ids::StepIds;
use crate::{Expression, Reference, StepResult, StepResults};

/// How many numbers and sums of the results are tried. The search is quadratic in this limit.
const MAX_OPERANDS: usize = 32;

/// An integer below this limit is likely to equal some calculation by coincidence.
const SMALL_INTEGER: f64 = 10.0;

/// Finds the simplest expression over the results and the numbers of the request that gives exactly this number.
///
/// The expression is plausible, not proven: the model may have computed the number differently. A small integer is only
/// explained by a field with that value or the sum of an array, because too many calculations give it.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_expressions::explain_number;
/// use reknit_protocol::{Number, StepId, Value};
///
/// let steps: [StepId; 1] = ["quote".into()];
/// let results = BTreeMap::from([(steps[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
/// let request_numbers = [Number::parse("100")?];
///
/// assert_eq!(explain_number(&Number::parse("46828.5")?, &results, &steps, &request_numbers), Some("100 * quote.price".to_owned()));
/// assert_eq!(explain_number(&Number::parse("46828.6")?, &results, &steps, &request_numbers), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain_number(
    number: &Number,
    results: &dyn StepResults,
    steps: &[StepId],
    request_numbers: &[Number],
) -> Option<String> {
    let ids = StepIds::new(steps);
    let wanted = Value::Number(number.clone());
    let target = to_f64(number)?;
    let operands = Operands::of(results, steps, &ids);
    let request_numbers = request_numbers.iter().take(MAX_OPERANDS);
    let request_terms: Vec<Term> =
        request_numbers.filter_map(|number| Term::new(number.to_string(), to_f64(number)?)).collect();
    let gives = |candidate: &Term| {
        let expression = Expression::parse_with_ids(&candidate.text, &ids).ok();
        expression.and_then(|expression| expression.evaluate(results).ok()).is_some_and(|result| result.value == wanted)
    };
    let is_small = number.is_integer() && target.abs() < SMALL_INTEGER;
    let direct = operands.numbers.iter().chain(&operands.sums).cloned();
    let computed = (!is_small).then(|| calculations(&operands, &request_terms)).into_iter().flatten();
    direct.chain(computed).filter(|candidate| candidate.is_near(target)).find(gives).map(|candidate| candidate.text)
}

#[derive(Clone)]
struct Term {
    text: String,
    approximate: f64,
}

impl Term {
    fn new(text: String, approximate: f64) -> Option<Self> {
        approximate.is_finite().then_some(Self { text, approximate })
    }

    /// Whether the value is close enough to be worth an exact evaluation.
    fn is_near(&self, target: f64) -> bool {
        (self.approximate - target).abs() <= target.abs() * 1e-9
    }
}

#[derive(Default)]
struct Operands {
    numbers: Vec<Term>,
    sums: Vec<Term>,
}

impl Operands {
    fn of(results: &dyn StepResults, steps: &[StepId], ids: &StepIds<'_>) -> Self {
        let mut operands = Self::default();
        for step in steps {
            if let StepResult::Ready(body) = results.result_of(step) {
                operands.add(body, step, &Path::root(), ids);
            }
        }
        operands
    }

    fn add(&mut self, value: &Value, step: &StepId, path: &Path, ids: &StepIds<'_>) {
        if self.numbers.len() + self.sums.len() >= MAX_OPERANDS {
            return;
        }
        let reference = || Reference::new(step.clone(), path.clone(), ids).to_string();
        match value {
            Value::Number(number) => {
                self.numbers.extend(to_f64(number).and_then(|value| Term::new(reference(), value)));
            }
            Value::Array(items) => {
                self.sums.extend(sums(items, &reference()));
                for (index, item) in items.iter().enumerate() {
                    self.add(item, step, &path.index(index), ids);
                }
            }
            Value::Object(object) => {
                for (key, value) in object {
                    self.add(value, step, &path.key(key), ids);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

/// The sums of an array: of its numbers, or of one field of its objects.
fn sums(items: &[Value], reference: &str) -> Vec<Term> {
    let (2.., Some(first)) = (items.len(), items.first()) else { return Vec::new() };
    let total: Option<f64> = items.iter().map(number_in).sum();
    let whole = total.and_then(|total| Term::new(format!("sum({reference})"), total));
    let fields = first.as_object().into_iter().flat_map(Object::keys).filter_map(|key| {
        let total = items.iter().map(|item| number_in(item.get(key)?)).sum::<Option<f64>>()?;
        Term::new(format!("sum(pluck({reference}, {}))", Value::from(key)), total)
    });
    whole.into_iter().chain(fields).collect()
}

/// Combines each number of the request with each operand, then each pair of operands.
fn calculations(operands: &Operands, request_terms: &[Term]) -> Vec<Term> {
    let all: Vec<&Term> = operands.numbers.iter().chain(&operands.sums).collect();
    let with_request = request_terms.iter().flat_map(|term| all.iter().flat_map(|operand| combinations(term, operand)));
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(index, one)| all.iter().skip(index + 1).flat_map(|other| combinations(one, other)));
    with_request.chain(pairs).collect()
}

/// The calculations with two terms. `*` comes first because it is the most frequent one in requests.
fn combinations(one: &Term, other: &Term) -> Vec<Term> {
    let term = |first: &Term, operator: &str, second: &Term, approximate: f64| {
        Term::new(format!("{} {operator} {}", first.text, second.text), approximate)
    };
    [
        term(one, "*", other, one.approximate * other.approximate),
        term(one, "+", other, one.approximate + other.approximate),
        term(one, "-", other, one.approximate - other.approximate),
        term(other, "-", one, other.approximate - one.approximate),
        term(one, "/", other, one.approximate / other.approximate),
        term(other, "/", one, other.approximate / one.approximate),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn number_in(value: &Value) -> Option<f64> {
    value.as_number().and_then(to_f64)
}

fn to_f64(number: &Number) -> Option<f64> {
    Some(number.to_f64()).filter(|value| value.is_finite())
}
