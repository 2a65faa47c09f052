//! A tool for tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reknit_protocol::{Category, Object, SideEffect, ToolError, Value};
use reknit_toolkit::{CallContext, CapabilityDefinition};

use crate::Tool;

/// A tool that answers from a script, in order, whatever its parameters are. Clones share the script.
///
/// A call after the last answer fails, so that a test cannot pass by accident.
#[derive(Debug, Clone)]
pub struct ToolScript {
    service: String,
    name: String,
    side_effect: SideEffect,
    schema: Value,
    answers: Arc<Mutex<VecDeque<Result<Value, ToolError>>>>,
}

impl ToolScript {
    /// A tool without answers, with the name that plans call it by: `bank/refund`. Without a `/`, it belongs to the service `functions`.
    pub fn new(name: &str, side_effect: SideEffect) -> Self {
        let (service, name) = name.split_once('/').unwrap_or(("functions", name));
        Self {
            service: service.to_owned(),
            name: name.to_owned(),
            side_effect,
            schema: Value::from([("type", Value::from("object"))]),
            answers: Arc::default(),
        }
    }

    fn answers(&self) -> MutexGuard<'_, VecDeque<Result<Value, ToolError>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The JSON Schema of its parameters; any object is taken without one.
    #[must_use]
    pub fn schema(self, schema: Value) -> Self {
        Self { schema, ..self }
    }

    /// The next call returns this.
    #[must_use]
    pub fn reply(self, reply: impl Into<Value>) -> Self {
        self.answers().push_back(Ok(reply.into()));
        self
    }

    /// The next call fails.
    #[must_use]
    pub fn error(self, error: ToolError) -> Self {
        self.answers().push_back(Err(error));
        self
    }

    /// How many answers nobody has asked for.
    pub fn left(&self) -> usize {
        self.answers().len()
    }

    /// The tool, for [`ReknitBuilder::tools`](crate::ReknitBuilder::tools).
    pub fn tool(&self) -> Tool {
        let script = self.clone();
        let handler = move |_: CallContext, _: Object| {
            let next = script.answers().pop_front();
            async move {
                let ended = || ToolError::new("SCRIPT_ENDED", "the script has no further answer", Category::AuthError);
                next.unwrap_or_else(|| Err(ended()))
            }
        };
        let definition =
            CapabilityDefinition::with_schema(self.name.clone(), self.side_effect, self.schema.clone(), handler);
        Tool::new(definition).in_service(self.service.clone())
    }
}
