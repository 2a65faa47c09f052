//! What people read.

use reknit_protocol::Value;

use crate::schema::spelling::short;
use crate::schema::{ProblemKind, Type};

/// How many allowed values or unknown names a message lists.
const LISTED: usize = 12;

/// What is wrong with `found`.
pub(crate) fn message(kind: &ProblemKind, found: &Value) -> String {
    match kind {
        ProblemKind::Type { expected } => format!("expected {}, found {}", one_of_types(expected), named(found)),
        ProblemKind::Required { property } => format!("the property `{property}` is missing"),
        ProblemKind::Enum { allowed } => {
            let allowed = listed(allowed.iter().map(plain), " or ");
            format!("expected {allowed}, found {}", plain(found))
        }
        ProblemKind::Const { expected } => format!("expected {}, found {}", plain(expected), plain(found)),
        ProblemKind::Range { bound, limit } => format!("expected {} {limit}, found {}", bound.words(), plain(found)),
        ProblemKind::MultipleOf { divisor } => format!("expected a multiple of {divisor}, found {}", plain(found)),
        ProblemKind::Length { unit, bound, limit } => {
            format!("expected {} {limit} {}, found {}", bound.words(), unit.word(), size(found))
        }
        ProblemKind::Pattern { pattern } => format!("expected text that matches `{pattern}`, found {}", plain(found)),
        ProblemKind::UnknownProperty { names } => {
            let word = if names.len() == 1 { "property" } else { "properties" };
            format!("unknown {word} {}", listed(names.iter().map(|name| format!("`{name}`")), ", "))
        }
        ProblemKind::NotUnique => "expected items that all differ".to_owned(),
        ProblemKind::NoBranch => format!("{} fits none of the alternatives", named(found)),
        ProblemKind::ManyBranches => {
            format!("{} fits several of the alternatives; it must fit exactly one", named(found))
        }
        ProblemKind::Ambiguous { first, second } => {
            format!("{} can be read as {} or as {}", named(found), plain(first), plain(second))
        }
        ProblemKind::GaveUp => "gave up: it has too many ways to fit, or would nest too deep".to_owned(),
        ProblemKind::Other { keyword } => other(keyword, found),
    }
}

fn other(keyword: &str, found: &Value) -> String {
    match keyword {
        "falseSchema" => "nothing is allowed here".to_owned(),
        "contains" => "no item is what `contains` asks for".to_owned(),
        "not" => format!("{} is what the schema excludes", named(found)),
        _ => format!("{} does not meet `{keyword}`", named(found)),
    }
}

/// "an integer or null".
fn one_of_types(types: &[Type]) -> String {
    listed(types.iter().map(|each| each.with_article().to_owned()), " or ")
}

/// The first few: `"a", "b" or "c"`.
fn listed(words: impl ExactSizeIterator<Item = String>, before_last: &str) -> String {
    let count = words.len();
    if count > LISTED {
        let first = words.take(LISTED).collect::<Vec<_>>().join(", ");
        return format!("{first} or one of {} more", count - LISTED);
    }
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        None => "nothing".to_owned(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{}{before_last}{last}", words.join(", ")),
    }
}

/// The value with the word for what it is: `the string "abc"`, `null`, `an array`.
fn named(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(_) => format!("the number {}", plain(value)),
        Value::String(_) => format!("the string {}", plain(value)),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

/// The value as JSON, cut where it is long.
fn plain(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => short(&number.to_string()).into_owned(),
        Value::String(text) => Value::from(short(text).as_ref()).to_string(),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

fn size(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().count().to_string(),
        Value::Array(items) => items.len().to_string(),
        Value::Object(object) => object.len().to_string(),
        scalar => plain(scalar),
    }
}
