//! The declared inputs of a plan.

use crate::schema::for_type;
use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Object, Path, Value};

/// A declared input of a plan, which steps refer to as `{{inputs.shares}}`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanInput {
    /// The type, in the words of [`for_type`]; the type of the default if there is none.
    pub type_word: Option<String>,
    /// The value to use if the caller gives none; without a default the input is required.
    pub default: Option<Value>,
    /// The values that are allowed (`enum`); empty if every value of the type is.
    pub allowed: Vec<Value>,
    /// A description for people and models.
    pub description: Option<String>,
    /// Fields that the protocol does not define.
    pub extra: ExtraFields,
}

impl PlanInput {
    /// The JSON Schema of the value: from the type, else from the type of the default, with the allowed values.
    ///
    /// ```
    /// use reknit_protocol::{PlanInput, Value};
    ///
    /// let input = PlanInput::from_value(&Value::parse(r#"{"default": 100}"#)?)?;
    /// assert_eq!(input.schema().to_string(), r#"{"type":"number"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn schema(&self) -> Object {
        let word = self.type_word.as_deref().or_else(|| self.default.as_ref().map(|value| value.kind().as_str()));
        let mut schema = word.map(for_type).unwrap_or_default();
        if !self.allowed.is_empty() {
            schema.insert("enum", self.allowed.clone());
        }
        schema
    }
}

impl Wire for PlanInput {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            type_word: fields.text("type")?,
            default: fields.take("default"),
            allowed: fields.list("enum", |value, _| Ok(value))?,
            description: fields.text("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .with_some("type", self.type_word.as_deref())
            .with_some("default", self.default.clone())
            .with_some("enum", (!self.allowed.is_empty()).then(|| self.allowed.clone()))
            .with_some("description", self.description.as_deref())
            .finish()
    }
}

wire!(PlanInput);
