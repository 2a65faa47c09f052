//! What tools there are: a snapshot that a run keeps to its end.

mod listing;
mod search;

pub use listing::ListingError;

use std::sync::{Arc, OnceLock};

use reknit_protocol::{AgentName, Capability, Value, exact};
use reknit_salvage::{Schema, SchemaError};
use serde::{Deserialize, Serialize};

/// The tools a run may use. It never changes; a run that began before a tool came does not see it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// The tools.
    pub tools: Vec<Tool>,
}

/// One tool or agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: AgentName,
    /// What it is for, in words; empty if it does not say.
    pub description: String,
    /// What it can do.
    pub capabilities: Vec<Entry>,
}

/// One capability with the schema of its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// As the tool announces it.
    #[serde(with = "exact")]
    pub capability: Capability,
    /// The JSON Schema of the parameters that the tool publishes, if it does.
    #[serde(with = "exact::option", default)]
    pub schema: Option<Value>,
    #[serde(skip)]
    compiled: OnceLock<Option<Arc<Schema>>>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.capability == other.capability && self.schema == other.schema
    }
}

impl Entry {
    /// A capability with its published schema. Fails if the schema is none.
    pub fn new(capability: Capability, schema: Option<Value>) -> Result<Self, SchemaError> {
        let entry = Self { capability, schema, compiled: OnceLock::new() };
        if let Some(source) = entry.source() {
            let compiled = Schema::compile(&source)?;
            // The cell is new, so setting it cannot fail.
            let _ = entry.compiled.set(Some(Arc::new(compiled)));
        }
        Ok(entry)
    }

    /// The schema of the parameters: the published one, else what the hints say.
    pub fn source(&self) -> Option<Value> {
        self.schema.clone().or_else(|| self.capability.input_schema())
    }

    /// The schema, compiled once. `None` if the tool says nothing about its parameters.
    pub fn compiled(&self) -> Option<Arc<Schema>> {
        self.compiled
            // It was compiled before it came into the catalogue, so a schema that is none cannot be here.
            .get_or_init(|| self.source().and_then(|source| Schema::compile(&source).ok()).map(Arc::new))
            .clone()
    }

    /// The names of the parameters, as far as the schema declares them.
    pub fn parameters(&self) -> Vec<String> {
        let source = self.source();
        let properties = source.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
        properties.map(|object| object.iter().map(|(name, _)| name.to_owned()).collect()).unwrap_or_default()
    }

    /// The names of the parameters that must be there.
    pub fn required(&self) -> Vec<String> {
        let source = self.source();
        let required = source.as_ref().and_then(|schema| schema.get("required")).and_then(Value::as_array);
        required.unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Catalogue {
    /// The tool of this name.
    pub fn tool(&self, agent: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name.as_str() == agent)
    }

    /// A capability of a tool.
    pub fn entry(&self, agent: &str, capability: &str) -> Option<&Entry> {
        self.tool(agent)?.entry(capability)
    }

    /// What planners and agents may see.
    pub fn without_internal(&self) -> Self {
        let tools =
            self.tools.iter().map(|tool| Tool { capabilities: tool.shown().cloned().collect(), ..tool.clone() });
        Self { tools: tools.filter(|tool| !tool.capabilities.is_empty()).collect() }
    }

    /// The capabilities of these keys (`tool/capability`) and no others.
    pub fn only(&self, keys: &[String]) -> Self {
        let tools = self.tools.iter().map(|tool| Tool {
            capabilities: tool.capabilities.iter().filter(|entry| keys.contains(&tool.key(entry))).cloned().collect(),
            ..tool.clone()
        });
        Self { tools: tools.filter(|tool| !tool.capabilities.is_empty()).collect() }
    }
}

impl Tool {
    /// A capability of this tool.
    pub fn entry(&self, capability: &str) -> Option<&Entry> {
        self.capabilities.iter().find(|entry| entry.capability.name.as_str() == capability)
    }

    /// The capabilities that planners may see.
    pub fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.capabilities.iter().filter(|entry| !entry.capability.internal)
    }

    /// What a capability of this tool is called among all: `tool/capability`.
    pub fn key(&self, entry: &Entry) -> String {
        format!("{}/{}", self.name, entry.capability.name)
    }
}
