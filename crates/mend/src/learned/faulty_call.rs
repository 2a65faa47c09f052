//! A failed call as rules see it, and a lesson: a correction that succeeded, by which rules are learned and judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_protocol::{Number, Object, SideEffect, StepId, Value};
use reknit_salvage::Schema;

use crate::fault::{CallFault, FaultOrigin};
use crate::{Rung, is_word_part, neighbours, only};

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
    pub fault: Arc<CallFault>,
    pub fields: Vec<String>,
    /// The schema of the parameters, if the tool has one.
    pub schema: Option<Arc<Schema>>,
    pub results: Vec<PriorResult>,
    pub request: String,
    pub request_numbers: Vec<Number>,
}

#[derive(Debug, Clone)]
pub struct PriorResult {
    pub step: StepId,
    /// Its capability, as `tool/capability`.
    pub capability: String,
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
        only(self.results.iter().filter(|result| result.capability == capability))
    }

    /// The only number in the request.
    pub(super) fn request_number(&self) -> Option<&Number> {
        only(self.request_numbers.iter())
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
    !word.is_empty() && neighbours(&text, &word).any(|beside| !beside.into_iter().any(is_word_part))
}

/// A failed call, and the parameters with which it succeeded.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub place: String,
    pub call: FaultyCall,
    /// The parameters that the tool accepted.
    pub corrected: Object,
    pub rung: Rung,
    pub side_effect: SideEffect,
    /// Where the model says that new values come from.
    pub origins: Vec<ValueOrigin>,
    /// How many model calls the correction needed.
    pub model_calls: u32,
}

/// The expression with which a model, or code after it, explained a new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
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

    pub(super) fn removed(&self) -> Vec<&str> {
        self.call.parameters.keys().filter(|name| !self.corrected.contains_key(name)).collect()
    }

    pub(super) fn is_by_model(&self) -> bool {
        matches!(self.rung, Rung::Resolution | Rung::Feedback | Rung::Context)
    }
}
