//! A model that a Python function asks.

use std::sync::Arc;

use pyo3::prelude::*;
use reknit::ModelClient;
use reknit::model_api::{ErrorClass, Message, ModelAnswer, ModelFailure, ModelRequest, ToolCall, Usage};
use reknit::models::{OnDelta, Target};
use reknit::protocol::{Object, Value};

use crate::value::{Decimals, from_python, to_python};

/// A Python function that gets a request and returns a text, or a dictionary with `text` and `tool_calls`.
struct PythonModel {
    function: Arc<Py<PyAny>>,
}

/// The model that a caller gave: the URL of a server, or a function.
pub(crate) fn target(name: &str, model: &Bound<'_, PyAny>) -> PyResult<Target> {
    if model.is_callable() {
        let client = PythonModel { function: Arc::new(model.clone().unbind()) };
        return Ok(Target::of_client(name, client));
    }
    let (url, model): (String, String) = match model.extract::<String>() {
        Ok(url) => (url, "default".to_owned()),
        Err(_) => model.extract()?,
    };
    Ok(Target::new(name, url, model))
}

impl ModelClient for PythonModel {
    async fn ask(&self, request: &ModelRequest, _: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        let (function, request) = (Arc::clone(&self.function), request_value(request));
        let asked = tokio::task::spawn_blocking(move || {
            Python::attach(|py| {
                let request = to_python(py, &request, Decimals::Float)?;
                from_python(function.bind(py).call1((request,))?.as_any())
            })
        });
        let answer = match asked.await {
            Ok(answer) => answer.map_err(|error| ModelFailure::new(ErrorClass::ModelError, error.to_string())),
            Err(error) => Err(ModelFailure::new(ErrorClass::ModelError, error.to_string())),
        };
        read_answer(&answer?)
    }
}

fn request_value(request: &ModelRequest) -> Value {
    let message = |message: &Message| {
        let mut object = Object::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
        if !message.tool_calls().is_empty() {
            let calls = message.tool_calls().iter().map(|call| {
                let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
                Value::Object(Object::from([("id", id), ("name", name), ("arguments", call.arguments.as_str().into())]))
            });
            object.insert("tool_calls", calls.collect::<Value>());
        }
        if let Message::Tool { call, name, .. } = message {
            object.insert("tool_call_id", call.as_str());
            object.insert("name", name.as_str());
        }
        Value::Object(object)
    };
    let tools = request.tools.iter().map(|tool| {
        let (name, description) = (tool.name.as_str().into(), tool.description.as_str().into());
        Value::Object(Object::from([("name", name), ("description", description), ("parameters", tool.schema.clone())]))
    });
    Value::Object(Object::from([
        ("messages", request.messages.iter().map(message).collect::<Value>()),
        ("tools", tools.collect::<Value>()),
        ("max_tokens", u64::from(request.max_tokens).into()),
    ]))
}

fn read_answer(answer: &Value) -> Result<ModelAnswer, ModelFailure> {
    let text = |text: &str| ModelAnswer::complete(text, "python", Usage::reported(0, 0));
    let object = match answer {
        Value::String(whole) => return Ok(text(whole)),
        Value::Object(object) => object,
        _ => return Err(invalid("a model must return a text or a dictionary")),
    };
    let mut answer = text(object.get("text").and_then(Value::as_str).unwrap_or_default());
    let calls = object.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
    for (number, call) in calls.iter().enumerate() {
        let member = |name: &str| call.as_object().and_then(|call| call.get(name));
        let name = member("name").and_then(Value::as_str).ok_or_else(|| invalid("a tool call has no `name`"))?;
        let arguments = match member("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "{}".to_owned(),
        };
        let id = member("id").and_then(Value::as_str).map_or_else(|| format!("call-{number}"), str::to_owned);
        answer.tool_calls.push(ToolCall::new(id, name, arguments));
    }
    Ok(answer)
}

fn invalid(problem: &str) -> ModelFailure {
    ModelFailure::new(ErrorClass::InvalidResponse, problem)
}
