//! What a plan asks for when it is run.

use crate::schema::for_type;
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{Object, Path, Value};

/// A value that is given to a plan when it is run: `{{inputs.shares}}`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// Its type, a word that [`for_type`] knows. If there is none, it has the type of the default.
    pub type_word: Option<String>,
    /// What it is if nothing is given; without one something must be given.
    pub default: Option<Value>,
    /// What it is for, in words.
    pub description: Option<String>,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl Input {
    /// The JSON Schema of its values: of its type, or of the type of its default, or of anything.
    ///
    /// ```
    /// use reknit_protocol::{Input, Value};
    ///
    /// let input = Input::from_value(&Value::parse(r#"{"default": 100}"#)?)?;
    /// assert_eq!(input.schema().to_string(), r#"{"type":"number"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn schema(&self) -> Object {
        let word = self.type_word.as_deref().or_else(|| self.default.as_ref().map(|value| value.kind().as_str()));
        word.map(for_type).unwrap_or_default()
    }
}

impl Wire for Input {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            type_word: fields.text("type")?,
            default: fields.take("default"),
            description: fields.text("description")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with_some("type", self.type_word.as_deref())
            .with_some("default", self.default.clone())
            .with_some("description", self.description.as_deref())
            .finish()
    }
}

wire!(Input);
