//! Spring, Quarkus and Symfony: lists with `field` or `propertyPath`, `defaultMessage` and `rejectedValue`.

use reknit_protocol::{Object, Value};

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::{Fact, Field};

/// The facts of all errors that name a field.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let lists = ["errors", "fieldErrors", "field_errors", "violations", "subErrors", "details"];
    let inside = body.get("error");
    let all = lists
        .iter()
        .flat_map(|name| [body.get(name), inside.and_then(|error| error.get(name))].into_iter().flat_map(objects));
    all.flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let names = ["field", "propertyPath", "param", "target"];
    let Some(field) = names.iter().find_map(|name| Field::from_value(error.get(name)?)) else { return Vec::new() };
    let messages = text_at(error, &["defaultMessage", "message", "description", "msg"]).into_iter().collect();
    FieldError { field: Some(field), messages, code: text_at(error, &["code", "type"]), members: vec![error] }.facts()
}
