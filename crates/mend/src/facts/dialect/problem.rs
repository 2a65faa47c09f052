//! Problem details (RFC 9457, 7807): `errors` with `detail` and `pointer`, or the older `invalid-params`.

use reknit_protocol::Value;

use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::stated::field_of;
use crate::facts::{Fact, Field};

/// What the members of the problem say.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let lists = ["errors", "invalid-params", "invalid_params", "invalidParams"];
    let complaints = lists.iter().flat_map(|name| objects(body.get(name)));
    complaints
        .filter(|object| ["pointer", "detail", "reason"].iter().any(|name| object.contains_key(name)))
        .filter(|object| !object.contains_key("source"))
        .flat_map(|object| {
            let field = field_of(object).or_else(|| Field::of_value(object.get("name")?));
            let words = text_at(object, &["detail", "reason", "message"]).into_iter().collect();
            Complaint { field, words, code: text_at(object, &["code", "type"]), facts: vec![object] }.read()
        })
        .collect()
}
