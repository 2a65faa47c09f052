//! Bounds that schemas put on numbers, texts and lists.

use std::cmp::Ordering;

use reknit_protocol::{Number, Object, Value};

/// The bounds on a number: keyword, the orders that keep it, words.
const OF_NUMBERS: [(&str, &[Ordering], &str); 4] = [
    ("minimum", &[Ordering::Greater, Ordering::Equal], "at least"),
    ("exclusiveMinimum", &[Ordering::Greater], "greater than"),
    ("maximum", &[Ordering::Less, Ordering::Equal], "at most"),
    ("exclusiveMaximum", &[Ordering::Less], "less than"),
];

/// The bounds a value breaks, each as a rule and what the value has: `at least 1`, `0`.
pub(super) fn broken(keywords: &Object, value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Number(number) => of_number(keywords, number),
        Value::String(text) => of_length(keywords, text.chars().count(), ["minLength", "maxLength"], "characters"),
        Value::Array(items) => of_length(keywords, items.len(), ["minItems", "maxItems"], "items"),
        _ => Vec::new(),
    }
}

fn of_number(keywords: &Object, number: &Number) -> Vec<(String, Value)> {
    let mut broken = Vec::new();
    for (keyword, kept, words) in OF_NUMBERS {
        let Some(bound) = keywords.get(keyword).and_then(Value::as_number) else { continue };
        if !kept.contains(&number.cmp(bound)) {
            // `0.0` is how serde writes a bound that people write as `0`.
            broken.push((format!("{words} {}", bound.canonical()), number.clone().into()));
        }
    }
    broken
}

fn of_length(keywords: &Object, length: usize, [least, most]: [&str; 2], unit: &str) -> Vec<(String, Value)> {
    let bound = |keyword| keywords.get(keyword).and_then(Value::as_number).and_then(Number::as_u64);
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let mut broken = Vec::new();
    if let Some(least) = bound(least).filter(|least| length < *least) {
        broken.push((format!("at least {least} {unit} long"), format!("{length} {unit}").into()));
    }
    if let Some(most) = bound(most).filter(|most| length > *most) {
        broken.push((format!("at most {most} {unit} long"), format!("{length} {unit}").into()));
    }
    broken
}
