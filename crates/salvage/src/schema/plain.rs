//! Plain schemas: those whose keywords this crate checks itself.
//!
//! Most tools publish nothing but types, properties and lists of texts. Such a schema is known to be valid without a look at its
//! meta-schema, and the shapes decide which values fit it. Its validator is compiled when somebody asks what is wrong with a value.

use jsonschema::Draft;
use reknit_protocol::{Object, Value};

use super::Formats;
use super::shape::{Shape, Shapes};
use super::types::SchemaType;
use super::unambiguous_date::is_readable;

/// How deep a plain schema may nest. A value is checked no deeper than its schema, so no large stack is needed.
const MAX_LEVELS: usize = 16;

/// How many keywords, properties and allowed values a plain schema may have, so that every part of it has a shape.
const MAX_PARTS: usize = 10_000;

/// Whether the schema is plain. The answer may be no for any schema; the validator is then compiled with it.
pub(super) fn is_plain(schema: &Value, draft: Draft, formats: Formats) -> bool {
    let has_usual_types = matches!(draft, Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012);
    let mut search = Search { formats, parts: 0 };
    has_usual_types && search.is_plain(schema, 0)
}

struct Search {
    formats: Formats,
    parts: usize,
}

impl Search {
    fn is_plain(&mut self, schema: &Value, level: usize) -> bool {
        let object = match schema {
            Value::Object(object) => object,
            value => return value.as_bool().is_some(),
        };
        self.parts += 1 + object.len();
        level <= MAX_LEVELS
            && self.parts <= MAX_PARTS
            && object.iter().all(|(keyword, value)| self.is_plain_keyword(object, (keyword, value), level))
    }

    /// Whether the keyword is one of those that are checked here, and has a value that every draft allows.
    fn is_plain_keyword(&mut self, object: &Object, (keyword, value): (&str, &Value), level: usize) -> bool {
        match keyword {
            "type" => is_type(value),
            "title" | "description" | "$comment" => value.as_str().is_some(),
            "format" => value.as_str().is_some() && self.formats != Formats::Checked,
            "default" => true,
            "examples" => value.as_array().is_some(),
            "deprecated" | "readOnly" | "writeOnly" => value.as_bool().is_some(),
            "$schema" => level == 0 && value.as_str().is_some(),
            "properties" => value.as_object().is_some_and(|properties| {
                self.parts += properties.len();
                properties.values().all(|schema| self.is_plain(schema, level + 1))
            }),
            "additionalProperties" | "items" => self.is_plain(value, level + 1),
            "required" => value.as_array().is_some_and(|names| {
                self.parts += names.len();
                are_distinct_properties(names, object.get("properties").and_then(Value::as_object))
            }),
            "enum" => value.as_array().is_some_and(|values| {
                self.parts += values.len();
                !values.is_empty() && values.iter().all(|value| matches!(value, Value::String(_) | Value::Null))
            }),
            _ => false,
        }
    }
}

fn is_type(keyword: &Value) -> bool {
    let is_name = |name: &Value| name.as_str().and_then(SchemaType::from_word).is_some();
    match keyword {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_name) && are_distinct(names),
        name => is_name(name),
    }
}

/// Whether all are names of properties, each once.
fn are_distinct_properties(names: &[Value], properties: Option<&Object>) -> bool {
    let is_property = |name: &Value| {
        name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
    };
    names.iter().all(is_property) && are_distinct(names)
}

/// Whether no text is there twice. Long lists count as if one were.
fn are_distinct(names: &[Value]) -> bool {
    const MAX_COMPARED: usize = 64;
    names.len() <= MAX_COMPARED
        && names.iter().enumerate().all(|(index, name)| !names.iter().skip(index + 1).any(|other| other == name))
}

/// Whether the value fits the shape of a plain schema.
pub(super) fn fits(shapes: &Shapes, shape: &Shape, value: &Value) -> bool {
    if !shape.types.accepts(value) {
        return false;
    }
    match value {
        Value::String(text) => {
            shape.allowed.as_ref().is_none_or(|allowed| allowed.contains_text(text))
                && shape.format.as_ref().is_none_or(|format| is_readable(text, format))
        }
        Value::Array(items) => {
            let Some(shape) = shape.array.rest.map(|id| shapes.get(id)) else { return true };
            items.iter().all(|item| fits(shapes, shape, item))
        }
        Value::Object(object) => entries_fit(shapes, shape, object),
        // The types are those of the allowed values, so null is one of these.
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn entries_fit(shapes: &Shapes, shape: &Shape, object: &Object) -> bool {
    let shape = &shape.object;
    let mut required = 0;
    for (key, value) in object {
        let (id, is_required) = match shape.properties.get(key) {
            Some(property) => (Some(property.shape), property.is_required),
            None if shape.is_closed => return false,
            None => (shape.additional, false),
        };
        required += usize::from(is_required);
        if id.is_some_and(|id| !fits(shapes, shapes.get(id), value)) {
            return false;
        }
    }
    required == shape.required
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::*;
    use crate::Schema;

    fn is_plain_text(schema: &str) -> bool {
        is_plain(&Value::parse(schema).expect("JSON"), Draft::Draft202012, Formats::Ignored)
    }

    #[test]
    fn a_schema_of_types_properties_and_texts_is_plain() {
        assert!(is_plain_text(
            r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "description": "An order.",
                "properties": {"unit": {"type": ["string", "null"], "enum": ["kg", null]}, "tags": {"items": {"type": "string"}},
                "day": {"type": "string", "format": "date", "default": 5}}, "required": ["unit"], "additionalProperties": false}"#
        ));
    }

    #[test]
    fn a_schema_with_any_other_keyword_is_not_plain() {
        for schema in [
            r#"{"type": "integer", "minimum": 1}"#,
            r#"{"enum": [1, 2]}"#,
            r##"{"properties": {"a": {"$ref": "#"}}}"##,
            r#"{"required": ["not_described"]}"#,
            r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#,
            r#"{"x-order": 1}"#,
        ] {
            assert!(!is_plain_text(schema), "{schema}");
        }
    }

    #[test]
    fn a_format_that_counts_is_left_to_the_validator() {
        let schema = Value::parse(r#"{"type": "string", "format": "date"}"#).expect("JSON");
        assert!(is_plain(&schema, Draft::Draft202012, Formats::Guide));
        assert!(!is_plain(&schema, Draft::Draft202012, Formats::Checked));
    }

    #[test]
    fn fitting_a_value_to_a_plain_schema_compiles_no_validator() {
        let source = r#"{"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}"#;
        let schema = Schema::compile(&Value::parse(source).expect("JSON")).expect("a valid schema");
        let value = Value::parse(r#"{"days": "3"}"#).expect("JSON");
        assert_eq!(crate::fit(value, &schema).expect("it fits").value.to_string(), r#"{"days":3}"#);
        assert!(!schema.subschemas.has_compiled_root());
        assert_eq!(schema.problems(&Value::parse("{}").expect("JSON")).len(), 1);
        assert!(schema.subschemas.has_compiled_root());
    }

    /// Values that some keyword allows and others do not.
    const VALUES: [&str; 14] = [
        "null",
        "true",
        "1",
        r#""string""#,
        r#""text""#,
        "[]",
        r#"["string"]"#,
        r#"["a", "a"]"#,
        r#"["a"]"#,
        r#"["a", null]"#,
        "{}",
        r#"{"a": true}"#,
        r#"{"a": {"type": "integer"}}"#,
        r#"{"a": 1}"#,
    ];
    const KEYWORDS: &str = "type properties required additionalProperties items enum title description default \
        examples format deprecated readOnly $comment $schema minimum";

    fn any_schema() -> impl Strategy<Value = Value> {
        subsequence(KEYWORDS.split(' ').collect::<Vec<_>>(), 1..4).prop_flat_map(|keywords| {
            let count = keywords.len();
            (Just(keywords), proptest::collection::vec(select(VALUES.to_vec()), count)).prop_map(
                |(keywords, values)| {
                    let parse = |text| Value::parse(text).expect("JSON");
                    Value::Object(
                        keywords
                            .into_iter()
                            .zip(values)
                            .map(|(keyword, value)| (keyword.to_owned(), parse(value)))
                            .collect(),
                    )
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn the_validator_compiles_every_plain_schema_and_agrees(schema in any_schema(), value in select(VALUES.to_vec())) {
            let json = schema.to_serde();
            for draft in [Draft::Draft7, Draft::Draft201909, Draft::Draft202012] {
                if is_plain(&schema, draft, Formats::Ignored) && !json["$schema"].is_string() {
                    let validator = jsonschema::options().with_draft(draft).build(&json);
                    let validator = validator.map_err(|error| TestCaseError::fail(format!("{schema}: {error}")))?;
                    let value = Value::parse(value).expect("JSON");
                    let ours = Schema::compile(&schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
                    prop_assert_eq!(ours.fits(&value), validator.is_valid(&value.to_serde()), "{} under {}", value, schema);
                }
            }
        }
    }
}
