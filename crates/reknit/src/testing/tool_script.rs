//! A tool for tests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use reknit_protocol::{Category, Object, SideEffect, ToolError, Value};
use reknit_tool_service::{CallContext, CapabilityDefinition};

use crate::Tool;

/// A tool that answers from a script, in order, whatever its parameters are. Clones share the script.
///
/// A call after the last answer fails, and [`check_used`](Self::check_used) reports it, so that a test cannot pass by accident.
#[derive(Debug, Clone)]
pub struct ToolScript {
    service: String,
    name: String,
    side_effect: SideEffect,
    schema: Value,
    answers: Arc<Mutex<VecDeque<Result<Value, ToolError>>>>,
    surplus: Arc<AtomicUsize>,
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
            surplus: Arc::default(),
        }
    }

    /// The JSON Schema of its parameters; any object is taken without one.
    #[must_use]
    pub fn schema(self, schema: Value) -> Self {
        Self { schema, ..self }
    }

    /// The next call returns this.
    #[must_use]
    pub fn reply(self, reply: impl Into<Value>) -> Self {
        self.answers.lock().push_back(Ok(reply.into()));
        self
    }

    /// The next call fails.
    #[must_use]
    pub fn error(self, error: ToolError) -> Self {
        self.answers.lock().push_back(Err(error));
        self
    }

    /// How many answers were not used.
    pub fn left(&self) -> usize {
        self.answers.lock().len()
    }

    /// How many calls were made after the last answer.
    pub fn surplus(&self) -> usize {
        self.surplus.load(Ordering::Relaxed)
    }

    /// Whether each answer was asked for, and nothing else.
    ///
    /// ```
    /// # use reknit::{Object, Reknit, plan::read_plan_file, protocol::SideEffect, testing::ToolScript};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let refund = ToolScript::new("bank/refund", SideEffect::Keyed).reply("done");
    /// let reknit = Reknit::builder().tools([refund.tool()]).start().await?;
    /// let plan = "steps: [{id: a, tool: bank/refund, with: {order: 7}}, {id: b, tool: bank/refund, with: {order: 8}}]";
    /// reknit.run_plan(read_plan_file(plan)?.0, Object::new()).settled().await?;
    /// assert_eq!(refund.check_used(), Err("bank/refund: calls after the last answer: 1".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Says how many answers were not used, or how many calls found no answer.
    pub fn check_used(&self) -> Result<(), String> {
        match (self.left(), self.surplus()) {
            (0, 0) => Ok(()),
            (left, 0) => Err(format!("{}/{}: answers that nobody asked for: {left}", self.service, self.name)),
            (_, surplus) => Err(format!("{}/{}: calls after the last answer: {surplus}", self.service, self.name)),
        }
    }

    /// The tool, for [`ReknitBuilder::tools`](crate::ReknitBuilder::tools).
    pub fn tool(&self) -> Tool {
        let script = self.clone();
        let handler = move |_: CallContext, _: Object| {
            let next = script.answers.lock().pop_front();
            if next.is_none() {
                script.surplus.fetch_add(1, Ordering::Relaxed);
            }
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
