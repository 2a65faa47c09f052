//! Other forms of the same value: letter case, spaces, types, the order of the parts of a date, and other units.

use reknit_protocol::Value;

use super::faulty_call::has_word;
use super::{FaultyCall, Lesson};

/// Expressions over a text, called `x`, that keep its meaning, with `|` between them.
const OF_TEXTS: &str = r#"trim(x)|lower(x)|upper(x)|lower(trim(x))|upper(trim(x))|to_number(x)|to_number(trim(x))|
to_number(replace(x, ",", ""))|to_number(replace(x, " ", ""))|replace(x, " ", "")|replace(x, "-", "")|
replace(x, " ", "_")|replace(x, " ", "-")|lower(replace(x, " ", "_"))|lower(replace(x, " ", "-"))|
upper(replace(x, " ", "_"))|replace(x, "-", "_")|replace(x, "_", "-")|replace(x, "/", "-")|
replace(x, ".", "-")|replace(x, " ", "T")|first(split(x, "T"))|first(split(x, " "))|
to_number(first(split(trim(x), " ")))"#;

/// Expressions over a value of another type.
const OF_OTHERS: [&str; 4] = ["to_string(x)", "round(x)", "abs(x)", "first(x)"];

/// Orders of the three parts of a date, each by its place in the text: the year, the month and the day come first.
const DATE_ORDERS: [[usize; 3]; 3] = [[2, 1, 0], [2, 0, 1], [0, 2, 1]];

/// The expressions that may give another form of a value, which they call `reference`.
pub(super) fn value_forms(value: &Value, reference: &str) -> Vec<String> {
    let with_reference = |form: &&str| in_form(form, reference);
    match value {
        Value::String(text) => {
            let plain = OF_TEXTS.split('|').map(|form| in_form(form.trim(), reference));
            plain.chain(date_forms(text, reference)).collect()
        }
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            OF_OTHERS.iter().map(with_reference).chain([format!("[{reference}]")]).collect()
        }
    }
}

/// Puts the reference in the place of `x`, which stands alone before `,` or `)`.
fn in_form(form: &str, reference: &str) -> String {
    form.replace("(x)", &format!("({reference})")).replace("(x,", &format!("({reference},"))
}

/// The parts of a date in another order, with hyphens between them.
fn date_forms(text: &str, reference: &str) -> Vec<String> {
    let Some(separator) = ['/', '.', '-'].into_iter().find(|separator| text.split(*separator).count() == 3) else {
        return Vec::new();
    };
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    if !text.trim().split(separator).all(is_number) {
        return Vec::new();
    }
    let part = |index: usize| format!("split(trim({reference}), \"{separator}\")[{index}]");
    let in_order = |order: &[usize; 3]| format!("join([{}], \"-\")", order.map(part).join(", "));
    DATE_ORDERS.iter().map(in_order).collect()
}

/// The words for a unit that the error, the schema or the name of the parameter asks for, and what a value in another unit is multiplied with; `x` is the value.
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
    let details = Value::Object(call.fault.details.clone()).to_string();
    let texts = [call.fault.message.as_str(), details.as_str()].into_iter().chain(described);
    texts.map(str::to_owned).chain([parameter.replace(['_', '-'], " ")]).collect()
}
