//! Translation of a JSON Schema into the part of it that a provider accepts.
//!
//! The translation may allow more than the schema does, because whoever reads the answer checks it against the whole schema.
//! It never allows an object that the schema describes but cannot name the properties of: such a schema has no translation.

mod nullable;
mod references;

use reknit_protocol::{Object, Value};

use self::nullable::nullable;
use self::references::{is_recursive, reference};

/// Which part of JSON Schema a provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Closed objects with all properties required, and bounds of numbers, texts and lists.
    OpenAi,
    /// The same, without bounds.
    Azure,
    /// Closed objects; no recursion, and few optional properties and unions.
    Anthropic,
    /// Any object; other keywords are ignored by the server or refused.
    Gemini,
}

/// Nesting beyond this is refused by the provider.
const MAX_OPENAI_DEPTH: usize = 10;
/// More properties are refused by the provider.
const MAX_OPENAI_PROPERTIES: usize = 5_000;
/// More optional properties, in all objects together, are refused by the provider.
const MAX_ANTHROPIC_OPTIONAL: usize = 24;
/// More properties with several types are refused by the provider.
const MAX_ANTHROPIC_UNIONS: usize = 16;

/// The schema in a dialect; none if the dialect cannot express it.
pub(crate) fn translate(dialect: Dialect, schema: &Value) -> Option<Value> {
    let mut translator = Translator { dialect, properties: 0, optional: 0, unions: 0 };
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    if dialect == Dialect::Gemini {
        return translator.schema(schema, 0);
    }
    if !is_object || (dialect == Dialect::Anthropic && is_recursive(schema)) {
        return None;
    }
    let translated = translator.schema(schema, 0)?;
    let fits = match dialect {
        Dialect::OpenAi | Dialect::Azure => translator.properties <= MAX_OPENAI_PROPERTIES,
        Dialect::Anthropic => {
            translator.optional <= MAX_ANTHROPIC_OPTIONAL && translator.unions <= MAX_ANTHROPIC_UNIONS
        }
        Dialect::Gemini => true,
    };
    fits.then_some(translated)
}

struct Translator {
    dialect: Dialect,
    properties: usize,
    optional: usize,
    unions: usize,
}

impl Translator {
    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let schema = match schema {
            Value::Object(schema) => merge_single_all_of(schema),
            // Any value.
            Value::Bool(true) if self.dialect == Dialect::Gemini => return Some(Object::new().into()),
            _ => return None,
        };
        if matches!(self.dialect, Dialect::OpenAi | Dialect::Azure) && depth > MAX_OPENAI_DEPTH {
            return None;
        }
        if let Some(target) = schema.get("$ref") {
            // No keyword may stand beside it.
            let mut only_reference = Object::from([("$ref", reference(target.as_str()?)?.into())]);
            self.insert_definitions(&mut only_reference, &schema, depth)?;
            return Some(only_reference.into());
        }
        let mut translated = Object::new();
        for key in ["title", "description"] {
            if let Some(text) = schema.get(key).and_then(Value::as_str) {
                translated.insert(key, text);
            }
        }
        self.insert_type_and_values(&mut translated, &schema)?;
        self.insert_constraints(&mut translated, &schema);
        self.insert_object(&mut translated, &schema, depth)?;
        self.insert_items(&mut translated, &schema, depth)?;
        self.insert_alternatives(&mut translated, &schema, depth)?;
        self.insert_definitions(&mut translated, &schema, depth)?;
        Some(translated.into())
    }

    /// The type, which most dialects demand, and the allowed values.
    fn insert_type_and_values(&mut self, translated: &mut Object, schema: &Object) -> Option<()> {
        let values = schema.get("enum").and_then(Value::as_array).map(<[Value]>::to_vec);
        let constant = schema.get("const").cloned();
        let values = values.or_else(|| constant.clone().map(|value| vec![value]));
        let is_simple = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
        if self.dialect != Dialect::Gemini && !values.iter().flatten().all(is_simple) {
            return None;
        }
        let types = match schema.get("type") {
            Some(types) => Some(types.clone()),
            None => inferred_type(schema, values.as_deref()),
        };
        let has_alternatives = ["anyOf", "oneOf"].iter().any(|key| schema.contains_key(key));
        match types {
            Some(types) => {
                self.unions += usize::from(types.as_array().is_some());
                translated.insert("type", types);
            }
            None if has_alternatives || self.dialect == Dialect::Gemini => {}
            None => return None,
        }
        match (constant, values) {
            (Some(constant), _) if self.dialect != Dialect::Gemini => {
                translated.insert("const", constant);
            }
            (_, Some(values)) => {
                translated.insert("enum", values);
            }
            (_, None) => {}
        }
        Some(())
    }

    /// Keeps the constraints that the dialect knows, and tells the model about the others.
    fn insert_constraints(&self, translated: &mut Object, schema: &Object) {
        let mut unknown = Vec::new();
        for (key, value) in schema {
            if !CONSTRAINTS.contains(&key) {
                continue;
            }
            if self.knows(key, value) {
                translated.insert(key, value.clone());
            } else {
                unknown.push(format!("{key}: {value}"));
            }
        }
        if !unknown.is_empty() {
            let described = translated.get("description").and_then(Value::as_str).unwrap_or_default();
            let description = format!("{described} ({})", unknown.join(", "));
            translated.insert("description", description.trim_start());
        }
    }

    fn knows(&self, key: &str, value: &Value) -> bool {
        let format_is_in = |known: &[&str]| value.as_str().is_some_and(|format| known.contains(&format));
        match (self.dialect, key) {
            (Dialect::OpenAi, "format") => format_is_in(COMMON_FORMATS),
            // The provider's patterns have no groups with a question mark, such as look-ahead.
            (Dialect::OpenAi, "pattern") => value.as_str().is_some_and(|pattern| !pattern.contains("(?")),
            (Dialect::OpenAi, key) => !matches!(key, "minLength" | "maxLength" | "uniqueItems"),
            (Dialect::Anthropic, "format") => format_is_in(COMMON_FORMATS) || format_is_in(&["uri"]),
            (Dialect::Anthropic, "minItems") => matches!(value.to_string().as_str(), "0" | "1"),
            (Dialect::Azure | Dialect::Anthropic, _) => false,
            (Dialect::Gemini, key) => matches!(key, "format" | "minItems" | "maxItems" | "minimum" | "maximum"),
        }
    }

    fn insert_object(&mut self, translated: &mut Object, schema: &Object, depth: usize) -> Option<()> {
        if !may_be(translated, "object") {
            return Some(());
        }
        let additional = schema.get("additionalProperties");
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|required| required.as_str() == Some(name));
        if self.dialect == Dialect::Gemini {
            if let Some(additional) = additional {
                let additional = if additional.as_bool().is_some() {
                    Some(additional.clone())
                } else {
                    self.schema(additional, depth + 1)
                };
                translated.insert("additionalProperties", additional?);
            }
        } else {
            // An object with other properties than the named ones cannot be expressed.
            let is_open = match additional {
                None => properties.is_none_or(Object::is_empty),
                Some(additional) => additional.as_bool() != Some(false),
            };
            if is_open || schema.contains_key("patternProperties") {
                return None;
            }
            translated.insert("additionalProperties", false);
        }
        let Some(properties) = properties else {
            if self.dialect != Dialect::Gemini {
                translated.insert("properties", Object::new());
                translated.insert("required", Vec::<Value>::new());
            }
            return Some(());
        };
        let all_required = matches!(self.dialect, Dialect::OpenAi | Dialect::Azure);
        let mut members = Object::new();
        let mut names = Vec::new();
        for (name, property) in properties {
            let property = self.schema(property, depth + 1)?;
            self.properties += 1;
            if is_required(name) || all_required {
                names.push(Value::from(name));
            } else {
                self.optional += 1;
            }
            let property = if all_required && !is_required(name) { nullable(property)? } else { property };
            members.insert(name, property);
        }
        translated.insert("properties", members);
        if all_required || !names.is_empty() {
            translated.insert("required", names);
        }
        Some(())
    }

    fn insert_items(&mut self, translated: &mut Object, schema: &Object, depth: usize) -> Option<()> {
        if !may_be(translated, "array") {
            return Some(());
        }
        if let Some(prefix) = schema.get("prefixItems").and_then(Value::as_array) {
            if self.dialect != Dialect::Gemini {
                return None;
            }
            let prefix: Option<Vec<Value>> = prefix.iter().map(|item| self.schema(item, depth + 1)).collect();
            translated.insert("prefixItems", prefix?);
        }
        match schema.get("items") {
            Some(items) => {
                translated.insert("items", self.schema(items, depth + 1)?);
            }
            None if self.dialect == Dialect::Gemini => {}
            None => return None,
        }
        Some(())
    }

    fn insert_alternatives(&mut self, translated: &mut Object, schema: &Object, depth: usize) -> Option<()> {
        let Some(alternatives) = schema.get("anyOf").or_else(|| schema.get("oneOf")) else {
            // Several schemas at once.
            return if schema.contains_key("allOf") && self.dialect != Dialect::Gemini { None } else { Some(()) };
        };
        if depth == 0 && self.dialect != Dialect::Gemini {
            return None;
        }
        let alternatives = alternatives.as_array().filter(|alternatives| !alternatives.is_empty())?;
        self.unions += 1;
        let alternatives: Option<Vec<Value>> = alternatives.iter().map(|one| self.schema(one, depth + 1)).collect();
        translated.insert("anyOf", alternatives?);
        Some(())
    }

    fn insert_definitions(&mut self, translated: &mut Object, schema: &Object, depth: usize) -> Option<()> {
        let groups = ["$defs", "definitions"].iter().filter_map(|key| schema.get(key).and_then(Value::as_object));
        let mut definitions = Object::new();
        for (name, definition) in groups.flat_map(Object::iter) {
            definitions.insert(name, self.schema(definition, depth + 1)?);
        }
        if !definitions.is_empty() {
            translated.insert("$defs", definitions);
        }
        Some(())
    }
}

const CONSTRAINTS: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
];

/// Formats that strict output knows at more than one provider.
const COMMON_FORMATS: &[&str] = &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// Replaces an `allOf` of one schema, as generators write it around references, by that schema.
fn merge_single_all_of(schema: &Object) -> Object {
    let mut merged = schema.clone();
    if let Some([Value::Object(only)]) = schema.get("allOf").and_then(Value::as_array) {
        merged.remove("allOf");
        for (key, value) in only.iter().filter(|(key, _)| !schema.contains_key(key)) {
            merged.insert(key, value.clone());
        }
    }
    merged
}

fn inferred_type(schema: &Object, values: Option<&[Value]>) -> Option<Value> {
    if schema.contains_key("properties") {
        return Some("object".into());
    }
    if schema.contains_key("items") || schema.contains_key("prefixItems") {
        return Some("array".into());
    }
    let mut types: Vec<&str> = Vec::new();
    for value in values? {
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_integer() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !types.contains(&name) {
            types.push(name);
        }
    }
    match &types[..] {
        [] => None,
        [only] => Some((*only).into()),
        several => Some(several.iter().map(|name| Value::from(*name)).collect()),
    }
}

/// Whether a value of this type is allowed by the schema's `type`.
fn may_be(schema: &Object, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one.as_str() == Some(name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
