//! Conversions between units, where the error, the schema or the name of the parameter says which unit is wanted.

use super::faulty_call::has_word;
use super::{FaultyCall, Lesson};

/// The words for a wanted unit, and what a value in another unit is multiplied with; `x` is the value.
const CONVERSIONS: [(&[&str], &[&str]); 15] = [
    (&["cents", "cent", "minor units", "pence"], &["x * 100"]),
    (&["milliseconds", "millis", "ms"], &["x * 1000", "x * 60000"]),
    (&["seconds", "secs", "sec"], &["x / 1000", "x * 60", "x * 3600", "x * 86400"]),
    (&["minutes", "mins", "min"], &["x / 60", "x * 60", "x * 1440"]),
    (&["hours", "hour"], &["x / 60", "x / 3600", "x * 24"]),
    (&["metres", "meters", "metre", "meter"], &["x * 1000", "x / 100", "x * 0.3048", "x * 1609.344"]),
    (&["kilometres", "kilometers", "km"], &["x / 1000", "x * 1.609344"]),
    (&["miles", "mi"], &["x / 1.609344"]),
    (&["centimetres", "centimeters", "cm"], &["x * 100", "x / 10", "x * 2.54"]),
    (&["grams", "gram"], &["x * 1000"]),
    (&["kilograms", "kilogram", "kg"], &["x / 1000", "x * 0.45359237"]),
    (&["celsius", "centigrade"], &["(x - 32) * 5 / 9", "x - 273.15"]),
    (&["fahrenheit"], &["x * 9 / 5 + 32"]),
    (&["percent", "percentage"], &["x * 100"]),
    (&["fraction", "ratio"], &["x / 100"]),
];

/// The expressions that convert a value, called `value`, to a unit that is stated for the parameter.
pub(super) fn conversions(lesson: &Lesson, parameter: &str, value: &str) -> Vec<String> {
    let stated = stated_texts(&lesson.call, parameter);
    let is_stated = |words: &[&str]| words.iter().any(|word| stated.iter().any(|text| has_word(text, word)));
    let fitting = CONVERSIONS.iter().filter(|(words, _)| is_stated(words));
    // `x` is the only letter in the expressions.
    fitting.flat_map(|(_, forms)| forms.iter().map(|form| form.replace('x', value))).collect()
}

/// What the error, the schema and the name of a parameter say.
fn stated_texts(call: &FaultyCall, parameter: &str) -> Vec<String> {
    let described = call.property(parameter).and_then(|property| property.get("description")?.as_str());
    let details = reknit_protocol::Value::Object(call.fault.details.clone()).to_string();
    let texts = [call.fault.message.as_str(), details.as_str()].into_iter().chain(described);
    texts.map(str::to_owned).chain([parameter.replace(['_', '-'], " ")]).collect()
}
