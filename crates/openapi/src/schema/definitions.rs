//! Definitions that the schemas of operations share.

use std::collections::{HashMap, HashSet};
use std::fmt;

use reknit_protocol::{Object, Value};

use crate::document_text::count_values;

const PREFIX: &str = "#/$defs/";

/// One converted schema.
pub(super) struct Definition {
    pub(super) schema: Value,
    /// Its place in the document.
    pub(super) place: String,
}

/// All definitions of one direction, by name.
#[derive(Default)]
pub(crate) struct Definitions {
    schemas: HashMap<String, (Value, Vec<String>)>,
    /// How many values each definition has.
    sizes: HashMap<String, usize>,
}

impl fmt::Debug for Definitions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Definitions({})", self.schemas.len())
    }
}

impl Definitions {
    pub(super) fn new(definitions: HashMap<String, Definition>) -> Self {
        let size = |(name, definition): (&String, &Definition)| (name.clone(), count_values(&definition.schema));
        let sizes = definitions.iter().map(size).collect();
        let schemas = definitions.into_iter().map(|(name, definition)| {
            let names = referenced(&definition.schema);
            (name, (definition.schema, names))
        });
        Self { schemas: schemas.collect(), sizes }
    }

    /// The definition to which a schema refers, or the schema itself.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        // A reference may lead to another one, and in a broken document back to itself.
        let mut schema = schema;
        for _ in 0..8 {
            let name = schema.get("$ref").and_then(|reference| definition_name("$ref", reference));
            match name.and_then(|name| self.schemas.get(name)) {
                Some((definition, _)) => schema = definition,
                None => break,
            }
        }
        schema
    }

    /// How many values the complete schema has.
    pub(crate) fn complete_size(&self, schema: &Value) -> usize {
        let size = |name: &str| self.sizes.get(name).copied().unwrap_or(0);
        self.needed(&referenced(schema))
            .into_iter()
            .fold(count_values(schema), |total, name| total.saturating_add(size(name)))
    }

    /// The names of all definitions that are needed if these are.
    fn needed<'a>(&'a self, names: &'a [String]) -> Vec<&'a str> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut needed = Vec::new();
        let mut waiting: Vec<&str> = names.iter().rev().map(String::as_str).collect();
        while let Some(name) = waiting.pop() {
            let Some((_, names)) = self.schemas.get(name) else { continue };
            if seen.insert(name) {
                needed.push(name);
                waiting.extend(names.iter().rev().map(String::as_str));
            }
        }
        needed
    }

    /// The schema with `$schema`, and with all definitions it needs under `$defs`.
    pub(crate) fn complete(&self, schema: &Value) -> Value {
        let mut definitions = Object::new();
        for name in self.needed(&referenced(schema)) {
            if let Some((schema, _)) = self.schemas.get(name) {
                definitions.insert(name, schema.clone());
            }
        }
        let mut out = Object::new();
        out.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
        match schema {
            Value::Object(object) => object.iter().for_each(|(key, value)| _ = out.insert(key, value.clone())),
            Value::Bool(false) => _ = out.insert("not", Object::new()),
            _ => {}
        }
        if !definitions.is_empty() {
            out.insert("$defs", definitions);
        }
        Value::Object(out)
    }
}

/// The names of the definitions to which a schema refers, each once, in order.
fn referenced(schema: &Value) -> Vec<String> {
    fn collect<'a>(value: &'a Value, seen: &mut HashSet<&'a str>, names: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, seen, names)),
            Value::Object(object) => {
                for (key, member) in object {
                    match definition_name(key, member) {
                        Some(name) if seen.insert(name) => names.push(name.to_owned()),
                        Some(_) => {}
                        None => collect(member, seen, names),
                    }
                }
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    collect(schema, &mut HashSet::new(), &mut names);
    names
}

/// The name of the definition to which a member refers.
pub(super) fn definition_name<'a>(key: &str, member: &'a Value) -> Option<&'a str> {
    if key == "$ref" { member.as_str()?.strip_prefix(PREFIX) } else { None }
}
