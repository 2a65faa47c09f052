//! The messages of problems.

use reknit_protocol::{Value, shorten};

use crate::schema::FitProblemKind;

const MAX_LISTED: usize = 12;

const MAX_QUOTED_CHARS: usize = 60;

pub(crate) fn message(kind: &FitProblemKind, found: &Value) -> String {
    match kind {
        FitProblemKind::Type { expected } => {
            let types = listed(expected.iter().map(|each| each.with_article().to_owned()), " or ");
            format!("expected {types}, found {}", with_type(found))
        }
        FitProblemKind::Required { property } => format!("the property `{property}` is missing"),
        FitProblemKind::Enum { allowed } => {
            let allowed = listed(allowed.iter().map(quoted), " or ");
            format!("expected {allowed}, found {}", quoted(found))
        }
        FitProblemKind::Const { expected } => format!("expected {}, found {}", quoted(expected), quoted(found)),
        FitProblemKind::Range { comparison, limit } => {
            format!("expected {} {limit}, found {}", comparison.as_str(), quoted(found))
        }
        FitProblemKind::MultipleOf { divisor } => format!("expected a multiple of {divisor}, found {}", quoted(found)),
        FitProblemKind::Length { unit, comparison, limit } => {
            format!("expected {} {limit} {}, found {}", comparison.as_str(), unit.as_str(), length(found))
        }
        FitProblemKind::Pattern { pattern } => {
            format!("expected text that matches `{pattern}`, found {}", quoted(found))
        }
        FitProblemKind::Format { format } => {
            format!("expected a text with the format `{format}`, found {}", quoted(found))
        }
        FitProblemKind::UnknownProperty { names } => {
            let word = if names.len() == 1 { "property" } else { "properties" };
            format!("unknown {word} {}", listed(names.iter().map(|name| format!("`{name}`")), ", "))
        }
        FitProblemKind::NotUnique => "expected unique items".to_owned(),
        FitProblemKind::NoAlternativeFits => format!("{} fits none of the alternatives", with_type(found)),
        FitProblemKind::SeveralAlternativesFit => {
            format!("{} fits several of the alternatives; it must fit exactly one", with_type(found))
        }
        FitProblemKind::Ambiguous { first, second } if second.as_array() == Some(std::slice::from_ref(found)) => {
            format!("expected an array, found {}: write {first}, or {second} for one item", with_type(found))
        }
        FitProblemKind::Ambiguous { first, second } => {
            format!("{} can be read as {} or as {}", with_type(found), quoted(first), quoted(second))
        }
        FitProblemKind::GaveUp => {
            "gave up: too many ways to make the value fit, or the result would nest too deep".to_owned()
        }
        FitProblemKind::Other { keyword } => keyword_message(keyword, found),
    }
}

fn keyword_message(keyword: &str, found: &Value) -> String {
    match keyword {
        "falseSchema" => "no value is allowed here".to_owned(),
        "contains" => "no item matches `contains`".to_owned(),
        "not" => format!("{} matches `not`", with_type(found)),
        _ => format!("{} does not satisfy `{keyword}`", with_type(found)),
    }
}

/// Lists the first words: `"a", "b" or "c"`.
fn listed(words: impl ExactSizeIterator<Item = String>, before_last: &str) -> String {
    let count = words.len();
    if count > MAX_LISTED {
        let first = words.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
        return format!("{first} or one of {} more", count - MAX_LISTED);
    }
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        None => "nothing".to_owned(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{}{before_last}{last}", words.join(", ")),
    }
}

/// The value with its type: `the string "abc"`, `null`, `an array`.
fn with_type(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(_) => format!("the number {}", quoted(value)),
        Value::String(_) => format!("the string {}", quoted(value)),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => shorten(&number.to_string(), MAX_QUOTED_CHARS).into_owned(),
        Value::String(text) => Value::from(shorten(text, MAX_QUOTED_CHARS).as_ref()).to_string(),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

fn length(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().count().to_string(),
        Value::Array(items) => items.len().to_string(),
        Value::Object(object) => object.len().to_string(),
        scalar => quoted(scalar),
    }
}
