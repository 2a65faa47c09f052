//! Schemas of parameters in the form that MCP asks for.

use std::sync::Arc;

use reknit_protocol::Value;
use rmcp::model::JsonObject;

/// The schema as an object whose type is `object`.
pub(crate) fn input_schema(schema: &Value) -> Arc<JsonObject> {
    let mut object: JsonObject = serde_json::from_str(&schema.to_string()).unwrap_or_default();
    object.entry("type").or_insert_with(|| "object".into());
    Arc::new(object)
}
