//! Reads what a test expects.

use reknit_engine::Status;
use reknit_model_api::Money;
use reknit_protocol::{Number, Value};

use super::fields::Fields;
use crate::expectations::{
    Expectations, ExpectedAnswer, ExpectedCall, ExpectedLimits, ExpectedRepair, ExpectedValue, pattern_schema,
};
use crate::facts::WAITING;

pub(super) fn expectations(fields: &Fields<'_>) -> Expectations {
    let status = fields.text("status");
    if let Some(status) = status.as_deref().filter(|word| *word != WAITING && Status::from_word(word).is_none()) {
        let words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).chain([WAITING]).collect();
        fields.problem("status", format!("`{status}` is no status; expected one of {}", words.join(", ")));
    }
    let steps = fields.object("steps").map(|steps| {
        let step = |(id, word): (&str, &Value)| {
            let Some(word) = word.as_str() else {
                let message = format!("the state of the step `{id}` is not a word");
                fields.problems.add(&fields.at("steps").key(id), &message, Some("write it like `done`".to_owned()));
                return None;
            };
            Some((id.to_owned(), word.to_owned()))
        };
        steps.iter().filter_map(step).collect()
    });
    let read = Expectations {
        status,
        steps,
        calls: fields.objects("calls", call),
        values: values(fields),
        mended: fields.objects("mended", repair),
        outputs: fields.object("outputs").cloned(),
        limits: inner(fields, "limits", limits).unwrap_or_default(),
        answer: inner(fields, "answer", answer).unwrap_or_default(),
    };
    fields.finish();
    read
}

fn inner<T>(fields: &Fields<'_>, key: &'static str, read: impl Fn(&Fields<'_>) -> T) -> Option<T> {
    let inner = Fields::new(fields.problems, fields.at(key), fields.value(key)?)?;
    let value = read(&inner);
    inner.finish();
    Some(value)
}

fn call(fields: &Fields<'_>) -> Option<ExpectedCall> {
    let (step, parameters) = (fields.text("step"), fields.object("with").cloned());
    let Some(call) = fields.text("call").filter(|call| call.contains('/')) else {
        let hint = "write `call: tool/capability`".to_owned();
        fields.problems.add(&fields.path, "the expected call does not say which capability is called", Some(hint));
        return None;
    };
    Some(ExpectedCall { call, step, parameters })
}

/// `values` by name: an object with `value` and `from`.
fn values(fields: &Fields<'_>) -> Vec<ExpectedValue> {
    let Some(object) = fields.object("values") else { return Vec::new() };
    let value = |(name, value): (&str, _)| {
        let inner = Fields::new(fields.problems, fields.at("values").key(name), value)?;
        let read =
            ExpectedValue { name: name.to_owned(), value: inner.value("value").cloned(), from: inner.text("from") };
        inner.finish();
        if !name.contains('.') {
            fields.problems.add(&inner.path, "expected a name such as `pay.amount`: a step and its parameter", None);
        }
        Some(read)
    };
    object.iter().filter_map(value).collect()
}

fn repair(fields: &Fields<'_>) -> Option<ExpectedRepair> {
    let (step, by, change) = (fields.text("step"), fields.text("by"), fields.text("change"));
    let (Some(step), Some(by)) = (step, by) else {
        let hint = "write `{step: pay, by: resend}`".to_owned();
        fields.problems.add(&fields.path, "a repair needs `step` and `by`", Some(hint));
        return None;
    };
    Some(ExpectedRepair { step, by, change })
}

fn limits(fields: &Fields<'_>) -> ExpectedLimits {
    let cost = fields.value("cost").and_then(|value| {
        let units = match value {
            Value::String(text) => text.parse().ok(),
            other => other.as_number().map(Number::to_f64),
        };
        let cost = units.and_then(|units: f64| Money::try_from(units).ok());
        if cost.is_none() {
            fields.problem("cost", "expected an amount of money, such as 0.05");
        }
        cost
    });
    ExpectedLimits {
        tool_calls: fields.number("tool_calls"),
        model_calls: fields.number("model_calls"),
        cost,
        time_ms: fields.number("time_ms"),
    }
}

fn answer(fields: &Fields<'_>) -> ExpectedAnswer {
    let read = ExpectedAnswer {
        contains: fields.texts("contains").unwrap_or_default(),
        matches: fields.texts("matches").unwrap_or_default(),
        equals: fields.text("equals"),
    };
    for pattern in &read.matches {
        if let Err(message) = pattern_schema(pattern) {
            fields.problem("matches", format!("`{pattern}` is no regular expression: {message}"));
        }
    }
    read
}
