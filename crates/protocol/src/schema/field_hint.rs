//! What a tool says about one field.

use super::{example, for_type};
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{Object, Path, Value};

/// What a tool says about one field of its input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldHint {
    /// The key.
    pub name: String,
    /// The type, in the tool's own words; see [`for_type`]. Empty if the tool does not say. `type` on the wire.
    pub type_word: String,
    /// A value that fits. On the wire it is mostly a text, whatever the type.
    pub example: Option<Value>,
    /// What the field is for.
    pub description: Option<String>,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl FieldHint {
    /// A hint that says no more than name and type.
    pub fn new(name: impl Into<String>, type_word: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            type_word: type_word.into(),
            example: None,
            description: None,
            extra: Extra::default(),
        }
    }

    /// Adds an example.
    #[must_use]
    pub fn example(mut self, example: impl Into<Value>) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Adds a description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The JSON Schema of the field: type, description, and the example under `examples`.
    ///
    /// The example becomes a value of the type where its text is exactly one: `"35.6"` for a number gives `35.6`. It
    /// never becomes a `default`: nobody asked for London.
    pub fn to_schema(&self) -> Object {
        let mut schema = for_type(&self.type_word);
        if let Some(description) = &self.description {
            schema.insert("description", description.as_str());
        }
        if let Some(example) = &self.example {
            let example = example::typed(example, &schema);
            schema.insert("examples", vec![example]);
        }
        schema
    }
}

impl Wire for FieldHint {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            name: fields.require_text("name")?,
            type_word: fields.text("type")?.unwrap_or_default(),
            example: fields.take("example"),
            description: fields.text("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("name", self.name.as_str())
            .with_unless("type", "", self.type_word.as_str())
            .with_some("example", self.example.clone())
            .with_some("description", self.description.as_deref())
            .finish()
    }
}

wire!(FieldHint);
