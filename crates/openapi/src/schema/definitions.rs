//! Definitions that the schemas of operations share.

use std::collections::{HashMap, HashSet};
use std::fmt;

use reknit_protocol::{Object, Value};

use crate::document_text::count_values;

const PREFIX: &str = "#/$defs/";

pub(super) struct Definition {
    pub(super) schema: Value,
    /// Its place in the document.
    pub(super) place: String,
}

/// All definitions of one direction, by name.
#[derive(Default)]
pub(crate) struct Definitions {
    /// Each with the names to which it refers, and with its number of values.
    schemas: HashMap<String, (Value, Vec<String>, usize)>,
}

impl fmt::Debug for Definitions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Definitions({})", self.schemas.len())
    }
}

impl Definitions {
    pub(super) fn new(definitions: HashMap<String, Definition>) -> Self {
        let schemas = definitions.into_iter().map(|(name, Definition { schema, .. })| {
            let (names, size) = (referenced(&schema), count_values(&schema));
            (name, (schema, names, size))
        });
        Self { schemas: schemas.collect() }
    }

    /// The definition to which a schema refers, or the schema itself.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        // A reference may lead to another one, and in a broken document back to itself.
        let mut schema = schema;
        for _ in 0..8 {
            let name = schema.get("$ref").and_then(|reference| definition_name("$ref", reference));
            match name.and_then(|name| self.schemas.get(name)) {
                Some((definition, ..)) => schema = definition,
                None => break,
            }
        }
        schema
    }

    /// How many values the complete schema has.
    pub(crate) fn complete_size(&self, schema: &Value) -> usize {
        let size = |name: &str| self.schemas.get(name).map_or(0, |(.., size)| *size);
        let needed = referenced(schema);
        self.needed(&needed).into_iter().map(size).fold(count_values(schema), usize::saturating_add)
    }

    /// The names of all definitions that are needed if these are.
    fn needed<'a>(&'a self, names: &'a [String]) -> Vec<&'a str> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut needed = Vec::new();
        let mut waiting: Vec<&str> = names.iter().rev().map(String::as_str).collect();
        while let Some(name) = waiting.pop() {
            let Some((_, names, _)) = self.schemas.get(name) else { continue };
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
            if let Some((schema, ..)) = self.schemas.get(name) {
                definitions.insert(name, schema.clone());
            }
        }
        let mut out = Object::from([("$schema", "https://json-schema.org/draft/2020-12/schema".into())]);
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
