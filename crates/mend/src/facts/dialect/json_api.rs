//! JSON:API: `errors` with `source.pointer` or `source.parameter`.

use reknit_protocol::{Object, Value};

use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::{Fact, Field};

/// What each error says about its source.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let errors = objects(body.get("errors")).filter(|error| error.contains_key("source"));
    let read = |error: &Object| {
        let source = error.get("source");
        let text = |name| source.and_then(|source| source.get(name)).and_then(Value::as_str);
        let pointer = text("pointer").and_then(Field::parse).map(|field| field.without(&["data", "attributes"]));
        let field = pointer.or_else(|| Field::parse(text("parameter")?));
        let words = ["detail", "title"].iter().filter_map(|name| error.get(name)?.as_str()).collect();
        let meta = error.get("meta").and_then(Value::as_object).into_iter().collect();
        Complaint { field, words, code: text_at(error, &["code"]), facts: meta }.read()
    };
    errors.flat_map(read).collect()
}
