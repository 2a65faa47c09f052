//! Google and Kubernetes: complaints one level further inside, under `error.details[].fieldViolations` and `details.causes`.

use reknit_protocol::{Object, Value};

use crate::facts::complaint::{Complaint, objects, text_at};
use crate::facts::{Fact, Field};

/// What each of them says about its field.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let details = objects(body.get("error").and_then(|error| error.get("details")));
    let violations = details.flat_map(|detail| objects(detail.get("fieldViolations")));
    let causes = objects(body.get("details").and_then(|details| details.get("causes")));
    violations.chain(causes).flat_map(read).collect()
}

fn read(complaint: &Object) -> Vec<Fact> {
    let field = complaint.get("field").and_then(Field::of_value);
    let words = text_at(complaint, &["description", "message"]).into_iter().collect();
    Complaint { field, words, code: None, facts: Vec::new() }.read()
}
