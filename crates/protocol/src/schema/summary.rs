//! The hints about all fields of an input or output.

use std::collections::HashSet;

use super::FieldHint;
use crate::shape::{ExtraFields, wire_object};
use crate::{Object, Value};

/// The hints about the fields of an input or output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub required: Vec<FieldHint>,
    pub optional: Vec<FieldHint>,
    pub extra: ExtraFields,
}

/// Whether a schema allows fields without a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdditionalProperties {
    /// `additionalProperties` is false.
    Forbidden,
    /// `additionalProperties` is absent.
    Allowed,
}

impl Summary {
    /// The JSON Schema of an object with these fields, in the order of the hints, required ones first.
    ///
    /// The first of several hints with the same name counts.
    ///
    /// ```
    /// use reknit_protocol::schema::{FieldHint, AdditionalProperties, Summary};
    ///
    /// let latitude = FieldHint { example: Some("35.6".into()), ..FieldHint::new("lat", "float64") };
    /// let summary = Summary { required: vec![latitude], ..Summary::default() };
    /// assert_eq!(
    ///     summary.to_schema(AdditionalProperties::Allowed).to_string(),
    ///     r#"{"type":"object","properties":{"lat":{"type":"number","examples":[35.6]}},"required":["lat"]}"#,
    /// );
    /// ```
    pub fn to_schema(&self, additional: AdditionalProperties) -> Value {
        let mut properties = Object::new();
        for hint in self.required.iter().chain(&self.optional) {
            if !properties.contains_key(&hint.name) {
                properties.insert(hint.name.as_str(), hint.to_schema());
            }
        }
        let mut schema = Object::from([("type", "object".into()), ("properties", properties.into())]);
        if !self.required.is_empty() {
            // Each name once, as JSON Schema requires.
            let mut seen = HashSet::new();
            let names = self.required.iter().map(|hint| hint.name.as_str());
            schema.insert("required", names.filter(|name| seen.insert(*name)).map(Value::from).collect::<Vec<_>>());
        }
        if additional == AdditionalProperties::Forbidden {
            schema.insert("additionalProperties", false);
        }
        Value::Object(schema)
    }

    /// The keys that no reader uses, as paths: `requred`, `required[0].enum`.
    pub fn unknown_keys(&self) -> Vec<String> {
        let own = self.extra.iter().map(|(key, _)| key.to_owned());
        let lists = [("required", &self.required), ("optional", &self.optional)];
        let of_hints = lists.into_iter().flat_map(|(list, hints)| {
            hints
                .iter()
                .enumerate()
                .flat_map(move |(index, hint)| hint.extra.iter().map(move |(key, _)| format!("{list}[{index}].{key}")))
        });
        own.chain(of_hints).collect()
    }
}

wire_object! {
    Summary {
        required: "required" or_default,
        optional: "optional" or_default,
    }
}
