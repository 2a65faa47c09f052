//! A model for tests and offline examples.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::REPORT_TOOL;
use reknit_model_api::{Delta, ErrorClass, ModelAnswer, ModelFailure, ModelRequest, ToolCall, Usage};
use reknit_models::{ModelClient, OnDelta};
use reknit_protocol::Value;

/// A model that answers from a script, in order. It needs no network. Clones share the script.
///
/// ```
/// use reknit::ModelScript;
///
/// let model = ModelScript::new()
///     .answer(r#"{"steps": [{"id": "area", "tool": "functions/area", "with": {"side": 12}}]}"#)
///     .answer("It is 144.");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModelScript {
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<Result<ModelAnswer, ModelFailure>>,
    requests: Vec<ModelRequest>,
}

impl ModelScript {
    /// A model without answers: every question fails.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(self, answer: Result<ModelAnswer, ModelFailure>) -> Self {
        self.script.lock().answers.push_back(answer);
        self
    }

    /// The next answer is this text.
    #[must_use]
    pub fn answer(self, text: impl Into<String>) -> Self {
        let answer = ModelAnswer::complete(text, "script", Usage::reported(0, 0));
        self.push(Ok(answer))
    }

    /// The next answer of an agent's model is a call of this tool. Agents see `shop/price` as `shop__price`.
    #[must_use]
    pub fn call(self, tool: &str, arguments: &Value) -> Self {
        let id = format!("call-{}", self.script.lock().answers.len() + 1);
        let mut answer = ModelAnswer::complete("", "script", Usage::reported(0, 0));
        answer.tool_calls = vec![ToolCall::new(id, tool, arguments.to_string())];
        self.push(Ok(answer))
    }

    /// The next answer of an agent's model is its report, with these arguments of the report tool.
    #[must_use]
    pub fn report(self, arguments: &Value) -> Self {
        self.call(REPORT_TOOL, arguments)
    }

    /// The next attempt fails.
    #[must_use]
    pub fn failure(self, failure: ModelFailure) -> Self {
        self.push(Err(failure))
    }

    /// What the model was asked so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script.lock().requests.clone()
    }
}

impl ModelClient for ModelScript {
    async fn ask(&self, request: &ModelRequest, on_delta: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        let next = {
            let mut script = self.script.lock();
            script.requests.push(request.clone());
            script.answers.pop_front()
        };
        // As a server that does not have the model: others are asked, and it is not asked again.
        let failure = || ModelFailure::new(ErrorClass::ModelError, "the script has no further answer").with_status(404);
        let answer = next.unwrap_or_else(|| Err(failure()))?;
        for word in answer.text.split_inclusive(' ') {
            on_delta(Delta::Text(word));
        }
        Ok(answer)
    }
}
