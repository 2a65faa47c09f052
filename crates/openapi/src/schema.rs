//! Schemas of OpenAPI 3.0, 3.1 and Swagger 2 as JSON Schemas of draft 2020-12.
//!
//! A schema that is referenced becomes a definition once for all operations, so a large document stays small in memory. The
//! schema of an operation gets the definitions it needs, under `$defs`, when it is asked for.

mod cycles;
mod definitions;
mod keywords;

use std::collections::HashMap;

use reknit_protocol::{Object, Value};
use reknit_salvage::Schema;

use crate::files::Node;
use crate::finding::Findings;
use definitions::Definition;
pub(crate) use definitions::Definitions;
use keywords::is_annotation;

/// The version of a document, as far as its schemas differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Swagger2,
    OpenApi30,
    OpenApi31,
}

/// Whether a schema describes what is sent or what is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// Converts the schemas of one direction, and collects the definitions.
pub(crate) struct SchemaConverter<'a> {
    findings: &'a Findings<'a>,
    dialect: Dialect,
    direction: Direction,
    names: HashMap<(usize, String), String>,
    used_names: HashMap<String, usize>,
    waiting: Vec<(String, Node<'a>)>,
    definitions: HashMap<String, Definition>,
    pub(crate) converted: usize,
    /// Whether a regular expression is valid.
    patterns: HashMap<String, bool>,
}

impl<'a> SchemaConverter<'a> {
    pub(crate) fn new(findings: &'a Findings<'a>, dialect: Dialect, direction: Direction) -> Self {
        Self {
            findings,
            dialect,
            direction,
            names: HashMap::new(),
            used_names: HashMap::new(),
            waiting: Vec::new(),
            definitions: HashMap::new(),
            converted: 0,
            patterns: HashMap::new(),
        }
    }

    /// Converts one schema. Broken parts are reported and left out.
    pub(crate) fn convert(&mut self, node: &Node<'a>) -> Value {
        self.converted += 1;
        match node.value {
            Value::Object(_) => self.convert_keywords(node, |_| true),
            Value::Bool(anything) => Value::Bool(*anything),
            other => {
                let found = other.kind().with_article();
                self.findings.problem(node, format!("a schema must be an object, found {found}"));
                Value::Bool(true)
            }
        }
    }

    /// Whether a property does not exist in this direction: one that is only read in a request, or only written in a response.
    pub(crate) fn is_left_out(&self, property: &Node<'a>) -> bool {
        let mark = match self.direction {
            Direction::Request => "readOnly",
            Direction::Response => "writeOnly",
        };
        property.flag(mark) || self.findings.files.resolve(property).is_ok_and(|target| target.flag(mark))
    }

    /// Converts all definitions that are referenced.
    pub(crate) fn finish(mut self) -> Definitions {
        while let Some((name, node)) = self.waiting.pop() {
            let schema = self.convert(&node);
            let place = self.findings.files.place(&node);
            self.definitions.insert(name, Definition { schema, place });
        }
        cycles::cut(&mut self.definitions, self.findings);
        Definitions::new(self.definitions)
    }

    /// Converts the schema that a parameter of Swagger 2 is itself.
    pub(crate) fn convert_parameter(&mut self, node: &Node<'a>) -> Value {
        let is_used = |keyword: &str| !matches!(keyword, "required" | "$ref" | "readOnly" | "examples");
        self.convert_keywords(node, is_used)
    }

    fn convert_keywords(&mut self, node: &Node<'a>, is_used: fn(&str) -> bool) -> Value {
        let mut out = Object::new();
        let has_reference =
            is_used("$ref") && node.value.get("$ref").is_some_and(|reference| reference.as_object().is_none());
        if has_reference && let Some(reference) = node.get("$ref") {
            self.put_reference(node, &reference, &mut out);
        }
        // Before 3.1 the siblings of a reference have no effect; those that only explain are still of use.
        let only_annotations = has_reference && self.dialect != Dialect::OpenApi31;
        for (keyword, member) in node.members() {
            if keyword != "$ref" && is_used(keyword) && (!only_annotations || is_annotation(keyword)) {
                self.put_keyword(keyword, &member, &mut out);
            }
        }
        put_bounds(node, &mut out);
        drop_absent_required(node, &mut out, |property| self.is_left_out(property));
        if node.flag("nullable") || node.flag("x-nullable") {
            return allow_null(out);
        }
        Value::Object(out)
    }

    fn put_reference(&mut self, node: &Node<'a>, reference: &Node<'a>, out: &mut Object) {
        let target = match reference.value.as_str() {
            Some(text) => self.findings.files.target(node, text),
            None => Err("`$ref` must be a text".to_owned()),
        };
        match target {
            Ok(target) => {
                let name = self.name_of(&target);
                out.insert("$ref", format!("#/$defs/{name}"));
            }
            Err(reason) => self.findings.problem(reference, reason),
        }
    }

    /// The name of the definition for a node, which is converted later if it is new.
    fn name_of(&mut self, target: &Node<'a>) -> String {
        let key = target.key();
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let last = target.last_segment();
        let safe: String =
            last.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect();
        let base = if safe.is_empty() { "root".to_owned() } else { safe };
        let mut name = base.clone();
        while self.used_names.contains_key(&name) {
            let count = self.used_names.entry(base.clone()).or_insert(1);
            *count += 1;
            name = format!("{base}_{count}");
        }
        self.used_names.insert(name.clone(), 1);
        self.names.insert(key, name.clone());
        self.waiting.push((name.clone(), target.clone()));
        name
    }

    fn put_keyword(&mut self, keyword: &str, member: &Node<'a>, out: &mut Object) {
        match keyword {
            "type" => {
                let (known, unknown) = keywords::types(member.value);
                for unknown in unknown {
                    self.findings.problem(member, format!("the type {unknown} is unknown"));
                }
                match known.as_slice() {
                    [] => {}
                    [one] => _ = out.insert(keyword, *one),
                    many => _ = out.insert(keyword, many.iter().copied().map(Value::from).collect::<Value>()),
                }
            }
            // Before 2020-12, an array of `items` described the first items one by one.
            "items" if member.value.as_array().is_some() => self.put_schemas("prefixItems", member, out),
            _ if keywords::WITH_SCHEMA.contains(&keyword) => {
                let schema = self.convert(member);
                out.insert(keyword, schema);
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.put_schemas(keyword, member, out),
            "properties" | "patternProperties" | "dependentSchemas" => self.put_schema_map(keyword, member, out),
            "pattern" => match member.value.as_str() {
                Some(pattern) if self.is_pattern(pattern) => _ = out.insert(keyword, pattern),
                _ => self.findings.problem(member, "the regular expression is not valid"),
            },
            "example" => _ = out.insert("examples", vec![member.value.clone()]),
            "discriminator" => {
                if let Some(property) = member.text("propertyName").or_else(|| member.value.as_str()) {
                    out.insert("x-discriminator", property);
                }
            }
            _ => self.put_data(keyword, member, out),
        }
    }

    fn put_data(&mut self, keyword: &str, member: &Node<'a>, out: &mut Object) {
        let Some((is_valid, expected)) = keywords::expected_data(keyword) else { return };
        if is_valid(member.value) {
            out.insert(keyword, keywords::cleaned(keyword, member.value));
        } else if keyword == "required" && member.value.as_bool().is_some() {
            self.findings.note(member, "`required` in a schema is a list of properties; this has no effect");
        } else {
            self.findings.problem(member, format!("`{keyword}` must be {expected}"));
        }
    }

    fn put_schemas(&mut self, keyword: &str, member: &Node<'a>, out: &mut Object) {
        let schemas: Vec<Value> = member.items().map(|item| self.convert(&item)).collect();
        if schemas.is_empty() {
            self.findings.problem(member, format!("`{keyword}` must be an array of schemas"));
        } else {
            out.insert(keyword, schemas);
        }
    }

    fn put_schema_map(&mut self, keyword: &str, member: &Node<'a>, out: &mut Object) {
        if member.value.as_object().is_none() {
            self.findings.problem(member, format!("`{keyword}` must be an object of schemas"));
            return;
        }
        let mut schemas = Object::new();
        for (name, schema) in member.members() {
            if keyword == "properties" && self.is_left_out(&schema) {
                continue;
            }
            if keyword == "patternProperties" && !self.is_pattern(name) {
                self.findings.problem(&schema, "the regular expression is not valid");
                continue;
            }
            let schema = self.convert(&schema);
            schemas.insert(name, schema);
        }
        out.insert(keyword, schemas);
    }

    fn is_pattern(&mut self, pattern: &str) -> bool {
        if let Some(is_valid) = self.patterns.get(pattern) {
            return *is_valid;
        }
        let is_valid = Schema::compile(&Value::from([("pattern", pattern.into())])).is_ok();
        self.patterns.insert(pattern.to_owned(), is_valid);
        is_valid
    }
}

/// `exclusiveMinimum: true` beside a `minimum` is the form before 3.1; later it is a number.
fn put_bounds(node: &Node<'_>, out: &mut Object) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match node.value.get(exclusive) {
            Some(Value::Bool(true)) => {
                if let Some(limit) = out.remove(bound) {
                    out.insert(exclusive, limit);
                }
            }
            Some(Value::Number(limit)) => _ = out.insert(exclusive, limit.clone()),
            _ => {}
        }
    }
}

/// Properties that do not exist in a direction cannot be required in it.
fn drop_absent_required<'a>(node: &Node<'a>, out: &mut Object, is_left_out: impl Fn(&Node<'a>) -> bool) {
    let Some(properties) = node.get("properties") else { return };
    let Some(Value::Array(required)) = out.get_mut("required") else { return };
    required.retain(|name| {
        name.as_str().and_then(|name| properties.get(name)).is_none_or(|property| !is_left_out(&property))
    });
    if required.is_empty() {
        out.remove("required");
    }
}

/// The schema, which also accepts null.
fn allow_null(mut schema: Object) -> Value {
    if let Some(Value::Array(allowed)) = schema.get_mut("enum")
        && !allowed.contains(&Value::Null)
    {
        allowed.push(Value::Null);
    }
    let is_plain = !["$ref", "allOf", "anyOf", "oneOf", "const"].iter().any(|keyword| schema.contains_key(keyword));
    match schema.get_mut("type") {
        Some(Value::Array(types)) if is_plain => {
            if !types.contains(&"null".into()) {
                types.push("null".into());
            }
        }
        Some(word) if is_plain => *word = Value::Array(vec![word.clone(), "null".into()]),
        None if is_plain => {}
        _ => {
            let null = Value::from([("type", "null".into())]);
            return Value::from([("anyOf", Value::Array(vec![Value::Object(schema), null]))]);
        }
    }
    Value::Object(schema)
}
