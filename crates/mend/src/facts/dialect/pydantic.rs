//! `FastAPI` and pydantic: `detail` is a list with `loc`, `msg`, `type`, `ctx` and `input`.

use reknit_protocol::{Object, Value};

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::{Fact, Field};

/// The parts of a request that `loc` starts with; they are no part of the field.
const REQUEST_PARTS: [&str; 6] = ["body", "query", "path", "header", "cookie", "form"];

/// The facts of all errors.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let lists = [body.get("detail"), body.get("errors"), Some(body)];
    lists.into_iter().flat_map(objects).filter(|error| error.contains_key("loc")).flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let mut field = error.get("loc").and_then(Value::as_array).and_then(Field::from_list);
    for part in REQUEST_PARTS {
        field = field.map(|field| field.without_prefix(&[part]));
    }
    let context = error.get("ctx").and_then(Value::as_object).into_iter().collect();
    let messages = text_at(error, &["msg"]).into_iter().collect();
    FieldError { field, messages, code: text_at(error, &["type"]), members: context }.facts()
}
