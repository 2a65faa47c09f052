//! Field hints for a whole input or output.

use std::collections::HashSet;

use super::FieldHint;
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{Object, Path, Value};

/// The fields of an input or output, as far as a tool has hinted at them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Fields that must be there.
    pub required: Vec<FieldHint>,
    /// Fields that may be there.
    pub optional: Vec<FieldHint>,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

/// What a schema says about fields nobody hinted at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherFields {
    /// They do not belong there: `additionalProperties` is false.
    Refused,
    /// There may be some: nothing is said.
    Allowed,
}

impl Summary {
    /// The JSON Schema of an object with the hinted fields, in the order of the hints, required ones first.
    ///
    /// If a name is hinted at twice the first hint describes it.
    ///
    /// ```
    /// use reknit_protocol::schema::{FieldHint, OtherFields, Summary};
    ///
    /// let latitude = FieldHint::new("lat", "float64").example("35.6");
    /// let summary = Summary { required: vec![latitude], ..Summary::default() };
    /// assert_eq!(
    ///     summary.to_schema(OtherFields::Allowed).to_string(),
    ///     r#"{"type":"object","properties":{"lat":{"type":"number","examples":[35.6]}},"required":["lat"]}"#,
    /// );
    /// ```
    pub fn to_schema(&self, other_fields: OtherFields) -> Value {
        let mut properties = Object::new();
        for hint in self.required.iter().chain(&self.optional) {
            if !properties.contains_key(&hint.name) {
                properties.insert(hint.name.as_str(), hint.to_schema());
            }
        }
        let mut schema = Object::from([("type", "object".into()), ("properties", properties.into())]);
        if !self.required.is_empty() {
            schema.insert("required", self.required_names());
        }
        if other_fields == OtherFields::Refused {
            schema.insert("additionalProperties", false);
        }
        Value::Object(schema)
    }

    /// Each name once, as JSON Schema demands.
    fn required_names(&self) -> Vec<Value> {
        let mut seen = HashSet::new();
        let first_of_its_name = self.required.iter().filter(|hint| seen.insert(hint.name.as_str()));
        first_of_its_name.map(|hint| hint.name.as_str().into()).collect()
    }
}

impl Wire for Summary {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            required: fields.list("required", FieldHint::read)?,
            optional: fields.list("optional", FieldHint::read)?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        let list = |hints: &[FieldHint]| hints.iter().map(Value::from).collect::<Vec<_>>();
        Writer::new(&self.extra)
            .with_unless("required", Vec::new(), list(&self.required))
            .with_unless("optional", Vec::new(), list(&self.optional))
            .finish()
    }
}

wire!(Summary);
