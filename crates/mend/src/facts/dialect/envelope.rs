//! The envelope of our own protocol: `{"success": false, "error": {"message": ..., "details": {...}}}`.

use reknit_protocol::Value;

use crate::facts::Fact;
use crate::facts::object_keys::{facts_in_object, named_field};

/// The facts that the details state.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let details = body.get("error").and_then(|error| error.get("details")).and_then(Value::as_object);
    details.map_or_else(Vec::new, |details| facts_in_object(details, named_field(details).as_ref()))
}
