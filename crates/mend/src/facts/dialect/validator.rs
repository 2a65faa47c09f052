//! Schema validators: ajv (`instancePath`, `keyword`, `params`) and zod (`issues` with `path` and `code`).

use reknit_protocol::{Object, Value};

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::{Fact, FactKind, Field};

/// The facts of all errors.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let inside = body.get("error");
    let lists = ["errors", "issues", "validationErrors"];
    let all = lists.iter().flat_map(|name| [body.get(name), inside.and_then(|error| error.get(name))]);
    all.flat_map(objects)
        .flat_map(|error| match (error.contains_key("instancePath"), error.get("path")) {
            (true, _) => ajv(error),
            (false, Some(Value::Array(_))) => zod(error),
            _ => Vec::new(),
        })
        .collect()
}

fn ajv(error: &Object) -> Vec<Fact> {
    let field = error.get("instancePath").and_then(Value::as_str).and_then(Field::parse);
    let params = error.get("params").and_then(Value::as_object);
    let named = |name: &str| params.and_then(|params| params.get(name)).and_then(Value::as_str);
    let inner = |name: &str| field.as_ref().map_or_else(|| Field::parse(name), |field| Some(field.child(name)));
    if let Some(field) = named("missingProperty").and_then(inner) {
        return vec![Fact::new(Some(field), FactKind::Missing)];
    }
    if let Some(field) = named("additionalProperty").and_then(inner) {
        return vec![Fact::new(Some(field), FactKind::UnknownField { known: Vec::new() })];
    }
    let messages = text_at(error, &["message"]).into_iter().collect();
    FieldError { field, messages, code: text_at(error, &["keyword"]), members: params.into_iter().collect() }.facts()
}

fn zod(error: &Object) -> Vec<Fact> {
    let field = error.get("path").and_then(Field::from_value);
    // `received` names a type in zod, and no value.
    let mut members = error.clone();
    members.remove("received");
    members.remove("path");
    if text_at(error, &["message"]) == Some("Required") {
        return vec![Fact::new(field, FactKind::Missing)];
    }
    let messages = text_at(error, &["message"]).into_iter().collect();
    FieldError { field, messages, code: text_at(error, &["code"]), members: vec![&members] }.facts()
}
