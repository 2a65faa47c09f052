//! Whether a number that a model wrote follows from what was known.

use reknit_protocol::{Number, Path, StepId, Value};

use crate::ids::Ids;
use crate::{Expression, Reference, Source, Sources};

/// Numbers and lists of the results that are looked at. The search grows with the square of it.
const PLACES: usize = 32;

/// Below this a whole number is likely to follow from others by chance.
const BY_CHANCE: f64 = 10.0;

/// A calculation over the results, and over the numbers that the request says, which gives this very number; the simplest
/// one, if there is one.
///
/// It is an explanation, not a proof: where the number came from only the model knows. Small whole numbers are explained
/// by a place that holds them or a sum of a list, since too many calculations give them.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_bind::explain;
/// use reknit_protocol::{Number, StepId, Value};
///
/// let steps: [StepId; 1] = ["quote".into()];
/// let results = BTreeMap::from([(steps[0].clone(), Value::parse(r#"{"price": 468.285}"#)?)]);
/// let said = [Number::parse("100")?];
///
/// assert_eq!(explain(&Number::parse("46828.5")?, &results, &steps, &said), Some("100 * quote.price".to_owned()));
/// assert_eq!(explain(&Number::parse("46828.6")?, &results, &steps, &said), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain(number: &Number, sources: &dyn Sources, steps: &[StepId], said: &[Number]) -> Option<String> {
    let ids = Ids::new(steps);
    let wanted = Value::Number(number.clone());
    let aim = about(number)?;
    let places = Places::of(sources, steps, &ids);
    let said: Vec<Term> =
        said.iter().take(PLACES).filter_map(|said| Term::new(said.to_string(), about(said)?)).collect();
    let gives = |candidate: &Term| {
        let value = Expression::parse_among(&candidate.text, &ids).ok().and_then(|read| read.evaluate(sources).ok());
        value.is_some_and(|evaluated| evaluated.value == wanted)
    };
    let is_small = number.is_integer() && aim.abs() < BY_CHANCE;
    let plain = places.numbers.iter().chain(&places.sums).cloned();
    let computed = (!is_small).then(|| calculations(&places, &said)).into_iter().flatten();
    plain.chain(computed).filter(|candidate| candidate.is_near(aim)).find(gives).map(|candidate| candidate.text)
}

/// A calculation and about what it gives.
#[derive(Clone)]
struct Term {
    text: String,
    about: f64,
}

impl Term {
    fn new(text: String, about: f64) -> Option<Self> {
        about.is_finite().then_some(Self { text, about })
    }

    /// Near enough that it is worth being calculated exactly.
    fn is_near(&self, aim: f64) -> bool {
        (self.about - aim).abs() <= aim.abs() * 1e-9
    }
}

/// What the results hold to calculate with.
#[derive(Default)]
struct Places {
    numbers: Vec<Term>,
    sums: Vec<Term>,
}

impl Places {
    fn of(sources: &dyn Sources, steps: &[StepId], ids: &Ids<'_>) -> Self {
        let mut places = Self::default();
        for step in steps {
            if let Source::Ready(body) = sources.source(step) {
                places.add(body, step, &Path::root(), ids);
            }
        }
        places
    }

    fn add(&mut self, value: &Value, step: &StepId, path: &Path, ids: &Ids<'_>) {
        if self.numbers.len() + self.sums.len() >= PLACES {
            return;
        }
        let place = || Reference::new(step.clone(), path.clone(), ids).to_string();
        match value {
            Value::Number(number) => self.numbers.extend(about(number).and_then(|about| Term::new(place(), about))),
            Value::Array(items) => {
                self.sums.extend(sums(items, &place()));
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

/// The sums that a list has: of its numbers, or of one field of its objects.
fn sums(items: &[Value], place: &str) -> Vec<Term> {
    let sum = |values: Vec<Option<f64>>| values.into_iter().sum::<Option<f64>>();
    let (2.., Some(first)) = (items.len(), items.first()) else { return Vec::new() };
    let whole = sum(items.iter().map(number_at).collect()).and_then(|about| Term::new(format!("sum({place})"), about));
    let fields = first.as_object().into_iter().flat_map(|object| object.iter().map(|(key, _)| key)).filter_map(|key| {
        let about = sum(items.iter().map(|item| number_at(item.get(key)?)).collect())?;
        Term::new(format!("sum(pluck({place}, {}))", Value::from(key)), about)
    });
    whole.into_iter().chain(fields).collect()
}

/// Each number of the request with each place, then each place with each other; `*` first, since that is what people mean
/// most often.
fn calculations(places: &Places, said: &[Term]) -> impl Iterator<Item = Term> {
    let all: Vec<&Term> = places.numbers.iter().chain(&places.sums).collect();
    let with_said = said.iter().flat_map(|said| all.iter().flat_map(|place| together(said, place)));
    let among = all
        .iter()
        .enumerate()
        .flat_map(|(index, one)| all.iter().skip(index + 1).flat_map(|other| together(one, other)).collect::<Vec<_>>());
    with_said.chain(among).collect::<Vec<_>>().into_iter()
}

fn together(one: &Term, other: &Term) -> Vec<Term> {
    let term = |first: &Term, operator: &str, second: &Term, about: f64| {
        Term::new(format!("{} {operator} {}", first.text, second.text), about)
    };
    [
        term(one, "*", other, one.about * other.about),
        term(one, "+", other, one.about + other.about),
        term(one, "-", other, one.about - other.about),
        term(other, "-", one, other.about - one.about),
        term(one, "/", other, one.about / other.about),
        term(other, "/", one, other.about / one.about),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn number_at(value: &Value) -> Option<f64> {
    value.as_number().and_then(about)
}

fn about(number: &Number) -> Option<f64> {
    number.to_string().parse().ok().filter(|about: &f64| about.is_finite())
}
