//! Writes a test.

use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_plan::write_yaml;
use reknit_protocol::{Object, ReplyBody, Value};

use super::read_recordings::ANSWER_FIELDS;
use super::{AgentSource, PlanSource, TestAgent, TestFile, TestStart};
use crate::expectations::{Expectations, ExpectedAnswer, ExpectedLimits};
use crate::json::{difference, to_value};
use crate::recording::{CallRecording, ModelMatch, ModelRecording, PlayCount};

impl TestFile {
    /// The text of the file. Reading it gives the same test.
    pub fn write(&self) -> String {
        let mut object = Object::new();
        object.extend(self.about.as_deref().map(|about| ("about".to_owned(), about.into())));
        add_start(&mut object, &self.start);
        object.insert("at_ms", self.at_ms);
        object.insert("seed", self.seed);
        add_unless_empty(&mut object, "metadata", Value::Object(self.metadata.clone()));
        add_unless_empty(&mut object, "targets", texts(&self.targets));
        add_unless_empty(&mut object, "policy", self.policy.clone());
        add_unless_empty(&mut object, "prompts", self.prompts.clone());
        add_unless_empty(&mut object, "mappings", self.mappings.iter().map(to_value).collect());
        add_unless_empty(&mut object, "expect", Value::Object(expectations_value(&self.expect)));
        add_unless_empty(&mut object, "decisions", self.decisions.iter().map(decision).collect());
        add_unless_empty(&mut object, "calls", self.calls.iter().map(call).collect());
        add_unless_empty(&mut object, "models", self.models.iter().map(model).collect());
        let counts = self.token_counts.iter().map(|count| count.map_or(Value::Null, Value::from));
        add_unless_empty(&mut object, "token_counts", counts.collect());
        add_unless_empty(&mut object, "tools", self.tools.to_value());
        write_yaml(&Value::Object(object))
    }
}

fn add_unless_empty(object: &mut Object, key: &str, value: Value) {
    let is_empty = match &value {
        Value::Object(object) => object.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if !is_empty {
        object.insert(key, value);
    }
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
}

fn add_start(object: &mut Object, start: &TestStart) {
    match start {
        TestStart::Request(request) => _ = object.insert("request", request.as_str()),
        TestStart::Plan { plan, request, inputs, agents } => {
            object.extend(request.as_deref().map(|request| ("request".to_owned(), request.into())));
            let plan = match plan {
                PlanSource::File(path) => Value::from(path.as_str()),
                PlanSource::Inline(plan) => plan.clone(),
            };
            object.insert("plan", plan);
            add_unless_empty(object, "inputs", Value::Object(inputs.clone()));
            add_unless_empty(object, "agents", agents.iter().map(test_agent).collect());
        }
        TestStart::Agent { agent, input, messages } => {
            let agent = match agent {
                AgentSource::File(path) => Value::from(path.as_str()),
                AgentSource::Inline(agent) => test_agent(agent),
            };
            object.insert("agent", agent);
            object.insert("input", input.as_str());
            add_unless_empty(object, "messages", texts(messages));
        }
    }
}

fn test_agent(agent: &TestAgent) -> Value {
    let mut object = Object::from([("name", Value::from(agent.name.as_str()))]);
    if !agent.description.is_empty() {
        object.insert("description", agent.description.as_str());
    }
    object.insert("prompt", agent.prompt.as_str());
    add_unless_empty(&mut object, "rules", agent.rules.clone());
    object.extend(agent.tools.as_deref().map(|tools| ("tools".to_owned(), texts(tools))));
    object.extend(agent.targets.as_deref().map(|targets| ("targets".to_owned(), texts(targets))));
    object.extend(agent.policy.clone().map(|policy| ("policy".to_owned(), policy)));
    add_unless_empty(&mut object, "agents", agent.agents.iter().map(test_agent).collect());
    Value::Object(object)
}

fn decision(recording: &crate::recording::DecisionRecording) -> Value {
    let mut object = Object::new();
    if let Some(within) = &recording.within {
        object.insert("in", within.as_str());
    }
    object.insert("step", recording.step.as_str());
    object.insert("decision", to_value(&recording.decision));
    Value::Object(object)
}

fn add_plays(object: &mut Object, plays: PlayCount) {
    match plays {
        PlayCount::Times(1) => {}
        PlayCount::Times(times) => _ = object.insert("times", times),
        PlayCount::Any => _ = object.insert("times", "any"),
    }
}

fn add_unless_zero(object: &mut Object, key: &str, count: u64) {
    if count > 0 {
        object.insert(key, count);
    }
}

fn call(recording: &CallRecording) -> Value {
    let mut object = Object::from([("call", Value::from(recording.call.as_str()))]);
    object.extend(recording.step.as_deref().map(|step| ("step".to_owned(), step.into())));
    object.insert("with", recording.parameters.clone());
    object.extend(recording.asks.as_ref().map(|asks| ("asks".to_owned(), to_value(asks))));
    add_unless_zero(&mut object, "took_ms", recording.took_ms);
    add_plays(&mut object, recording.plays);
    match &recording.outcome {
        Err(fault) => _ = object.insert("fault", to_value(fault)),
        Ok(reply) => {
            if reply.status != 200 {
                object.insert("status", u32::from(reply.status));
            }
            object.extend(reply.retry_after_ms.map(|ms| ("retry_after_ms".to_owned(), ms.into())));
            match &reply.body {
                ReplyBody::Json(value) => _ = object.insert("reply", value.clone()),
                ReplyBody::Text(text) => _ = object.insert("text", text.as_str()),
                ReplyBody::Repaired { value, fixes } => {
                    let repaired = Value::from([("value", value.clone()), ("fixes", texts(fixes))]);
                    object.insert("repaired", repaired);
                }
                ReplyBody::Empty => {}
            }
            object.extend(reply.job.as_ref().map(|job| ("job".to_owned(), to_value(job))));
        }
    }
    Value::Object(object)
}

fn model(recording: &ModelRecording) -> Value {
    let mut object = Object::from([("purpose", Value::from(recording.purpose.as_str()))]);
    object.extend(recording.target.as_deref().map(|target| ("target".to_owned(), target.into())));
    object.extend(recording.digest.as_deref().map(|digest| ("digest".to_owned(), digest.into())));
    if recording.matching == ModelMatch::Purpose {
        object.insert("match", "purpose");
    }
    add_unless_zero(&mut object, "took_ms", recording.took_ms);
    add_plays(&mut object, recording.plays);
    match &recording.outcome {
        Ok(answer) => add_answer(&mut object, answer),
        Err(failure) => {
            let base = to_value(&ModelFailure::new(ErrorClass::NetworkError, ""));
            let mut fault = Object::from([("class", to_value(&failure.class))]);
            if let Value::Object(differences) = difference(&to_value(failure), &base) {
                fault.extend(differences);
            }
            object.insert("fault", fault);
        }
    }
    Value::Object(object)
}

/// The text, and what else the answer has that an answer of plain text does not have.
fn add_answer(object: &mut Object, answer: &ModelAnswer) {
    let plain = ModelAnswer::complete("", "recorded", reknit_model_api::Usage::reported(0, 0));
    if !answer.text.is_empty() || answer.tool_calls.is_empty() {
        object.insert("answer", answer.text.as_str());
    }
    let Value::Object(mut differences) = difference(&to_value(answer), &to_value(&plain)) else { return };
    for key in ANSWER_FIELDS {
        object.extend(differences.remove(key).filter(|value| !value.is_null()).map(|mut value| {
            if key == "tool_calls" {
                arguments_as_object(&mut value);
            }
            (key.to_owned(), value)
        }));
    }
}

/// Arguments that are an object, written as the program writes it, are easier to read as one.
fn arguments_as_object(calls: &mut Value) {
    for call in calls.as_array_mut().into_iter().flatten() {
        if let Some(arguments) = call.get_mut("arguments")
            && let Some(text) = arguments.as_str()
            && let Ok(value @ Value::Object(_)) = Value::parse(text)
            && value.to_string() == text
        {
            *arguments = value;
        }
    }
}

/// The part `expect:` of a file.
pub(crate) fn expectations_yaml(expect: &Expectations) -> String {
    write_yaml(&Value::from([("expect", Value::Object(expectations_value(expect)))]))
}

fn expectations_value(expect: &Expectations) -> Object {
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
