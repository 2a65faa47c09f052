//! Envelopes: arguments that a model put into one more object, as in `{"arguments": {...}}`.

use std::collections::HashSet;

use reknit_protocol::{Object, Path, Segment, Value};

use crate::schema::Schema;
use crate::schema::shape::{ObjectShape, Shapes};
use crate::schema::spelling::fold_key;

/// The keys under which models put the arguments of a call, folded.
const ENVELOPE_KEYS: [&str; 8] =
    ["arguments", "parameters", "args", "params", "input", "toolinput", "kwargs", "functionarguments"];

/// The keys that may stand beside the arguments, folded: they name the call.
const CALL_KEYS: [&str; 7] = ["name", "tool", "toolname", "function", "functionname", "type", "id"];

/// A value that may be an envelope around the arguments.
pub(super) struct Envelope<'v> {
    key: &'v str,
    /// The arguments: an object, or a string that may contain one.
    pub(super) inner: &'v Value,
    /// Whether nothing stands beside the arguments.
    is_single: bool,
}

impl<'v> Envelope<'v> {
    /// The envelope that the value may be. The schema must not know its keys.
    pub(super) fn find(value: &'v Value, schema: &Schema) -> Option<Self> {
        let Value::Object(object) = value else { return None };
        let declared = &schema.shape(Shapes::ROOT).object;
        let mut found = None;
        for (key, value) in object {
            let folded = fold_key(key);
            let is_arguments = ENVELOPE_KEYS.contains(&folded.as_str()) && is_container_or_text(value);
            if declared.properties.contains_key(key) || declared.names_by_spelling.contains_key(&folded) {
                return None;
            }
            match found {
                None if is_arguments => found = Some((key, value)),
                _ if CALL_KEYS.contains(&folded.as_str()) => {}
                _ => return None,
            }
        }
        found.map(|(key, inner)| Self { key, inner, is_single: object.len() == 1 })
    }

    /// Whether the envelope fits the schema only because the schema requires nothing and allows unknown keys, while the
    /// arguments have keys that the schema declares.
    pub(super) fn fits_by_chance(&self, schema: &Schema) -> bool {
        let declared = &schema.shape(Shapes::ROOT).object;
        let knows = |object: &Object| object.keys().any(|key| is_declared(declared, key));
        let has_known_keys = match self.inner {
            Value::Object(object) => knows(object),
            Value::String(text) => matches!(Value::parse(text), Ok(Value::Object(object)) if knows(&object)),
            _ => false,
        };
        self.is_single && declared.additional.is_none() && has_known_keys
    }

    /// The paths inside the arguments, of paths in the whole value.
    pub(super) fn inner_paths(&self, paths: &HashSet<Path>) -> HashSet<Path> {
        let inside = |path: &Path| match path.segments() {
            [Segment::Key(key), rest @ ..] if key == self.key => Some(rest.iter().cloned().collect()),
            _ => None,
        };
        paths.iter().filter_map(inside).collect()
    }
}

fn is_container_or_text(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    }
}

fn is_declared(shape: &ObjectShape, key: &str) -> bool {
    shape.properties.contains_key(key) || shape.names_by_spelling.contains_key(&fold_key(key))
}
