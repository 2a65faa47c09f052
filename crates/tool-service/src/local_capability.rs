//! A capability that is called in its own process, without a server.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{Capability, SideEffect, ToolReply, Value};

use crate::call_runner::{CallRunner, catch_panic, panicked};
use crate::capability::Endpoint;
use crate::idempotency::{IdempotencyLimits, IdempotencyStore};
use crate::{BuildError, CallContext, CapabilityDefinition, IdempotencyKey};

/// How long a handler that changes something may go on after its caller has left.
const LONGEST_CALL: Duration = Duration::from_hours(1);

/// A capability that is called in its own process, with the same checks and replies as behind a [`Service`](crate::Service).
///
/// A handler that panics is a failed call. One that only reads is stopped when its caller drops the call; any other runs to its
/// end, because half an effect is worse than an unread answer.
#[derive(Debug, Clone)]
pub struct LocalCapability {
    endpoint: Arc<Endpoint>,
    runner: CallRunner,
}

impl LocalCapability {
    /// Fails if the type of the arguments has a schema that is not valid.
    pub fn new(definition: CapabilityDefinition) -> Result<Self, BuildError> {
        let store = IdempotencyStore::new(IdempotencyLimits::default());
        Ok(Self { endpoint: definition.compile()?, runner: CallRunner::new(store, LONGEST_CALL) })
    }

    /// The capability as a service would announce it.
    pub fn announcement(&self) -> &Capability {
        &self.endpoint.capability
    }

    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> &Value {
        self.endpoint.schema.source()
    }

    /// Answers one call. Must be called within a tokio runtime.
    pub async fn call(&self, parameters: Value, key: Option<IdempotencyKey>) -> ToolReply {
        let context = CallContext::new(self.endpoint.capability.name.clone(), key);
        let reply = match self.endpoint.capability.effect {
            SideEffect::Read => catch_panic(self.endpoint.answer(context, parameters)).await.unwrap_or_else(panicked),
            SideEffect::Idempotent
            | SideEffect::Keyed
            | SideEffect::Undeclared
            | SideEffect::Unknown
            | SideEffect::Unsafe => self.runner.answer(&self.endpoint, context, parameters).await,
        };
        reply.into_tool_reply()
    }
}
