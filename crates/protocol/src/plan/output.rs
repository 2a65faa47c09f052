//! The declared outputs of a plan.

use crate::schema::for_type;
use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, text, wire};
use crate::{Object, Path, Value};

/// A declared output of a plan: an expression, and what its value must be.
///
/// In JSON it is the text of the expression, or an object with `value`, `type` and `description`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOutput {
    /// The expression over the results of steps and the inputs.
    pub value: String,
    /// The type, in the words of [`for_type`]; any type if there is none.
    pub type_word: Option<String>,
    /// A description for people and models.
    pub description: Option<String>,
    /// Fields that the protocol does not define.
    pub extra: ExtraFields,
}

impl PlanOutput {
    /// The JSON Schema of the value; `None` if every value is allowed.
    pub fn schema(&self) -> Option<Object> {
        self.type_word.as_deref().map(for_type)
    }
}

impl From<String> for PlanOutput {
    fn from(value: String) -> Self {
        Self { value, ..Self::default() }
    }
}

impl From<&str> for PlanOutput {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

impl Wire for PlanOutput {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        if value.as_object().is_none() {
            return text(value, path).map(Self::from);
        }
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            value: fields.require_text("value")?,
            type_word: fields.text("type")?,
            description: fields.text("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        if *self == Self::from(self.value.as_str()) {
            return self.value.as_str().into();
        }
        ObjectWriter::new(&self.extra)
            .with("value", self.value.as_str())
            .with_some("type", self.type_word.as_deref())
            .with_some("description", self.description.as_deref())
            .finish()
    }
}

wire!(PlanOutput);
