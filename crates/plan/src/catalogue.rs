//! The tools that a run may use: a snapshot that never changes during the run.

mod json;
mod published_schema;
mod search;

pub use json::CatalogueError;

use std::sync::{Arc, OnceLock};

use reknit_protocol::schema::normalise_types;
use reknit_protocol::{Capability, Object, ToolName, Value, exact};
use reknit_salvage::{Schema, SchemaError};
use serde::{Deserialize, Serialize};

use published_schema::PublishedSchema;

/// The tools that a run may use. A run keeps the catalogue it started with and does not see tools that are added later.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    pub tools: Vec<CatalogueTool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogueTool {
    pub name: ToolName,
    /// What it is for; empty if the tool does not say.
    pub description: String,
    pub capabilities: Vec<CatalogueEntry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CatalogueEntry {
    #[serde(with = "exact")]
    pub capability: Capability,
    /// The JSON Schema of the parameters, if the tool publishes one.
    #[serde(default)]
    schema: PublishedSchema,
    /// Why it must not be called now, with what a person can do about it. Planners and agents do not see it then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    #[serde(skip)]
    compiled: OnceLock<Result<Option<Arc<Schema>>, String>>,
}

impl PartialEq for CatalogueEntry {
    fn eq(&self, other: &Self) -> bool {
        self.capability == other.capability && self.schema == other.schema
    }
}

impl CatalogueEntry {
    /// A capability with its published schema, in which type words of other languages such as `float64` are replaced by
    /// types of JSON Schema. Fails if the schema is not valid.
    pub fn new(capability: Capability, mut schema: Option<Value>) -> Result<Self, SchemaError> {
        schema.iter_mut().for_each(normalise_types);
        let entry = Self::with_schema(capability, schema.map_or(PublishedSchema::None, PublishedSchema::Value));
        if let Some(source) = entry.json_schema() {
            let compiled = Schema::compile(&source)?;
            // The cell is new, so setting it cannot fail.
            let _ = entry.compiled.set(Ok(Some(Arc::new(compiled))));
        }
        Ok(entry)
    }

    /// A capability whose schema is made whenever it is needed, and compiled when it is first used. It is for large schemas of
    /// which many capabilities share parts. If it is not valid, [`CatalogueEntry::schema_problem`] says so.
    pub fn deferred(capability: Capability, schema: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        Self::with_schema(capability, PublishedSchema::Deferred(Arc::new(schema)))
    }

    fn with_schema(capability: Capability, schema: PublishedSchema) -> Self {
        Self { capability, schema, withheld: None, compiled: OnceLock::new() }
    }

    fn is_visible(&self) -> bool {
        !self.capability.internal && self.withheld.is_none()
    }

    /// The JSON Schema of the parameters that the tool publishes.
    pub(crate) fn published_schema(&self) -> Option<Value> {
        self.schema.get()
    }

    /// The JSON Schema of the parameters: the published one, or else one made from the parameter hints.
    pub fn json_schema(&self) -> Option<Value> {
        self.published_schema().or_else(|| self.capability.input_schema())
    }

    /// The schema of the parameters, compiled once. `None` if the tool says nothing about its parameters, or if the schema
    /// cannot be used; see [`CatalogueEntry::schema_problem`].
    pub fn compiled_schema(&self) -> Option<Arc<Schema>> {
        self.compile().as_ref().ok().cloned().flatten()
    }

    pub fn schema_problem(&self) -> Option<&str> {
        self.compile().as_ref().err().map(String::as_str)
    }

    fn compile(&self) -> &Result<Option<Arc<Schema>>, String> {
        self.compiled.get_or_init(|| {
            let compiled = self.json_schema().map(|source| Schema::compile(&source)).transpose();
            compiled.map(|schema| schema.map(Arc::new)).map_err(|error| error.to_string())
        })
    }

    pub fn parameter_names(&self) -> Vec<String> {
        let source = self.json_schema();
        let properties = source.as_ref().and_then(|schema| schema.get("properties")?.as_object());
        properties.into_iter().flat_map(Object::keys).map(str::to_owned).collect()
    }

    pub fn required_parameters(&self) -> Vec<String> {
        let source = self.json_schema();
        let required = source.as_ref().and_then(|schema| schema.get("required")).and_then(Value::as_array);
        required.unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Catalogue {
    pub fn tool(&self, name: &str) -> Option<&CatalogueTool> {
        self.tools.iter().find(|tool| tool.name.as_str() == name)
    }

    pub fn entry(&self, tool: &str, capability: &str) -> Option<&CatalogueEntry> {
        self.tool(tool)?.entry(capability)
    }

    /// The catalogue without internal and withheld capabilities, as planners and agents may see it.
    #[must_use]
    pub fn without_internal(&self) -> Self {
        self.with_capabilities(|_, entry| entry.is_visible())
    }

    /// The catalogue with only the capabilities of these keys (`tool/capability`).
    #[must_use]
    pub fn restricted_to(&self, keys: &[String]) -> Self {
        self.with_capabilities(|tool, entry| keys.contains(&tool.key(entry)))
    }

    fn with_capabilities(&self, is_kept: impl Fn(&CatalogueTool, &CatalogueEntry) -> bool) -> Self {
        let tools = self.tools.iter().map(|tool| CatalogueTool {
            capabilities: tool.capabilities.iter().filter(|entry| is_kept(tool, entry)).cloned().collect(),
            name: tool.name.clone(),
            description: tool.description.clone(),
        });
        Self { tools: tools.filter(|tool| !tool.capabilities.is_empty()).collect() }
    }
}

impl CatalogueTool {
    pub fn entry(&self, capability: &str) -> Option<&CatalogueEntry> {
        self.capabilities.iter().find(|entry| entry.capability.name.as_str() == capability)
    }

    /// The capabilities that planners may see: all but those that are internal or withheld.
    pub fn visible_capabilities(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.capabilities.iter().filter(|entry| entry.is_visible())
    }

    /// The key of a capability of this tool in the catalogue: `tool/capability`.
    pub fn key(&self, entry: &CatalogueEntry) -> String {
        format!("{}/{}", self.name, entry.capability.name)
    }
}
