//! The path of a field, as an error names it, in the parameters and in the schema.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, Value};

use crate::facts::Field;
use crate::{is_listed, only};

/// Prefixes that errors put before the name of a field.
const PREFIXES: &str = "body data attributes request params parameters arguments args input payload query \
    variables root";

/// The most `$ref`s that are followed in a chain.
const MAX_REFERENCES: usize = 8;

/// The path of a field. Its names must be sent or declared, in any spelling, with or without a known prefix.
pub(super) fn locate(field: &Field, parameters: &Object, schema: Option<&Value>) -> Option<Path> {
    let mut segments = field.segments();
    loop {
        if let Some(path) = resolve(segments, parameters, schema) {
            return Some(path);
        }
        let (first, rest) = segments.split_first()?;
        if !is_listed(PREFIXES, &first.to_ascii_lowercase()) {
            return None;
        }
        segments = rest;
    }
}

fn resolve(segments: &[String], parameters: &Object, schema: Option<&Value>) -> Option<Path> {
    let mut path = Path::root();
    let (mut object, mut items) = (Some(parameters), None);
    for segment in segments {
        let inner = if let Some(object) = object {
            let declared = schema.and_then(|schema| schema_at(schema, &path)?.get("properties")?.as_object());
            let name = known_name(segment, object, declared)?;
            let inner = object.get(&name);
            path.push_key(name);
            inner
        } else {
            let items: &[Value] = items?;
            let index: usize = segment.parse().ok()?;
            path.push_index(index);
            Some(items.get(index)?)
        };
        (object, items) = (inner.and_then(Value::as_object), inner.and_then(Value::as_array));
    }
    (!path.is_root()).then_some(path)
}

/// The name in the spelling that is sent or declared.
fn known_name(name: &str, object: &Object, declared: Option<&Object>) -> Option<String> {
    let is_known = object.contains_key(name) || declared.is_some_and(|declared| declared.contains_key(name));
    if is_known {
        return Some(name.to_owned());
    }
    let names = object.keys().chain(declared.into_iter().flat_map(Object::keys));
    let mut alike: Vec<&str> = names.filter(|known| are_alike(known, name)).collect();
    alike.dedup();
    match alike.as_slice() {
        [only] => Some((*only).to_owned()),
        // Without a schema only the error knows the names.
        [] if declared.is_none() => Some(name.to_owned()),
        _ => None,
    }
}

/// The part of a schema for a path, through `properties`, `items` and local `$ref`s.
pub(super) fn schema_at<'a>(root: &'a Value, at: &Path) -> Option<&'a Value> {
    let mut schema = follow_references(root, root)?;
    for segment in at.segments() {
        let next = match segment {
            Segment::Key(name) => schema.get("properties")?.get(name)?,
            Segment::Index(_) => schema.get("items")?,
        };
        schema = follow_references(root, next)?;
    }
    Some(schema)
}

fn follow_references<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_REFERENCES {
        let Some(pointer) = reference(schema) else { return Some(schema) };
        schema = resolve_reference(root, pointer)?;
    }
    None
}

/// The schemas that describe a place, the outermost first: the one that stands there, what it refers to, and the only one that it
/// allows beside null.
pub fn schemas_at<'a>(root: &'a Value, at: &Path) -> Vec<&'a Value> {
    let mut schemas = schemas_of(root, root);
    for segment in at.segments() {
        let inner = schemas.iter().find_map(|schema| match segment {
            Segment::Key(name) => schema.get("properties")?.get(name),
            Segment::Index(_) => schema.get("items"),
        });
        schemas = inner.map(|inner| schemas_of(root, inner)).unwrap_or_default();
    }
    schemas
}

fn schemas_of<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let next = |schema: &&'a Value| match reference(schema) {
        Some(pointer) => resolve_reference(root, pointer),
        None => only_alternative(schema),
    };
    std::iter::successors(Some(schema), next).take(MAX_REFERENCES).collect()
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

fn resolve_reference<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    root.at(&Path::from_pointer(pointer.strip_prefix('#')?, root).ok()?)
}

/// The only schema that a value other than null may have.
fn only_alternative(schema: &Value) -> Option<&Value> {
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array())?;
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
    only(alternatives.iter().filter(|schema| !is_null(schema)))
}

/// Puts a value at a path. Only its last key may be new.
pub(super) fn set(value: &mut Value, at: &Path, new: Value) -> Option<()> {
    let mut parent = at.clone();
    match parent.pop()? {
        Segment::Key(name) => {
            value.at_mut(&parent)?.as_object_mut()?.insert(name, new);
        }
        Segment::Index(_) => *value.at_mut(at)? = new,
    }
    Some(())
}
