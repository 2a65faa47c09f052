//! Problem details (RFC 9457, 7807): `errors` with `detail` and `pointer`, or the older `invalid-params`.

use reknit_protocol::Value;

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::object_keys::named_field;
use crate::facts::{Fact, Field};

/// The facts of all entries of the problem.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let lists = ["errors", "invalid-params", "invalid_params", "invalidParams"];
    let errors = lists.iter().flat_map(|name| objects(body.get(name)));
    errors
        .filter(|object| ["pointer", "detail", "reason"].iter().any(|name| object.contains_key(name)))
        .filter(|object| !object.contains_key("source"))
        .flat_map(|object| {
            let field = named_field(object).or_else(|| Field::from_value(object.get("name")?));
            let messages = text_at(object, &["detail", "reason", "message"]).into_iter().collect();
            FieldError { field, messages, code: text_at(object, &["code", "type"]), members: vec![object] }.facts()
        })
        .collect()
}
