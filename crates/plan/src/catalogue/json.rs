//! The catalogue as JSON in files.
//!
//! ```text
//! {"<tool>": [<capability>, ...], ...}
//! ```
//!
//! The value of a tool is its answer to `GET /api/capabilities`: a list, or an object with `capabilities` and `description`.
//! A capability may have a `schema`, the JSON Schema of its parameters; without one its parameter hints count.

use reknit_protocol::{Capability, Object, ShapeError, Value};
use reknit_salvage::SchemaError;

use super::{Catalogue, CatalogueEntry, CatalogueTool};

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("expected an object with a tool under each key, found {found}")]
    NotAnObject { found: &'static str },
    #[error("`{tool}`: expected a list of capabilities, found {found}")]
    NotAList { tool: String, found: &'static str },
    #[error("`{tool}`: a capability cannot be read")]
    Capability { tool: String, source: ShapeError },
    #[error("`{tool}`: the schema of `{capability}` is not a valid JSON Schema")]
    Schema { tool: String, capability: String, source: SchemaError },
}

impl Catalogue {
    /// Reads a catalogue: `{"<tool>": [<capability>, ...]}`, each as the tool answers to `GET /api/capabilities`, with the
    /// JSON Schema of its parameters as `schema` if it has one.
    ///
    /// ```
    /// use reknit_plan::Catalogue;
    /// use reknit_protocol::Value;
    ///
    /// let text = r#"{"shop": [{"name": "price", "effect": "read", "schema": {"type": "object", "required": ["of"]}}]}"#;
    /// let catalogue = Catalogue::from_value(&Value::parse(text)?)?;
    /// assert!(catalogue.entry("shop", "price").is_some());
    /// assert_eq!(Catalogue::from_value(&catalogue.to_value())?, catalogue);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_value(value: &Value) -> Result<Self, CatalogueError> {
        let Value::Object(object) = value else {
            return Err(CatalogueError::NotAnObject { found: value.kind().with_article() });
        };
        let tools = object.iter().map(|(name, listed)| read_tool(name, listed));
        Ok(Self { tools: tools.collect::<Result<_, _>>()? })
    }

    pub fn to_value(&self) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let capabilities: Vec<Value> = tool.capabilities.iter().map(write_entry).collect();
            let mut object = Object::from([("capabilities", Value::Array(capabilities))]);
            if !tool.description.is_empty() {
                object.insert("description", tool.description.as_str());
            }
            (tool.name.to_string(), Value::Object(object))
        });
        Value::Object(tools.collect())
    }
}

fn read_tool(name: &str, listed: &Value) -> Result<CatalogueTool, CatalogueError> {
    let list = listed.as_array().or_else(|| listed.get("capabilities")?.as_array());
    let list =
        list.ok_or_else(|| CatalogueError::NotAList { tool: name.to_owned(), found: listed.kind().with_article() })?;
    let description = listed.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let capabilities = list.iter().map(|value| read_entry(name, value)).collect::<Result<_, _>>()?;
    Ok(CatalogueTool { name: name.into(), description, capabilities })
}

fn read_entry(tool: &str, value: &Value) -> Result<CatalogueEntry, CatalogueError> {
    let mut value = value.clone();
    let schema = value.as_object_mut().and_then(|object| object.remove("schema"));
    let capability =
        Capability::try_from(value).map_err(|source| CatalogueError::Capability { tool: tool.to_owned(), source })?;
    let name = capability.name.to_string();
    CatalogueEntry::new(capability, schema).map_err(|source| CatalogueError::Schema {
        tool: tool.to_owned(),
        capability: name,
        source,
    })
}

fn write_entry(entry: &CatalogueEntry) -> Value {
    let mut value = entry.capability.to_value();
    if let (Some(object), Some(schema)) = (value.as_object_mut(), entry.published_schema()) {
        object.insert("schema", schema);
    }
    value
}
