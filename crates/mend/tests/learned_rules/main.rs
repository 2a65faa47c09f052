//! Learned rules: what becomes a rule, when it applies, and who accepts it.
#![cfg(test)]

mod acceptance;
mod laws;
mod learning;

use std::sync::Arc;

use reknit_mend::{CallFault, Fate, FaultOrigin, FaultyCall, LearnedRule, Lesson, PriorResult, Rung, propose_rules};
use reknit_protocol::{Number, Object, SideEffect, StepId, Value};
use reknit_salvage::Schema;

fn object(text: &str) -> Object {
    Value::parse(text).expect("valid JSON").as_object().cloned().expect("an object")
}

fn numbers(text: &str) -> Vec<Number> {
    text.split_whitespace().filter_map(|word| Number::parse(word).ok()).collect()
}

/// A call of `bank/convert` that was rejected with a code and a message.
fn failed(parameters: &str, message: &str, details: &str) -> FaultyCall {
    let parameters = object(parameters);
    let fields = parameters.keys().filter(|name| message.contains(*name)).map(str::to_owned).collect();
    let fault = CallFault {
        origin: FaultOrigin::Status(422),
        fate: Fate::Rejected,
        code: "INVALID".to_owned(),
        details: object(details),
        ..CallFault::local(message.to_owned())
    };
    FaultyCall {
        capability: "bank/convert".to_owned(),
        parameters,
        fault: Arc::new(fault),
        fields,
        schema: None,
        results: Vec::new(),
        request: String::new(),
        request_numbers: Vec::new(),
    }
}

/// What a test adds to a failed call.
trait Situation: Sized {
    fn requested(self, request: &str) -> Self;
    fn after(self, step: &str, capability: &str, result: &str) -> Self;
    fn with_schema(self, schema: &str) -> Self;
    /// A model corrected the call, and the tool accepted it.
    fn corrected(self, place: &str, corrected: &str) -> Lesson;
}

impl Situation for FaultyCall {
    fn requested(self, request: &str) -> Self {
        Self { request_numbers: numbers(request), request: request.to_owned(), ..self }
    }

    fn after(mut self, step: &str, capability: &str, result: &str) -> Self {
        let value = Value::Object(object(result));
        self.results.push(PriorResult { step: StepId::from(step), capability: capability.to_owned(), value });
        self
    }

    fn with_schema(self, schema: &str) -> Self {
        let schema = Schema::compile(&Value::Object(object(schema))).expect("the schema is valid");
        Self { schema: Some(Arc::new(schema)), ..self }
    }

    fn corrected(self, place: &str, corrected: &str) -> Lesson {
        Lesson {
            place: place.to_owned(),
            call: self,
            corrected: object(corrected),
            rung: Rung::Feedback,
            side_effect: SideEffect::Read,
            origins: Vec::new(),
            model_calls: 1,
        }
    }
}

/// The changes of the rules that lessons suggest: `from = parameters.from by Yen -> "JPY"`.
fn changes(lessons: &[Lesson]) -> Vec<String> {
    propose_rules(lessons).iter().map(change).collect()
}

fn change(rule: &LearnedRule) -> String {
    let changed = rule.change.iter().map(|(name, value)| format!("{name} = {value}"));
    let removed = rule.remove.iter().map(|name| format!("without {name}"));
    changed.chain(removed).collect::<Vec<_>>().join(", ")
}
