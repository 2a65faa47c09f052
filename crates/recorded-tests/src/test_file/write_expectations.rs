//! Writes what a test expects.

use reknit_plan::write_yaml;
use reknit_protocol::{Object, Value};

use crate::expectations::{Expectations, ExpectedAnswer, ExpectedLimits};

/// The part `expect:` of a file.
pub(crate) fn expectations_yaml(expect: &Expectations) -> String {
    write_yaml(&Value::from([("expect", Value::Object(expectations_value(expect)))]))
}

pub(super) fn expectations_value(expect: &Expectations) -> Object {
    let mut object = Object::new();
    object.extend(expect.status.as_deref().map(|status| ("status".to_owned(), status.into())));
    if let Some(steps) = &expect.steps {
        let steps = steps.iter().map(|(id, word)| (id.clone(), Value::from(word.as_str())));
        object.insert("steps", Value::Object(steps.collect()));
    }
    if let Some(calls) = &expect.calls {
        let calls = calls.iter().map(|call| {
            let mut object = Object::from([("call", Value::from(call.call.as_str()))]);
            object.extend(call.step.as_deref().map(|step| ("step".to_owned(), step.into())));
            object.extend(call.parameters.clone().map(|parameters| ("with".to_owned(), parameters.into())));
            Value::Object(object)
        });
        object.insert("calls", calls.collect::<Value>());
    }
    if !expect.values.is_empty() {
        let values = expect.values.iter().map(|expected| {
            let mut object = Object::new();
            object.extend(expected.value.clone().map(|value| ("value".to_owned(), value)));
            object.extend(expected.from.as_deref().map(|from| ("from".to_owned(), from.into())));
            (expected.name.clone(), Value::Object(object))
        });
        object.insert("values", Value::Object(values.collect()));
    }
    if let Some(mended) = &expect.mended {
        let mended = mended.iter().map(|repair| {
            let texts = [("step", repair.step.as_str()), ("by", repair.by.as_str())];
            let mut object = Object::from(texts.map(|(key, text)| (key, Value::from(text))));
            object.extend(repair.change.as_deref().map(|change| ("change".to_owned(), change.into())));
            Value::Object(object)
        });
        object.insert("mended", mended.collect::<Value>());
    }
    object.extend(expect.outputs.clone().map(|outputs| ("outputs".to_owned(), outputs.into())));
    for (key, part) in [("limits", limits(&expect.limits)), ("answer", answer(&expect.answer))] {
        if !part.is_empty() {
            object.insert(key, part);
        }
    }
    object
}

fn limits(limits: &ExpectedLimits) -> Object {
    let ExpectedLimits { tool_calls, model_calls, cost, time_ms } = limits;
    let mut object = Object::new();
    for (key, count) in [("tool_calls", tool_calls), ("model_calls", model_calls), ("time_ms", time_ms)] {
        object.extend(count.map(|count| (key.to_owned(), count.into())));
    }
    object.extend(cost.map(|cost| ("cost".to_owned(), Value::from(cost.to_string()))));
    object
}

fn answer(answer: &ExpectedAnswer) -> Object {
    let mut object = Object::new();
    for (key, texts) in [("contains", &answer.contains), ("matches", &answer.matches)] {
        if !texts.is_empty() {
            object.insert(key, texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>());
        }
    }
    object.extend(answer.equals.as_deref().map(|text| ("equals".to_owned(), text.into())));
    object
}
