//! Shortens values for prompts and messages.

mod abridger;

use std::collections::HashSet;

use reknit_protocol::{Object, StepId, Value};

use crate::{StepResult, StepResults};
use abridger::Abridger;

/// Shortens a value to at most `limit` bytes of JSON.
///
/// A value that fits is unchanged. Otherwise long strings and arrays are cut, with a note on how long they are, and nested
/// values are replaced with their type. Fields that resemble the `wanted` names get the most space. The result is
/// deterministic. A limit below 5 counts as 5, the size of the shortest placeholder.
///
/// ```
/// use reknit_expressions::abridge;
/// use reknit_protocol::Value;
///
/// let log = r#"["a line", "another line", "one more line", "yet another line", "a line", "the last line"]"#;
/// let body = Value::parse(&format!(r#"{{"id": 7, "log": {log}, "price": 468.285}}"#))?;
/// assert_eq!(abridge(&body, 200, &[]), body);
/// assert_eq!(
///     abridge(&body, 100, &["price"]).to_string(),
///     r#"{"id":7,"log":["a line","another line","… 4 more items"],"price":468.285}"#
/// );
/// # Ok::<(), reknit_protocol::ParseError>(())
/// ```
pub fn abridge(value: &Value, limit: usize, wanted: &[&str]) -> Value {
    Abridger::new(wanted).value(value, limit)
}

/// The results of `steps` by step id, shortened together to at most `limit` bytes of JSON, for a model that locates the
/// `wanted` parameters in them.
///
/// Steps without a result are omitted. If there is not enough space for all, the first ones in `steps` are kept.
pub fn abridge_results(results: &dyn StepResults, steps: &[StepId], limit: usize, wanted: &[&str]) -> Object {
    let mut bodies: Vec<(&str, &Value)> = Vec::new();
    let mut seen: HashSet<&StepId> = HashSet::new();
    for step in steps.iter().filter(|step| seen.insert(step)) {
        if let StepResult::Ready(body) = results.result_of(step) {
            bodies.push((step.as_str(), body));
        }
    }
    Abridger::new(wanted).entries(&bodies, limit)
}
