//! Business keys: the parameters that identify a deed, so that it is done once, whoever asks for it.

use serde::{Deserialize, Serialize};

use crate::shape::{ActualShape, ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Number, Object, Path, Value, exact};

/// The window of a key that names none: 24 hours.
const DEFAULT_WINDOW_S: u64 = 24 * 60 * 60;

/// Which parameters of a capability identify a deed, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRule {
    /// The parameters, each a name or a path like `price.amount`. There is at least one.
    pub fields: Vec<String>,
    /// How long after a deed an equal call is the same deed, in seconds.
    pub window_s: u64,
    pub extra: ExtraFields,
}

/// The business key of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusinessKey {
    /// The same for all calls of one deed: a digest of the tool, the capability and the values.
    pub id: String,
    /// The values that identify the deed, by field.
    #[serde(with = "exact")]
    pub values: Object,
    /// How long after the deed an equal call is the same deed, in milliseconds.
    pub window_ms: u64,
}

impl KeyRule {
    /// A rule with the default window of 24 hours.
    pub fn new(fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        Self { fields, window_s: DEFAULT_WINDOW_S, extra: ExtraFields::default() }
    }

    /// The values that identify the deed of a call, sorted by field. Fails with the first field that has no value: a missing
    /// value, or null, does not tell one deed from another.
    pub fn values(&self, parameters: &Object) -> Result<Object, &str> {
        let mut fields: Vec<&str> = self.fields.iter().map(String::as_str).collect();
        fields.sort_unstable();
        let mut values = Object::new();
        for field in fields {
            let value = lookup(parameters, field).filter(|value| !value.is_null()).ok_or(field)?;
            values.insert(field, value.clone());
        }
        Ok(values)
    }

    /// The first field that a schema of the parameters does not have, with the names that it has in its place.
    pub fn unknown_field(&self, schema: &Value) -> Option<(&str, Vec<String>)> {
        self.fields.iter().find_map(|field| Some((field.as_str(), names_instead(schema, field, "")?)))
    }
}

/// The value at a path like `price.amount`. A parameter whose name contains the dot comes first.
fn lookup<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    object.get(path).or_else(|| {
        let (name, rest) = path.split_once('.')?;
        lookup(object.get(name)?.as_object()?, rest)
    })
}

/// The paths that a schema has where `path` leads to none; `None` if it may lead to a value. A part of the schema that lists no
/// properties, such as a reference, is not followed.
fn names_instead(schema: &Value, path: &str, before: &str) -> Option<Vec<String>> {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|object| !object.is_empty())?;
    if properties.contains_key(path) {
        return None;
    }
    let inner = path.split_once('.').and_then(|(name, rest)| Some((name, properties.get(name)?, rest)));
    match inner {
        Some((name, schema, rest)) => names_instead(schema, rest, &format!("{before}{name}.")),
        None => Some(properties.keys().map(|name| format!("{before}{name}")).collect()),
    }
}

impl Wire for KeyRule {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        let names: Vec<String> = fields.or_default("fields")?;
        if names.is_empty() {
            return Err(ShapeError::absent(path.key("fields"), "at least one name of a parameter"));
        }
        let window_s = fields.read("window_s", |value, path| seconds(&value, path))?.unwrap_or(DEFAULT_WINDOW_S);
        Ok(Self { fields: names, window_s, extra: fields.finish() })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .or_default("fields", &self.fields)
            .with_default("window_s", DEFAULT_WINDOW_S, self.window_s)
            .finish()
    }
}

wire!(KeyRule);

fn seconds(value: &Value, path: &Path) -> Result<u64, ShapeError> {
    let seconds = value.as_number().and_then(Number::as_u64).filter(|seconds| *seconds > 0);
    seconds.ok_or_else(|| ShapeError {
        path: path.clone(),
        expected: "a whole number of seconds above 0",
        found: ActualShape::UnknownWord(value.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(fields: &[&str]) -> KeyRule {
        KeyRule::new(fields.iter().copied())
    }

    fn object(text: &str) -> Object {
        Value::parse(text).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn a_field_without_a_value_is_named() {
        let rule = rule(&["order_id", "price.amount"]);
        for (parameters, missing) in [
            (r#"{"price": {"amount": 1}}"#, "order_id"),
            (r#"{"order_id": null, "price": {"amount": 1}}"#, "order_id"),
            (r#"{"order_id": 7, "price": {}}"#, "price.amount"),
            (r#"{"order_id": 7, "price": 3}"#, "price.amount"),
        ] {
            assert_eq!(rule.values(&object(parameters)), Err(missing), "{parameters}");
        }
    }

    #[test]
    fn the_order_of_the_fields_does_not_matter() {
        let parameters = object(r#"{"b": 1, "a": false}"#);
        assert_eq!(rule(&["b", "a"]).values(&parameters), rule(&["a", "b"]).values(&parameters));
    }

    #[test]
    fn a_parameter_whose_name_contains_a_dot_is_found() {
        let found = rule(&["a.b"]).values(&object(r#"{"a.b": 1, "a": {"b": 2}}"#)).unwrap();
        assert_eq!(found.to_string(), r#"{"a.b":1}"#);
    }

    #[test]
    fn a_field_that_the_schema_does_not_have_is_found() {
        let schema =
            r#"{"properties": {"order_id": {}, "price": {"properties": {"amount": {}}}, "who": {"$ref": "x"}}}"#;
        let schema = Value::parse(schema).unwrap();
        let instead = |fields: &[&str]| rule(fields).unknown_field(&schema).map(|(_, names)| names.join(" "));
        assert_eq!(instead(&["order_id", "price", "price.amount", "who.id"]), None);
        assert_eq!(instead(&["order_id", "order"]).as_deref(), Some("order_id price who"));
        assert_eq!(instead(&["price.amont"]).as_deref(), Some("price.amount"));
        assert_eq!(rule(&["x"]).unknown_field(&Value::parse("{}").unwrap()), None, "nothing is known");
    }

    #[test]
    fn a_rule_is_read_from_what_it_writes_and_needs_a_field() {
        for text in [r#"{"fields":["a"],"window_s":60}"#, r#"{"fields":["a","b.c"]}"#] {
            let read = KeyRule::from_value(&Value::parse(text).unwrap()).unwrap();
            assert_eq!(read.to_value().to_string(), text);
        }
        for (text, error) in [
            (r#"{"fields": []}"#, "`$.fields`: expected at least one name of a parameter, found nothing"),
            (r#"{"window_s": 5}"#, "`$.fields`: expected at least one name of a parameter, found nothing"),
            (
                r#"{"fields": ["a"], "window_s": 0}"#,
                "`$.window_s`: expected a whole number of seconds above 0, found `0`",
            ),
            (
                r#"{"fields": ["a"], "window_s": "1h"}"#,
                "`$.window_s`: expected a whole number of seconds above 0, found `\"1h\"`",
            ),
        ] {
            let refused = KeyRule::from_value(&Value::parse(text).unwrap()).unwrap_err();
            assert_eq!(refused.to_string(), error);
        }
    }
}
