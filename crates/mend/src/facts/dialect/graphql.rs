//! GraphQL: `errors` with `message` and `extensions`. `path` points into the response and names no argument.

use reknit_protocol::{Object, Value};

use crate::facts::Fact;
use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::object_keys::named_field;

/// The facts of all errors.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let errors = objects(body.get("errors"));
    let is_graphql = |error: &&Object| error.contains_key("extensions") || error.contains_key("locations");
    errors.filter(is_graphql).flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let extensions = error.get("extensions").and_then(Value::as_object);
    let messages = text_at(error, &["message"]).into_iter().collect();
    let field = extensions.and_then(named_field);
    FieldError { field, messages, code: None, members: extensions.into_iter().collect() }.facts()
}
