//! JSON:API: `errors` with `source.pointer` or `source.parameter`.

use reknit_protocol::{Object, Value};

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::{Fact, Field};

/// The facts of all errors.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let errors = objects(body.get("errors")).filter(|error| error.contains_key("source"));
    let read = |error: &Object| {
        let source = error.get("source");
        let text = |name| source.and_then(|source| source.get(name)).and_then(Value::as_str);
        let pointer = text("pointer").and_then(Field::parse).map(|field| field.without_prefix(&["data", "attributes"]));
        let field = pointer.or_else(|| Field::parse(text("parameter")?));
        let messages = ["detail", "title"].iter().filter_map(|name| error.get(name)?.as_str()).collect();
        let meta = error.get("meta").and_then(Value::as_object).into_iter().collect();
        FieldError { field, messages, code: text_at(error, &["code"]), members: meta }.facts()
    };
    errors.flat_map(read).collect()
}
