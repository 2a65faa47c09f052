//! Other forms of the same value: letter case, spaces, types, the order of the parts of a date.

use reknit_protocol::Value;

/// Expressions over a text, called `x`, that keep its meaning.
const OF_TEXTS: [&str; 24] = [
    "trim(x)",
    "lower(x)",
    "upper(x)",
    "lower(trim(x))",
    "upper(trim(x))",
    "to_number(x)",
    "to_number(trim(x))",
    "to_number(replace(x, \",\", \"\"))",
    "to_number(replace(x, \" \", \"\"))",
    "replace(x, \" \", \"\")",
    "replace(x, \"-\", \"\")",
    "replace(x, \" \", \"_\")",
    "replace(x, \" \", \"-\")",
    "lower(replace(x, \" \", \"_\"))",
    "lower(replace(x, \" \", \"-\"))",
    "upper(replace(x, \" \", \"_\"))",
    "replace(x, \"-\", \"_\")",
    "replace(x, \"_\", \"-\")",
    "replace(x, \"/\", \"-\")",
    "replace(x, \".\", \"-\")",
    "replace(x, \" \", \"T\")",
    "first(split(x, \"T\"))",
    "first(split(x, \" \"))",
    "to_number(first(split(trim(x), \" \")))",
];

/// Expressions over a value of another type.
const OF_OTHERS: [&str; 4] = ["to_string(x)", "round(x)", "abs(x)", "first(x)"];

/// Orders of the three parts of a date, each by its place in the text: the year, the month and the day come first.
const DATE_ORDERS: [[usize; 3]; 3] = [[2, 1, 0], [2, 0, 1], [0, 2, 1]];

/// The expressions that may give another form of a value, which they call `reference`.
pub(super) fn value_forms(value: &Value, reference: &str) -> Vec<String> {
    let with_reference = |form: &&str| in_form(form, reference);
    match value {
        Value::String(text) => {
            let plain = OF_TEXTS.iter().map(with_reference);
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
