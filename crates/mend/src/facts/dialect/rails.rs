//! Rails, Laravel and ASP.NET: `errors` is an object with a list of sentences under the name of each field.

use reknit_protocol::{Object, Value};

use crate::facts::object_keys::strings;
use crate::facts::phrase::facts_in;
use crate::facts::{Fact, Field, MAX_FACTS};

/// The facts in the sentences under each name.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let inside = body.get("error").and_then(|error| error.get("errors"));
    let maps = [body.get("errors"), inside].into_iter().flatten().filter_map(Value::as_object);
    maps.flat_map(|map| sentences(map, None)).collect()
}

/// The facts of an object of sentences. An object inside it holds the fields of a nested object.
pub(super) fn sentences(map: &Object, outer: Option<&Field>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (name, value) in map.iter().take(MAX_FACTS) {
        let field = match (outer, name) {
            (_, "base" | "non_field_errors" | "nonFieldErrors" | "__all__") => outer.cloned(),
            (Some(outer), name) => Some(outer.child(name)),
            (None, name) => Field::parse(name),
        };
        match value {
            // Objects below the first level are data, not errors.
            Value::Object(inner) if outer.is_none() => facts.extend(sentences(inner, field.as_ref())),
            value => facts.extend(strings(value).iter().flat_map(|text| facts_in(text, field.as_ref()))),
        }
    }
    facts
}
