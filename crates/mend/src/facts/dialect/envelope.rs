//! The envelope of our own protocol: `{"success": false, "error": {"message": ..., "details": {...}}}`.

use reknit_protocol::Value;

use crate::facts::Fact;
use crate::facts::stated::{field_of, stated};

/// What the details state.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let details = body.get("error").and_then(|error| error.get("details")).and_then(Value::as_object);
    details.map_or_else(Vec::new, |details| stated(details, field_of(details).as_ref()))
}
