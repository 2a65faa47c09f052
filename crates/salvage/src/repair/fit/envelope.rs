//! Envelopes: arguments that a model put into one more object, as in `{"arguments": {...}}`, or into a list of names and
//! values.

use std::borrow::Cow;
use std::collections::HashSet;

use reknit_protocol::spelling::{are_alike, folded};
use reknit_protocol::{Object, Path, Segment, Value};

use crate::FixKind;
use crate::schema::Schema;
use crate::schema::SchemaType;
use crate::schema::key_marks::ARGUMENT_KEYS;
use crate::schema::shape::{ObjectShape, Shapes};

/// More keys under which models put the arguments of a call, folded.
const MORE_ARGUMENT_KEYS: [&str; 4] = ["actioninput", "toolargs", "toolarguments", "toolparameters"];

/// The keys that may stand beside the arguments, folded: they name the call.
const CALL_KEYS: [&str; 19] = [
    "name",
    "tool",
    "toolname",
    "function",
    "functionname",
    "type",
    "id",
    "action",
    "recipientname",
    "callid",
    "log",
    "lc",
    "index",
    "jsonrpc",
    "method",
    "role",
    "status",
    "toolcallid",
    "tooluseid",
];

/// The keys under which APIs of models put a whole call, folded.
const CALL_LAYERS: [&str; 7] = ["function", "functioncall", "toolcall", "toolcalls", "tooluse", "call", "params"];

/// The keys that stand beside `properties` in a schema that has values in place of types.
const SCHEMA_KEYS: [&str; 7] =
    ["type", "required", "title", "description", "$schema", "additionalProperties", "strict"];

/// Words for a layer that says nothing about the arguments, folded.
const LAYER_WORDS: [&str; 7] = ["data", "body", "payload", "json", "request", "jsonbody", "requestbody"];

/// Words which say that the arguments are not the ones of the call.
const DENIALS: &str = "not no non exclude excluding excluded except without old previous prior before example sample default \
    defaults invalid wrong error expected last former never avoid remove delete sort by";

/// A value that may be an envelope around the arguments.
pub(super) struct Envelope<'v> {
    /// Where the arguments are in the value.
    path: Vec<&'v str>,
    /// The arguments: an object, or a string that may contain one.
    pub(super) inner: Cow<'v, Value>,
    pub(super) kind: FixKind,
    /// Whether the layers may be meant, because the words in them are not only words for calls.
    may_be_meant: bool,
}

impl<'v> Envelope<'v> {
    /// The envelope that the value may be. What stands beside the arguments names the call; if the schema knows such a key,
    /// the arguments must have it too, so that nothing is lost.
    pub(super) fn find(value: &'v Value, schema: &Schema) -> Option<Self> {
        let root = schema.shape(Shapes::ROOT);
        let declared = &root.object;
        match value {
            Value::Object(object) if object.keys().all(|key| declared.properties.contains_key(key)) => None,
            Value::Array(items) if !root.types.contains(SchemaType::Array) => {
                if let Some(named) = named_values(items) {
                    let inner = Cow::Owned(named);
                    return Some(Self { path: Vec::new(), inner, kind: FixKind::NamedValues, may_be_meant: false });
                }
                // A list of one call.
                match items.as_slice() {
                    [only @ Value::Object(_)] => Self::find(only, schema),
                    _ => None,
                }
            }
            Value::Object(object) => Self::around_call(object, declared)
                .or_else(|| Self::around_arguments(object, declared))
                .or_else(|| Self::around_properties(object, declared))
                .or_else(|| Self::under_a_name(object, declared)),
            _ => None,
        }
    }

    /// `{"name": "f", "arguments": {...}}`
    fn around_arguments(object: &'v Object, declared: &ObjectShape) -> Option<Self> {
        let is_arguments = |(key, value): &(&str, &Value)| {
            let key = folded(key);
            let is_key = ARGUMENT_KEYS.contains(&key.as_str()) || MORE_ARGUMENT_KEYS.contains(&key.as_str());
            is_key && (is_container_or_text(value) || value.as_array().and_then(named_values).is_some())
        };
        let mut candidates = object.iter().filter(is_arguments);
        let (key, inner) = candidates.next()?;
        if candidates.next().is_some() {
            return None;
        }
        let (inner, kind) = match inner.as_array().and_then(named_values) {
            Some(named) => (Cow::Owned(named), FixKind::NamedValues),
            None => (Cow::Borrowed(inner), FixKind::Envelope),
        };
        let may_be_dropped = |other: &str| {
            CALL_KEYS.contains(&folded(other).as_str())
                && (!is_declared(declared, other) || with_arguments(&inner, |object| object.contains_key(other)))
        };
        let are_others_dropped = object.keys().filter(|other| *other != key).all(may_be_dropped);
        are_others_dropped.then_some(Self { path: vec![key], inner, kind, may_be_meant: false })
    }

    /// `{"type": "function", "function": {"name": "f", "arguments": {...}}}`
    fn around_call(object: &'v Object, declared: &ObjectShape) -> Option<Self> {
        let is_call = |(key, value): &(&str, &Value)| {
            CALL_LAYERS.contains(&folded(key).as_str()) && only_object(value).is_some() && !is_declared(declared, key)
        };
        let mut calls = object.iter().filter(is_call);
        let (layer, call) = calls.next()?;
        let names_call = |key: &str| CALL_KEYS.contains(&folded(key).as_str()) && !is_declared(declared, key);
        if calls.next().is_some() || !object.keys().filter(|key| *key != layer).all(names_call) {
            return None;
        }
        let call = only_object(call)?;
        let mut inside = Self::around_call(call, declared).or_else(|| Self::around_arguments(call, declared))?;
        inside.path.insert(0, layer);
        Some(inside)
    }

    /// `{"type": "object", "properties": {"city": "Bern"}}`
    fn around_properties(object: &'v Object, declared: &ObjectShape) -> Option<Self> {
        let inner = object.get("properties").filter(|inner| matches!(inner, Value::Object(_)))?;
        let is_schema = |key: &str| key == "properties" || SCHEMA_KEYS.contains(&key);
        let is_envelope = object.keys().all(|key| is_schema(key) && !is_declared(declared, key));
        let path = vec!["properties"];
        is_envelope.then_some(Self { path, inner: Cow::Borrowed(inner), kind: FixKind::Envelope, may_be_meant: false })
    }

    /// `{"get_weather": {...}}` and `{"data": {...}}`: one unknown key, and inside of it only keys that are declared.
    fn under_a_name(object: &'v Object, declared: &ObjectShape) -> Option<Self> {
        let mut entries = object.iter();
        let (Some((key, inner)), None) = (entries.next(), entries.next()) else { return None };
        let arguments = inner.as_object().filter(|inner| !inner.is_empty())?;
        let is_layer = LAYER_WORDS.contains(&folded(key).as_str()) || may_name_tool(key);
        let are_declared = arguments.keys().all(|key| is_declared(declared, key));
        let may_be_meant = arguments.len() < 2;
        let inner = Cow::Borrowed(inner);
        (is_layer && are_declared && !is_declared(declared, key)).then_some(Self {
            path: vec![key],
            inner,
            kind: FixKind::Envelope,
            may_be_meant,
        })
    }

    /// Whether the envelope fits the schema only because the schema requires nothing and allows unknown keys, while the
    /// arguments have keys that the schema declares.
    pub(super) fn fits_by_chance(&self, schema: &Schema) -> bool {
        let declared = &schema.shape(Shapes::ROOT).object;
        !self.may_be_meant
            && declared.additional.is_none()
            && self.path.first().is_some_and(|key| !is_declared(declared, key))
            && with_arguments(&self.inner, |object| object.keys().any(|key| is_declared(declared, key)))
    }

    /// The paths inside the arguments, of paths in the whole value.
    pub(super) fn inner_paths(&self, paths: &HashSet<Path>) -> HashSet<Path> {
        let inside = |path: &Path| {
            let (layers, rest) = path.segments().split_at_checked(self.path.len())?;
            let is_inside =
                layers.iter().zip(&self.path).all(|(segment, key)| *segment == Segment::Key((*key).to_owned()));
            is_inside.then(|| rest.iter().cloned().collect())
        };
        paths.iter().filter_map(inside).collect()
    }
}

/// The value in a layer around it: `{"value": 5}`, `{"days": 5}` for `days`, or a schema that has the value,
/// `{"type": "integer", "value": 5}`.
pub(super) fn layered_value<'v>(value: &'v Value, name: Option<&str>) -> Option<&'v Value> {
    const TYPES: &str = "string str text integer int number float double boolean bool array list object dict";
    let object = value.as_object()?;
    if object.len() == 1
        && let Some((key, inner)) = object.iter().next()
        && (is_layer_key(key) || name.is_some_and(|name| are_alike(name, key)))
    {
        return Some(inner);
    }
    if let Some(inner) = object.get("properties").filter(|inner| inner.as_object().is_some()) {
        let is_schema = |key: &str| key == "properties" || SCHEMA_KEYS.contains(&key);
        return object.keys().all(is_schema).then_some(inner);
    }
    let inner = object.get("value")?;
    let is_schema = |(key, value): (&str, &Value)| match key {
        "value" => true,
        "type" => value.as_str().is_some_and(|name| TYPES.split(' ').any(|known| known.eq_ignore_ascii_case(name))),
        "description" | "title" => value.as_str().is_some(),
        "required" => matches!(value, Value::Bool(_)),
        _ => false,
    };
    object.iter().all(is_schema).then_some(inner)
}

/// Whether a key says nothing about the value under it.
fn is_layer_key(key: &str) -> bool {
    const KEYS: &str = "value values item items list array elements object data number integer string boolean enum const date \
        $date $numberInt $numberLong $oid $value";
    KEYS.split_ascii_whitespace().any(|known| known == key)
}

/// The object of `[{"name": "city", "value": "Bern"}, ...]`; `None` if a name is there twice.
///
/// Pairs may be lists, `[["city", "Bern"], ...]`, or objects with one key each, `[{"city": "Bern"}, ...]`; of these, there must be
/// several.
pub(super) fn named_values(items: &[Value]) -> Option<Value> {
    let mut object = Object::with_capacity(items.len());
    for item in items {
        let (name, value) = named_value(item, items.len() > 1)?;
        if object.insert(name, value.clone()).is_some() {
            return None;
        }
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

fn named_value(item: &Value, is_one_of_several: bool) -> Option<(&str, &Value)> {
    const NAMES: [&str; 5] = ["name", "key", "parameter", "argument", "field"];
    match item {
        Value::Object(pair) if pair.len() == 2 => {
            Some((NAMES.iter().find_map(|name| pair.get(name))?.as_str()?, pair.get("value")?))
        }
        Value::Object(entry) if entry.len() == 1 && is_one_of_several => entry.iter().next(),
        Value::Array(pair) if is_one_of_several => match pair.as_slice() {
            [Value::String(name), value] => Some((name, value)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a key may be the name of a tool: it has several words, and none says that the arguments are not meant.
fn may_name_tool(key: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in key.chars() {
        if matches!(c, '_' | '-' | ' ' | '.') || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.len() > 1 && words.iter().all(|word| !DENIALS.split_ascii_whitespace().any(|denial| denial == word))
}

/// The object, or the only object of a list.
fn only_object(value: &Value) -> Option<&Object> {
    match value {
        Value::Array(items) => match items.as_slice() {
            [only] => only.as_object(),
            _ => None,
        },
        other => other.as_object(),
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
