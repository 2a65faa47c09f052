//! The declared inputs and outputs of a plan, and its origin.

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
    pub description: Option<String>,
    pub extra: ExtraFields,
}

impl PlanInput {
    /// The JSON Schema of the value: from the type, else from the type of the default, with the allowed values.
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
            type_word: fields.optional("type")?,
            default: fields.take("default"),
            allowed: fields.or_default("enum")?,
            description: fields.optional("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .optional("type", &self.type_word)
            .optional("default", &self.default)
            .with_some("enum", (!self.allowed.is_empty()).then(|| self.allowed.clone()))
            .optional("description", &self.description)
            .finish()
    }
}

wire!(PlanInput);

/// The origin of a plan. It is kept as information only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PlanMode {
    /// `autonomous`: a model wrote the plan for the request.
    Autonomous,
    /// `workflow`: the plan existed before the request.
    Workflow,
    /// A mode that the protocol does not define, as written.
    Other(String),
}

impl PlanMode {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Autonomous => "autonomous",
            Self::Workflow => "workflow",
            Self::Other(word) => word,
        }
    }
}

impl Wire for PlanMode {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        String::read(value, path).map(Self::from)
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }
}

impl From<String> for PlanMode {
    fn from(word: String) -> Self {
        match word.as_str() {
            "autonomous" => Self::Autonomous,
            "workflow" => Self::Workflow,
            _ => Self::Other(word),
        }
    }
}

/// A declared output of a plan: an expression, and what its value must be.
///
/// In JSON it is the text of the expression, or an object with `value`, `type` and `description`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOutput {
    pub value: String,
    /// The type, in the words of [`for_type`]; any type if there is none.
    pub type_word: Option<String>,
    pub description: Option<String>,
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
            return String::read(value, path).map(Self::from);
        }
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            value: fields.required("value", "a string")?,
            type_word: fields.optional("type")?,
            description: fields.optional("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        if *self == Self::from(self.value.as_str()) {
            return self.value.as_str().into();
        }
        ObjectWriter::new(&self.extra)
            .required("value", &self.value)
            .optional("type", &self.type_word)
            .optional("description", &self.description)
            .finish()
    }
}

wire!(PlanOutput);
