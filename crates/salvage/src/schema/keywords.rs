//! The keywords of one subschema, as far as fitting needs them.

use jsonschema::Draft;
use reknit_protocol::{Object, Value};

use super::Formats;
use super::schema_index::{REFERENCE_KEYWORDS, SchemaIndex};
use super::types::TypeSet;
use super::unambiguous_date::is_date_format;

/// Keywords that do not restrict scalars, and `type`.
const NO_LIMIT_ON_SCALARS: [&str; 34] = [
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

/// Whether a keyword concerns the value itself, without other subschemas or the parts of arrays and objects. Most subschemas have
/// no other keywords, and need not be searched for them.
pub(crate) fn is_about_scalars(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "description"
            | "title"
            | "default"
            | "enum"
            | "const"
            | "format"
            | "examples"
            | "minimum"
            | "maximum"
            | "minLength"
            | "maxLength"
    )
}

/// The keywords of one subschema. Nested subschemas are references to their JSON.
#[derive(Debug, Default)]
pub(crate) struct Keywords<'s> {
    /// The types that `type` allows: all without `type`, none for the schema `false`.
    pub(crate) types: TypeSet,
    /// The values that `const` or `enum` allow.
    pub(crate) allowed: Option<Vec<&'s Value>>,
    /// The labels of allowed values: the `title` of a `const`, and `enumNames` beside an `enum`.
    pub(crate) labels: Vec<(&'s str, &'s Value)>,
    /// The value of `format`, unless formats are ignored.
    pub(crate) format: Option<&'s str>,
    pub(crate) properties: Vec<(&'s str, &'s Value)>,
    pub(crate) patterns: Vec<(&'s str, &'s Value)>,
    pub(crate) required: Vec<&'s str>,
    /// The value of `additionalProperties` or `unevaluatedProperties`.
    pub(crate) additional: Option<&'s Value>,
    pub(crate) restricts_names: bool,
    pub(crate) prefix: Vec<&'s Value>,
    pub(crate) rest: Option<&'s Value>,
    /// Subschemas that apply as well: from `allOf` and `$ref`.
    pub(crate) also: Vec<&'s Value>,
    /// The unions from `anyOf`, `oneOf` and `then`/`else`: a list of alternatives, each a list of subschemas.
    pub(crate) unions: Vec<Vec<Vec<&'s Value>>>,
    /// Whether the validator has to decide which scalars fit, because `type` and a list of texts do not.
    pub(crate) restricts_scalars: bool,
}

impl<'s> Keywords<'s> {
    pub(crate) fn read(schema: &'s Value, index: &SchemaIndex<'s>) -> Self {
        let mut keywords = Self::default();
        match schema {
            Value::Object(object) => keywords.read_object(schema, object, index),
            Value::Bool(false) => keywords.types = TypeSet::NONE,
            _ => {}
        }
        keywords
    }

    /// How many properties, patterns, items and allowed values there are.
    pub(crate) fn parts(&self) -> usize {
        let allowed = self.allowed.as_ref().map_or(0, Vec::len);
        allowed + self.properties.len() + self.patterns.len() + self.prefix.len() + self.required.len()
    }

    fn read_object(&mut self, schema: &'s Value, object: &'s Object, index: &SchemaIndex<'s>) {
        if object.keys().all(is_about_scalars) {
            return self.read_values(object, index);
        }
        let ref_overrides = matches!(index.draft(), Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        for keyword in REFERENCE_KEYWORDS {
            let Some(reference) = object.get(keyword).and_then(Value::as_str) else { continue };
            match index.resolve(schema, reference) {
                Some(target) => self.also.push(target),
                None => self.restricts_scalars = true,
            }
            if ref_overrides {
                // Up to draft 7, keywords beside a `$ref` are ignored.
                return;
            }
        }
        self.read_values(object, index);
        self.read_properties(object);
        self.read_items(object);
        self.read_combinations(object);
    }

    fn read_values(&mut self, object: &'s Object, index: &SchemaIndex<'s>) {
        if let Some(keyword) = object.get("type") {
            self.types = TypeSet::from_keyword(keyword);
        }
        let constant = object.get("const").map(|only| vec![only]);
        let list = object.get("enum").and_then(Value::as_array).map(|list| list.iter().collect());
        self.read_labels(object);
        let formats = index.formats();
        self.format = object.get("format").and_then(Value::as_str).filter(|_| formats != Formats::Ignored);
        // Numbers may be spelt in several ways, and both keywords together allow what is in both lists.
        let is_text = |value: &&Value| matches!(value, Value::String(_) | Value::Null);
        let lists_texts = constant.is_none() && list.as_ref().is_some_and(|list: &Vec<_>| list.iter().all(is_text));
        self.allowed = constant.or(list);
        // In draft 4, whether a number is an integer depends on its spelling, which `TypeSet` does not check.
        let types_are_exact = !matches!(index.draft(), Draft::Draft4);
        let is_followed = |key: &str| matches!(key, "$ref" | "allOf") || (key == "enum" && lists_texts);
        self.restricts_scalars |= !types_are_exact
            || self.format.is_some_and(|format| formats == Formats::Checked || is_date_format(format))
            || object.keys().any(|key| !NO_LIMIT_ON_SCALARS.contains(&key) && !is_followed(key));
    }

    fn read_labels(&mut self, object: &'s Object) {
        let title = object.get("title").and_then(Value::as_str);
        self.labels.extend(title.zip(object.get("const")));
        let values = list(object, "enum");
        for keyword in ["enumNames", "x-enumNames", "x-enum-varnames"] {
            let names = list(object, keyword);
            if names.len() == values.len() {
                self.labels.extend(names.iter().filter_map(Value::as_str).zip(values));
            }
        }
    }

    fn read_properties(&mut self, object: &'s Object) {
        self.properties = entries(object.get("properties"));
        self.patterns = entries(object.get("patternProperties"));
        self.required = list(object, "required").iter().filter_map(Value::as_str).collect();
        self.additional = object.get("additionalProperties").or_else(|| object.get("unevaluatedProperties"));
        self.restricts_names = object.contains_key("propertyNames");
    }

    fn read_items(&mut self, object: &'s Object) {
        match object.get("items") {
            Some(Value::Array(prefix)) => {
                self.prefix = prefix.iter().collect();
                self.rest = object.get("additionalItems");
            }
            rest => {
                self.prefix = list(object, "prefixItems").iter().collect();
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

/// The items of a list under a keyword.
pub(super) fn list<'s>(object: &'s Object, keyword: &str) -> &'s [Value] {
    object.get(keyword).and_then(Value::as_array).unwrap_or_default()
}

/// The values of an object under a keyword.
pub(super) fn named<'s>(object: &'s Object, keyword: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    object.get(keyword).and_then(Value::as_object).into_iter().flat_map(Object::values)
}
