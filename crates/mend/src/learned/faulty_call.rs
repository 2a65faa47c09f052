//! A failed call as rules see it, and a lesson: a correction that succeeded, by which rules are learned and judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_protocol::{Number, Object, SideEffect, StepId, Value};
use reknit_salvage::Schema;

use crate::Rung;
use crate::fault::{CallFault, FaultOrigin};

/// The names by which the expressions of rules call the parameters of the call, its error and the request.
pub(super) const PARAMETERS: &str = "parameters";
pub(super) const ERROR: &str = "error";
pub(super) const REQUEST: &str = "request";
pub(super) const FIXED_SOURCES: [&str; 3] = [PARAMETERS, ERROR, REQUEST];
/// The only number in the request.
pub(super) const NUMBER: &str = "number";

/// A failed call with everything that rules may use.
#[derive(Debug, Clone)]
pub struct FaultyCall {
    /// The capability, as `tool/capability`.
    pub capability: String,
    /// The parameters that were sent, or would have been.
    pub parameters: Object,
    /// How the call failed.
    pub fault: Arc<CallFault>,
    /// The parameters that the error refers to.
    pub fields: Vec<String>,
    /// The schema of the parameters, if the tool has one.
    pub schema: Option<Arc<Schema>>,
    /// The results of the steps before.
    pub results: Vec<PriorResult>,
    /// The request of the user.
    pub request: String,
    /// The numbers in the request.
    pub request_numbers: Vec<Number>,
}

/// The result of a step before the failed call.
#[derive(Debug, Clone)]
pub struct PriorResult {
    /// The step.
    pub step: StepId,
    /// Its capability, as `tool/capability`.
    pub capability: String,
    /// The body of the result.
    pub value: Value,
}

impl FaultyCall {
    /// The status, unless the call was not sent.
    pub(super) fn status(&self) -> Option<u16> {
        match self.fault.origin {
            FaultOrigin::Status(status) => Some(status),
            FaultOrigin::Local | FaultOrigin::Transport(_) | FaultOrigin::Interrupted => None,
        }
    }

    /// The only result of a capability. Of two results nobody knows which one is meant.
    pub(super) fn result_of(&self, capability: &str) -> Option<&PriorResult> {
        let mut results = self.results.iter().filter(|result| result.capability == capability);
        let first = results.next()?;
        results.next().is_none().then_some(first)
    }

    /// The only number in the request.
    pub(super) fn request_number(&self) -> Option<&Number> {
        match self.request_numbers.as_slice() {
            [number] => Some(number),
            _ => None,
        }
    }

    /// What expressions refer to. `None` if a named result is missing.
    pub(super) fn sources(&self, names: &BTreeMap<String, String>) -> Option<BTreeMap<StepId, Value>> {
        let mut request = Object::new();
        request.extend(self.request_number().map(|number| (NUMBER.to_owned(), Value::Number(number.clone()))));
        let mut sources = BTreeMap::from([
            (StepId::from(PARAMETERS), Value::Object(self.parameters.clone())),
            (StepId::from(ERROR), self.error()),
            (StepId::from(REQUEST), Value::Object(request)),
        ]);
        for (name, capability) in names {
            sources.insert(StepId::from(name.as_str()), self.result_of(capability)?.value.clone());
        }
        Some(sources)
    }

    /// The error as expressions see it.
    pub(super) fn error(&self) -> Value {
        let mut error = Object::from([
            ("code", self.fault.code.as_str().into()),
            ("message", self.fault.message.as_str().into()),
            ("details", Value::Object(self.fault.details.clone())),
            ("body", self.fault.body.clone()),
        ]);
        error.extend(self.status().map(|status| ("status".to_owned(), u32::from(status).into())));
        Value::Object(error)
    }

    /// The part of the schema for a parameter.
    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        self.schema.as_ref()?.source().get("properties")?.get(name)
    }

    /// Whether the error or the schema of a parameter states a value.
    pub(super) fn states(&self, parameter: &str, value: &Value) -> bool {
        let listed = self.property(parameter).is_some_and(|property| {
            let listed = property.get("enum").and_then(Value::as_array).unwrap_or_default();
            let single = ["const", "default"].into_iter().filter_map(|key| property.get(key));
            listed.iter().chain(single).any(|stated| stated == value)
        });
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
        };
        let details = Value::Object(self.fault.details.clone());
        // An error often repeats what was sent. Of that it states only what is in a list.
        if self.parameters.values().any(|sent| sent == value) {
            return listed || lists(&self.fault.body, value) || lists(&details, value);
        }
        listed || holds(&self.fault.body, value) || holds(&details, value) || has_word(&self.fault.message, &text)
    }

    /// Whether the request names a text, as whole words.
    pub(super) fn is_named_in_request(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| has_word(&self.request, text))
    }
}

/// Whether a value has a list somewhere inside with the wanted value as an item.
fn lists(whole: &Value, wanted: &Value) -> bool {
    match whole {
        Value::Array(items) => items.iter().any(|item| item == wanted || lists(item, wanted)),
        Value::Object(object) => stating(object).any(|(_, item)| lists(item, wanted)),
        _ => false,
    }
}

/// The members of an object, without examples: they show how a value may look, not that it is right.
pub(super) fn stating(object: &Object) -> impl Iterator<Item = (&str, &Value)> {
    object.iter().filter(|(key, _)| {
        let key = key.to_lowercase();
        !key.contains("example") && !key.contains("sample")
    })
}

/// Whether a value has another one somewhere inside.
fn holds(whole: &Value, wanted: &Value) -> bool {
    match whole {
        Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Value::Object(object) => stating(object).any(|(_, item)| holds(item, wanted)),
        Value::String(text) => whole == wanted || wanted.as_str().is_some_and(|wanted| has_word(text, wanted)),
        other => other == wanted,
    }
}

/// Whether a text contains another one as whole words, in any letter case.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.trim().to_lowercase());
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(&word).any(|(at, found)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// A failed call, and the parameters with which it succeeded.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// Where it happened, as `run/step`.
    pub place: String,
    /// The failed call.
    pub call: FaultyCall,
    /// The parameters that the tool accepted.
    pub corrected: Object,
    /// The rung that corrected the call.
    pub rung: Rung,
    /// The side effect of the capability.
    pub side_effect: SideEffect,
    /// Where the model says that new values come from.
    pub origins: Vec<ValueOrigin>,
    /// How many model calls the correction needed.
    pub model_calls: u32,
}

/// The expression with which a model, or code after it, explained a new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
    /// The parameter.
    pub parameter: String,
    /// The expression over the steps of the run.
    pub expression: String,
}

impl Lesson {
    /// The parameters whose values are new, in the order of the call.
    pub(super) fn changed(&self) -> Vec<&str> {
        let is_new = |name: &&str| self.call.parameters.get(name) != self.corrected.get(name);
        self.corrected.keys().filter(is_new).collect()
    }

    /// The parameters that were left out.
    pub(super) fn removed(&self) -> Vec<&str> {
        self.call.parameters.keys().filter(|name| !self.corrected.contains_key(name)).collect()
    }

    /// Whether a model made the correction.
    pub(super) fn is_by_model(&self) -> bool {
        matches!(self.rung, Rung::Resolution | Rung::Feedback | Rung::Context)
    }
}
