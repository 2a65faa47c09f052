//! `FastAPI` and pydantic: `detail` is a list with `loc`, `msg`, `type`, `ctx` and `input`.

use reknit_protocol::{Object, Value};

use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::{Fact, Field};

/// Where a request was read from; never part of a name.
const PLACES: [&str; 6] = ["body", "query", "path", "header", "cookie", "form"];

/// What each error says about its place.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let lists = [body.get("detail"), body.get("errors"), Some(body)];
    lists.into_iter().flat_map(objects).filter(|error| error.contains_key("loc")).flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let mut field = error.get("loc").and_then(Value::as_array).and_then(Field::from_list);
    for head in PLACES {
        field = field.map(|field| field.without(&[head]));
    }
    let context = error.get("ctx").and_then(Value::as_object).into_iter().collect();
    let words = text_at(error, &["msg"]).into_iter().collect();
    Complaint { field, words, code: text_at(error, &["type"]), facts: context }.read()
}
