//! GraphQL: `errors` with `message` and `extensions`. The path is that of the answer and names no argument.

use reknit_protocol::{Object, Value};

use crate::facts::Fact;
use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::stated::field_of;

/// What each message says.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let errors = objects(body.get("errors"));
    let is_graphql = |error: &&Object| error.contains_key("extensions") || error.contains_key("locations");
    errors.filter(is_graphql).flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let extensions = error.get("extensions").and_then(Value::as_object);
    let words = text_at(error, &["message"]).into_iter().collect();
    let field = extensions.and_then(field_of);
    Complaint { field, words, code: None, facts: extensions.into_iter().collect() }.read()
}
