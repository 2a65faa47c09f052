//! Schema and value, side by side.

use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Path, Value};

use super::bounds;
use super::misfit::{Actual, Misfit};

use crate::schema::{allowed, branches, resolve};

/// Walks down a value along its schema and collects what does not fit.
///
/// The value is no deeper than the parser allows, and each level of the walk goes down in the value or follows a chain
/// of references whose length [`resolve`] limits.
pub(super) struct Walk<'a> {
    root: &'a Value,
    found: Vec<Misfit>,
    /// How many more values may be copied.
    copies: usize,
}

impl<'a> Walk<'a> {
    /// A walk that may copy so many values to try alternatives. Alternatives inside alternatives could otherwise be
    /// tried without end.
    pub(super) fn new(root: &'a Value, copies: usize) -> Self {
        Self { root, found: Vec::new(), copies }
    }

    pub(super) fn visit_root(&mut self, value: &mut Value) {
        self.visit(self.root, value, &Path::root());
    }

    pub(super) fn finish(self) -> Vec<Misfit> {
        self.found
    }

    fn visit(&mut self, schema: &'a Value, value: &mut Value, path: &Path) {
        // Beside a reference schemars only writes words, such as a description.
        let Some(schema) = resolve(self.root, schema) else { return };
        let Value::Object(keywords) = schema else { return };
        if !self.visit_type(keywords, schema, value, path) {
            return;
        }
        if let Some(alternatives) = branches(schema) {
            self.visit_branches(schema, alternatives, value, path);
        }
        for part in keywords.get("allOf").and_then(Value::as_array).unwrap_or_default() {
            self.visit(part, value, path);
        }
        if branches(schema).is_none()
            && let Some(allowed) = allowed(self.root, schema)
            && !allowed.contains(value)
        {
            self.found.push(Misfit::NotListed { path: path.clone(), allowed, actual: value.clone() });
        }
        for (rule, actual) in bounds::broken(keywords, value) {
            self.found.push(Misfit::Bound { path: path.clone(), rule, actual });
        }
        match value {
            Value::Object(object) => self.visit_object(keywords, object, path),
            Value::Array(items) => self.visit_items(keywords, items, path),
            _ => {}
        }
    }

    /// Whether the value is of a kind that the schema takes. An integer is respelt as one.
    fn visit_type(&mut self, keywords: &Object, schema: &Value, value: &mut Value, path: &Path) -> bool {
        let words: Vec<&str> = match keywords.get("type") {
            Some(Value::String(word)) => vec![word],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        if words.contains(&"integer")
            && !words.contains(&"number")
            && let Value::Number(number) = value
            && let Some(integer) = number.to_integer()
        {
            *value = integer.into();
            return true;
        }
        if words.contains(&value.kind().as_str()) {
            return true;
        }
        let actual = match value {
            Value::Number(_) if words.contains(&"integer") => Actual::Fraction,
            _ => Actual::Kind(value.kind()),
        };
        self.found.push(Misfit::Kind { path: path.clone(), schema: schema.clone(), actual });
        false
    }

    /// The first alternative that fits. If none does, the one that can be meant says why: the only one of that kind.
    fn visit_branches(&mut self, schema: &Value, branches: &'a [Value], value: &mut Value, path: &Path) {
        let mut attempts = Vec::new();
        for branch in branches {
            let Some(left) = self.copies.checked_sub(size(value)) else {
                self.found.push(Misfit::TooManyWays { path: path.clone() });
                return;
            };
            let mut copy = value.clone();
            let mut walk = Walk::new(self.root, left);
            walk.visit(branch, &mut copy, path);
            self.copies = walk.copies;
            if walk.found.is_empty() {
                *value = copy;
                return;
            }
            attempts.push(walk.found);
        }
        if let Some(allowed) = allowed(self.root, schema) {
            self.found.push(Misfit::NotListed { path: path.clone(), allowed, actual: value.clone() });
            return;
        }
        let is_wrong_kind =
            |found: &Vec<Misfit>| matches!(found.as_slice(), [Misfit::Kind { path: at, .. }] if at == path);
        let mut meant = attempts.into_iter().filter(|found| !is_wrong_kind(found));
        if let (Some(only), None) = (meant.next(), meant.next()) {
            self.found.extend(only);
        } else {
            let actual = Actual::Kind(value.kind());
            self.found.push(Misfit::Kind { path: path.clone(), schema: schema.clone(), actual });
        }
    }

    fn visit_object(&mut self, keywords: &'a Object, object: &mut Object, path: &Path) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array).unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let schema = properties.and_then(|all| all.get(name)).cloned().unwrap_or(Value::Bool(true));
                self.found.push(Misfit::Missing { path: path.key(name), schema });
            }
        }
        let others = keywords.get("additionalProperties");
        for (name, value) in object.iter_mut() {
            match (properties.and_then(|all| all.get(name)), others) {
                (None, Some(Value::Bool(false))) => self.refuse(properties, name, path),
                (Some(schema), _) | (None, Some(schema)) => self.visit(schema, value, &path.key(name)),
                (None, None) => {}
            }
        }
    }

    fn refuse(&mut self, properties: Option<&Object>, name: &str, path: &Path) {
        let known: Vec<String> = properties.map(|all| all.keys().map(str::to_owned).collect()).unwrap_or_default();
        let meant = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        self.found.push(Misfit::Unknown { path: path.key(name), meant, known });
    }

    fn visit_items(&mut self, keywords: &'a Object, items: &mut [Value], path: &Path) {
        let first = keywords.get("prefixItems").and_then(Value::as_array).unwrap_or_default();
        let rest = keywords.get("items");
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.visit(schema, item, &path.index(index));
            }
        }
    }
}

/// How many values a value is made of.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 1,
        Value::Object(object) => object.values().map(size).sum::<usize>() + 1,
        _ => 1,
    }
}
