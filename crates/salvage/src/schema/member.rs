//! What one schema object says, as far as fitting needs it.

use jsonschema::Draft;
use reknit_protocol::{Object, Value};

use super::outline::{Outline, REFERENCES};
use super::types::Types;

/// Keywords that say nothing about a value that is no container, except `type`.
const SILENT_ON_SCALARS: [&str; 34] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$defs",
    "definitions",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "type",
];

/// The facts of one schema object. Subschemas are still text; the builder of shapes gives them numbers.
#[derive(Debug)]
pub(crate) struct Member<'s> {
    /// The types `type` allows; all if it says nothing, none for the schema `false`.
    pub(crate) types: Types,
    /// What `enum` or `const` allow.
    pub(crate) allowed: Option<Vec<&'s Value>>,
    pub(crate) properties: Vec<(&'s str, &'s Value)>,
    pub(crate) patterns: Vec<(&'s str, &'s Value)>,
    pub(crate) required: Vec<&'s str>,
    /// What `additionalProperties` or `unevaluatedProperties` say.
    pub(crate) extra: Option<&'s Value>,
    pub(crate) names_property: bool,
    pub(crate) prefix: Vec<&'s Value>,
    pub(crate) rest: Option<&'s Value>,
    /// Schemas that hold as well: `allOf`, `$ref`.
    pub(crate) also: Vec<&'s Value>,
    /// Lists of alternatives: `anyOf`, `oneOf`, `then` against `else`. Each alternative is a list of schemas.
    pub(crate) unions: Vec<Vec<Vec<&'s Value>>>,
    /// Whether `type` alone decides about values that are no containers.
    pub(crate) is_plain: bool,
}

impl<'s> Member<'s> {
    pub(crate) fn read(schema: &'s Value, outline: &Outline<'s>) -> Self {
        let mut member = Self::silent();
        match schema {
            Value::Object(object) => member.read_object(schema, object, outline),
            Value::Bool(false) => member.types = Types::NONE,
            _ => {}
        }
        member
    }

    fn silent() -> Self {
        Self {
            types: Types::ALL,
            allowed: None,
            properties: Vec::new(),
            patterns: Vec::new(),
            required: Vec::new(),
            extra: None,
            names_property: false,
            prefix: Vec::new(),
            rest: None,
            also: Vec::new(),
            unions: Vec::new(),
            is_plain: true,
        }
    }

    fn read_object(&mut self, schema: &'s Value, object: &'s Object, outline: &Outline<'s>) {
        let old = matches!(outline.draft(), Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        for keyword in REFERENCES {
            let Some(reference) = object.get(keyword).and_then(Value::as_str) else { continue };
            match outline.resolve(schema, reference) {
                Some(target) => self.also.push(target),
                None => self.is_plain = false,
            }
            if old {
                // Up to draft 7 what stands beside a `$ref` does not count.
                return;
            }
        }
        self.read_values(object, outline);
        self.read_properties(object);
        self.read_items(object);
        self.read_combinations(object);
    }

    fn read_values(&mut self, object: &'s Object, outline: &Outline<'s>) {
        if let Some(keyword) = object.get("type") {
            self.types = Types::from_keyword(keyword);
        }
        let constant = object.get("const").map(|only| vec![only]);
        let list = object.get("enum").and_then(Value::as_array).map(|list| list.iter().collect());
        self.allowed = constant.or(list);
        // Draft 4 alone reads `integer` from the spelling, so `type` is not for us to decide there.
        let decides = !matches!(outline.draft(), Draft::Draft4);
        let followed = |key: &str| matches!(key, "$ref" | "allOf");
        self.is_plain &= decides && object.keys().all(|key| SILENT_ON_SCALARS.contains(&key) || followed(key));
    }

    fn read_properties(&mut self, object: &'s Object) {
        self.properties = entries(object.get("properties"));
        self.patterns = entries(object.get("patternProperties"));
        let required = object.get("required").and_then(Value::as_array).unwrap_or_default();
        self.required = required.iter().filter_map(Value::as_str).collect();
        self.extra = object.get("additionalProperties").or_else(|| object.get("unevaluatedProperties"));
        self.names_property = object.contains_key("propertyNames");
    }

    fn read_items(&mut self, object: &'s Object) {
        match object.get("items") {
            Some(Value::Array(prefix)) => {
                self.prefix = prefix.iter().collect();
                self.rest = object.get("additionalItems");
            }
            rest => {
                self.prefix = object.get("prefixItems").and_then(Value::as_array).unwrap_or_default().iter().collect();
                self.rest = rest;
            }
        }
    }

    fn read_combinations(&mut self, object: &'s Object) {
        self.also.extend(list(object, "allOf"));
        for keyword in ["anyOf", "oneOf"] {
            let branches: Vec<_> = list(object, keyword).iter().map(|branch| vec![branch]).collect();
            if !branches.is_empty() {
                self.unions.push(branches);
            }
        }
        let (then, otherwise) = (object.get("then"), object.get("else"));
        if let Some(condition) = object.get("if")
            && (then.is_some() || otherwise.is_some())
        {
            let met = [condition].into_iter().chain(then).collect();
            self.unions.push(vec![met, otherwise.into_iter().collect()]);
        }
    }
}

fn entries(keyword: Option<&Value>) -> Vec<(&str, &Value)> {
    keyword.and_then(Value::as_object).map(|object| object.iter().collect()).unwrap_or_default()
}

fn list<'s>(object: &'s Object, keyword: &str) -> &'s [Value] {
    object.get(keyword).and_then(Value::as_array).unwrap_or_default()
}
