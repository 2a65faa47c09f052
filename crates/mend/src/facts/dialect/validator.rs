//! Validators of schemas: ajv (`instancePath`, `keyword`, `params`) and zod (`issues` with `path` and `code`).

use reknit_protocol::{Object, Value};

use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::{Fact, Field, Says};

/// What each error says about its place.
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
    let at = error.get("instancePath").and_then(Value::as_str).and_then(Field::parse);
    let facts = error.get("params").and_then(Value::as_object);
    let named = |name: &str| facts.and_then(|facts| facts.get(name)).and_then(Value::as_str);
    let inner = |name: &str| at.as_ref().map_or_else(|| Field::parse(name), |at| Some(at.with(name)));
    if let Some(field) = named("missingProperty").and_then(inner) {
        return vec![Fact::new(Some(field), Says::Missing)];
    }
    if let Some(field) = named("additionalProperty").and_then(inner) {
        return vec![Fact::new(Some(field), Says::Unknown { known: Vec::new() })];
    }
    let words = text_at(error, &["message"]).into_iter().collect();
    Complaint { field: at, words, code: text_at(error, &["keyword"]), facts: facts.into_iter().collect() }.read()
}

fn zod(error: &Object) -> Vec<Fact> {
    let field = error.get("path").and_then(Field::of_value);
    // `received` names a type here, and no value.
    let mut stated = error.clone();
    stated.remove("received");
    stated.remove("path");
    if text_at(error, &["message"]) == Some("Required") {
        return vec![Fact::new(field, Says::Missing)];
    }
    let words = text_at(error, &["message"]).into_iter().collect();
    Complaint { field, words, code: text_at(error, &["code"]), facts: vec![&stated] }.read()
}
