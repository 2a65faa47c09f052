//! Where a field that an error names is in the parameters.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, Value};

use crate::facts::Field;

/// What errors put before the name of a field.
const HEADS: [&str; 13] = [
    "body",
    "data",
    "attributes",
    "request",
    "params",
    "parameters",
    "arguments",
    "args",
    "input",
    "payload",
    "query",
    "variables",
    "root",
];

/// References that lead on to others end here.
const MAX_REFERENCES: usize = 8;

/// The place that a field means: its names are those that are sent or declared, at most in another spelling.
pub(super) fn place(field: &Field, parameters: &Object, schema: Option<&Value>) -> Option<Path> {
    let mut steps = field.steps();
    loop {
        if let Some(path) = walk(steps, parameters, schema) {
            return Some(path);
        }
        let (first, rest) = steps.split_first()?;
        if !HEADS.contains(&first.to_ascii_lowercase().as_str()) {
            return None;
        }
        steps = rest;
    }
}

fn walk(steps: &[String], parameters: &Object, schema: Option<&Value>) -> Option<Path> {
    let mut path = Path::root();
    let mut here = Here::Object(parameters);
    for step in steps {
        here = match here {
            Here::Array(items) => {
                let index: usize = step.parse().ok()?;
                let inner = Here::of(Some(items.get(index)?));
                path.push_index(index);
                inner
            }
            Here::Object(object) => {
                let declared = schema.and_then(|schema| schema_at(schema, &path)?.get("properties")?.as_object());
                let name = known_name(step, object, declared)?;
                let inner = Here::of(object.get(&name));
                path.push_key(name);
                inner
            }
            Here::Nowhere => return None,
        };
    }
    (!path.is_root()).then_some(path)
}

/// What a walk has come to.
#[derive(Clone, Copy)]
enum Here<'a> {
    Object(&'a Object),
    Array(&'a [Value]),
    /// A plain value or none: nothing is inside.
    Nowhere,
}

impl<'a> Here<'a> {
    fn of(value: Option<&'a Value>) -> Self {
        match value {
            Some(Value::Object(object)) => Self::Object(object),
            Some(Value::Array(items)) => Self::Array(items),
            _ => Self::Nowhere,
        }
    }
}

/// The name as it is sent or declared.
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
        // Without a schema nobody knows what else there is: the error does.
        [] if declared.is_none() => Some(name.to_owned()),
        _ => None,
    }
}

/// The part of a schema about a place: through `properties`, `items` and references inside the schema.
pub(super) fn schema_at<'a>(root: &'a Value, at: &Path) -> Option<&'a Value> {
    let mut schema = resolved(root, root)?;
    for segment in at.segments() {
        let next = match segment {
            Segment::Key(name) => schema.get("properties")?.get(name)?,
            Segment::Index(_) => schema.get("items")?,
        };
        schema = resolved(root, next)?;
    }
    Some(schema)
}

fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_REFERENCES {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        let path = Path::from_pointer(pointer.strip_prefix('#')?, root).ok()?;
        schema = root.at(&path)?;
    }
    None
}

/// Puts a value at a place; only its last name may be new.
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
