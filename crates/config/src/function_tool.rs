//! Functions of this program as tools.

use std::sync::Arc;

use reknit_plan::CatalogueEntry;
use reknit_protocol::{CallTool, Delivery, ToolName, ToolReply, TransportFailure, TransportKind, Value};
use reknit_tool_service::{BuildError, CapabilityDefinition, IdempotencyKey, LocalCapability};
use reknit_tools::{BoxFuture, DefinitionAuthor, ListedCapability, Listing, Route, ToolSource};

/// A function of this program as one capability of a tool.
#[derive(Debug)]
pub(crate) struct FunctionTool {
    name: ToolName,
    route: Arc<FunctionRoute>,
}

#[derive(Debug)]
struct FunctionRoute {
    capability: LocalCapability,
}

impl FunctionTool {
    /// Fails if the type of the arguments has a schema that is not valid.
    pub(crate) fn new(tool: &str, definition: CapabilityDefinition) -> Result<Self, BuildError> {
        let route = Arc::new(FunctionRoute { capability: LocalCapability::new(definition)? });
        Ok(Self { name: tool.into(), route })
    }

    fn listing(&self) -> Result<Listing, String> {
        let capability = &self.route.capability;
        let entry = CatalogueEntry::new(capability.announcement().clone(), Some(capability.schema().clone()));
        let entry = entry.map_err(|error| error.to_string())?;
        let listed = ListedCapability { entry, route: Arc::clone(&self.route) as Arc<dyn Route> };
        Ok(Listing { capabilities: vec![listed], ..Listing::default() })
    }
}

impl ToolSource for FunctionTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn address(&self) -> String {
        "this program".to_owned()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Box::pin(std::future::ready(self.listing()))
    }

    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::User
    }
}

impl FunctionRoute {
    async fn answer(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        let key = call.idempotency_key.as_deref().map(IdempotencyKey::parse).transpose();
        let key = key.map_err(|error| TransportFailure {
            kind: TransportKind::NotCallable,
            delivery: Delivery::NotSent,
            message: format!("the idempotency key cannot be used: {error}"),
        })?;
        Ok(self.capability.call(Value::Object(call.parameters.clone()), key).await)
    }
}

impl Route for FunctionRoute {
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.answer(call))
    }
}
