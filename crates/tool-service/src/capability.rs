//! A capability as its author defines it, and as a service runs it.

use std::sync::Arc;

use reknit_protocol::{Capability, CapabilityName, KeyRule, SideEffect, Value};
use reknit_salvage::{Schema, SchemaError};
#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::handler::{JsonHandler, TypedHandler};
use crate::reply::Reply;
use crate::validate::validate;
use crate::{CallContext, Handler, schema};

/// A handler together with its name, its side effect and its description.
///
/// The side effect decides which calls a caller may repeat. For a `keyed` capability the service answers a second call
/// under the same idempotency key with the answer of the first, without calling the handler again.
#[derive(Debug, Clone)]
pub struct CapabilityDefinition {
    capability: Capability,
    schema: Value,
    handler: Arc<dyn JsonHandler>,
}

impl CapabilityDefinition {
    /// A capability that `handler` answers. Its schema is derived from the type of the arguments.
    ///
    /// Fields that the type does not declare are refused, at every level, unless the type allows them.
    #[cfg(feature = "schemars")]
    pub fn new<Args, H>(name: impl Into<CapabilityName>, effect: SideEffect, handler: H) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        H: Handler<Args>,
    {
        Self::with_schema(name, effect, schema::for_input::<Args>(), handler)
    }

    /// A capability that `handler` answers, with a JSON Schema of your own. Parameters that fit the schema must be readable as the
    /// type of the arguments.
    ///
    /// ```
    /// use reknit_protocol::{SideEffect, ToolError, Value};
    /// use reknit_tool_service::{CallContext, CapabilityDefinition};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Square {
    ///     side: f64,
    /// }
    ///
    /// async fn area(_: CallContext, square: Square) -> Result<f64, ToolError> {
    ///     Ok(square.side * square.side)
    /// }
    ///
    /// let schema = Value::parse(r#"{"type": "object", "properties": {"side": {"type": "number"}}, "required": ["side"]}"#)?;
    /// let area = CapabilityDefinition::with_schema("area", SideEffect::Read, schema, area).description("The area of a square");
    /// assert_eq!(area.announcement().name.as_str(), "area");
    /// # Ok::<(), reknit_protocol::ParseError>(())
    /// ```
    pub fn with_schema<Args, H>(name: impl Into<CapabilityName>, effect: SideEffect, schema: Value, handler: H) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        H: Handler<Args>,
    {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        capability.input_summary = schema::summary(&schema);
        // Both are the defaults of the protocol, written out for callers that do not know them.
        capability.endpoint = Some(capability.default_endpoint());
        capability.schema_endpoint = Some(capability.schema_path());
        Self { capability, schema, handler: Arc::new(TypedHandler::<H, Args>::new(handler)) }
    }

    /// Sets the description that planners read.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.capability.description = description.into();
        self
    }

    /// Announces the fields of the answer, so that a plan can refer to them before the first call.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn output<Output: JsonSchema>(mut self) -> Self {
        self.capability.output_summary = schema::summary(&schema::for_output::<Output>());
        self
    }

    /// Announces which parameters identify a deed: callers with one journal then do it once, whichever of their runs asks for it.
    #[must_use]
    pub fn business_key(mut self, rule: KeyRule) -> Self {
        self.capability.business_key = Some(rule);
        self
    }

    /// Hides the capability from planners. It can still be called.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.capability.internal = true;
        self
    }

    /// The capability as the service announces it.
    pub fn announcement(&self) -> &Capability {
        &self.capability
    }

    /// Fails if the schema is not valid.
    pub(crate) fn compile(self) -> Result<Arc<Endpoint>, BuildError> {
        let Self { capability, schema, handler } = self;
        match Schema::compile(&schema) {
            Ok(schema) => Ok(Arc::new(Endpoint { capability, schema, handler })),
            Err(source) => Err(BuildError::InvalidSchema { name: capability.name, source }),
        }
    }
}

/// A capability that a service answers, with its compiled schema.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) capability: Capability,
    pub(crate) schema: Schema,
    handler: Arc<dyn JsonHandler>,
}

impl Endpoint {
    /// Validates the parameters, then calls the handler.
    pub(crate) async fn answer(&self, context: CallContext, parameters: Value) -> Reply {
        match validate(&self.schema, &parameters) {
            Ok(()) => self.handler.answer(context, parameters).await,
            Err(error) => Reply::error(&error),
        }
    }
}

/// Why a service cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two capabilities have the same name.
    #[error("there are two capabilities called `{name}`")]
    DuplicateName {
        /// The name.
        name: CapabilityName,
    },
    /// A name cannot be part of a URL path without escaping.
    #[error("`{name}` is not a capability name: use letters, digits, `_`, `-` and `.`")]
    InvalidName {
        /// The name.
        name: CapabilityName,
    },
    /// Only a service that is served by itself can register itself.
    #[error("a service inside another server cannot register itself, for it does not know its address")]
    RegisteredRouter,
    /// The type of a handler's arguments has a JSON Schema that is not valid.
    #[error("the schema of the capability `{name}` is not valid")]
    InvalidSchema {
        /// The name.
        name: CapabilityName,
        /// What is wrong with the schema.
        source: SchemaError,
    },
}
