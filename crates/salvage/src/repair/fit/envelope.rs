//! Envelopes: arguments that a model put into one more object, as in `{"arguments": {...}}`.

use std::collections::HashSet;

use reknit_protocol::spelling::folded;
use reknit_protocol::{Object, Path, Segment, Value};

use crate::schema::Schema;
use crate::schema::shape::{ObjectShape, Shapes};

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
    /// The envelope that the value may be. What stands beside the arguments names the call; if the schema knows such a key,
    /// the arguments must have it too, so that nothing is lost.
    pub(super) fn find(value: &'v Value, schema: &Schema) -> Option<Self> {
        let Value::Object(object) = value else { return None };
        let is_arguments = |(key, value): &(&str, &Value)| {
            ENVELOPE_KEYS.contains(&folded(key).as_str()) && is_container_or_text(value)
        };
        let mut candidates = object.iter().filter(is_arguments);
        let (key, inner) = candidates.next()?;
        if candidates.next().is_some() {
            return None;
        }
        let mut others = object.keys().filter(|other| *other != key).peekable();
        let is_single = others.peek().is_none();
        let declared = &schema.shape(Shapes::ROOT).object;
        let may_be_dropped = |other: &str| {
            CALL_KEYS.contains(&folded(other).as_str())
                && (!is_declared(declared, other) || with_arguments(inner, |object| object.contains_key(other)))
        };
        others.all(may_be_dropped).then_some(Self { key, inner, is_single })
    }

    /// Whether the envelope fits the schema only because the schema requires nothing and allows unknown keys, while the
    /// arguments have keys that the schema declares.
    pub(super) fn fits_by_chance(&self, schema: &Schema) -> bool {
        let declared = &schema.shape(Shapes::ROOT).object;
        self.is_single
            && declared.additional.is_none()
            && !is_declared(declared, self.key)
            && with_arguments(self.inner, |object| object.keys().any(|key| is_declared(declared, key)))
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

/// Whether the arguments are an object for which `holds` is true.
fn with_arguments(inner: &Value, holds: impl Fn(&Object) -> bool) -> bool {
    match inner {
        Value::Object(object) => holds(object),
        Value::String(text) => matches!(Value::parse(text), Ok(Value::Object(object)) if holds(&object)),
        _ => false,
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
    shape.properties.contains_key(key) || shape.is_spelling(key)
}
