//! The keywords of schemas, and what their values must be.

use std::collections::HashSet;

use reknit_protocol::{Number, Value};

pub(super) enum KeywordShape {
    Schema,
    Schemas,
    SchemaMap,
    Items,
    Type,
    Pattern,
    Example,
    Discriminator,
    Exclusive,
    /// Anything else: whether a value is valid, and in words what is expected.
    Data(fn(&Value) -> bool, &'static str),
}

/// The shape of a keyword; `None` for one without effect.
pub(super) fn shape(keyword: &str) -> Option<KeywordShape> {
    use KeywordShape::{Data, Discriminator, Example, Exclusive, Items, Pattern, Schema, SchemaMap, Schemas, Type};
    Some(match keyword {
        "type" => Type,
        "items" => Items,
        "properties" | "patternProperties" | "dependentSchemas" => SchemaMap,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Schemas,
        "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems" => Schema,
        "pattern" => Pattern,
        "example" => Example,
        "discriminator" => Discriminator,
        "exclusiveMinimum" | "exclusiveMaximum" => Exclusive,
        "title" | "description" | "format" | "contentEncoding" | "contentMediaType" => {
            Data(|value| value.as_str().is_some(), "a text")
        }
        "minimum" | "maximum" => Data(|value| value.as_number().is_some(), "a number"),
        "multipleOf" => {
            Data(|value| value.as_number().is_some_and(|number| *number > Number::from(0)), "a positive number")
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => Data(is_count, "a count"),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => {
            Data(|value| value.as_bool().is_some(), "`true` or `false`")
        }
        "required" => Data(is_texts, "a list of texts"),
        "enum" => Data(|value| value.as_array().is_some_and(|items| !items.is_empty()), "a list of values"),
        "examples" => Data(|value| value.as_array().is_some(), "a list of values"),
        "dependentRequired" => Data(
            |value| value.as_object().is_some_and(|lists| lists.values().all(is_texts)),
            "an object of lists of texts",
        ),
        "default" | "const" => Data(|_| true, "a value"),
        _ => return None,
    })
}

/// Whether a keyword explains a schema and restricts nothing.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "default" | "example" | "examples" | "deprecated")
}

/// The value of a keyword in the form that the draft wants: lists of names have no repetitions.
pub(super) fn cleaned(keyword: &str, value: &Value) -> Value {
    match value {
        Value::Array(items) if keyword == "required" => {
            let mut seen = HashSet::new();
            items.iter().filter(|item| seen.insert(*item)).cloned().collect()
        }
        _ => value.clone(),
    }
}

fn is_count(value: &Value) -> bool {
    value.as_number().is_some_and(|number| number.is_integer() && *number >= Number::from(0))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
}

#[derive(Default)]
pub(super) struct Types {
    pub(super) known: Vec<String>,
    /// As JSON.
    pub(super) unknown: Vec<String>,
}

pub(super) fn types(value: &Value) -> Types {
    let mut types = Types::default();
    let words = value.as_array().unwrap_or(std::slice::from_ref(value));
    for word in words {
        let known = match word.as_str() {
            // A file of Swagger 2 is sent as text.
            Some("file") => "string",
            Some(word @ ("null" | "boolean" | "object" | "array" | "number" | "string" | "integer")) => word,
            _ => {
                types.unknown.push(word.to_string());
                continue;
            }
        };
        if !types.known.iter().any(|earlier| earlier == known) {
            types.known.push(known.to_owned());
        }
    }
    types
}
