//! Google and Kubernetes: field errors under `error.details[].fieldViolations` and `details.causes`.

use reknit_protocol::{Object, Value};

use crate::facts::field_error::{FieldError, objects, text_at};
use crate::facts::{Fact, Field};

/// The facts of all violations and causes.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let details = objects(body.get("error").and_then(|error| error.get("details")));
    let violations = details.flat_map(|detail| objects(detail.get("fieldViolations")));
    let causes = objects(body.get("details").and_then(|details| details.get("causes")));
    violations.chain(causes).flat_map(read).collect()
}

fn read(error: &Object) -> Vec<Fact> {
    let field = error.get("field").and_then(Field::from_value);
    let messages = text_at(error, &["description", "message"]).into_iter().collect();
    FieldError { field, messages, code: None, members: Vec::new() }.facts()
}
