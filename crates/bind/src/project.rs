//! Values made small enough to be shown: to a model that is to find something in them, or to a person.

mod fit_in;
mod near;
mod size;

use std::collections::HashSet;

use reknit_protocol::{Object, StepId, Value};

use crate::{Source, Sources};
use fit_in::Projection;
pub(crate) use near::Wanted;

/// A value that takes at most `limit` bytes as JSON, and says as much as it can of the one it stands for.
///
/// What fits is left as it is. Otherwise long texts and long lists are shortened, with a count of what there is; the
/// names and kinds of everything else stay as long as there is room, those near the `wanted` names longest. The same
/// value and limit always give the same. A limit below 5 counts as 5: nothing shorter can say that something is there.
///
/// ```
/// use reknit_bind::project;
/// use reknit_protocol::Value;
///
/// let log = r#"["a line", "another line", "one more line", "yet another line", "a line", "the last line"]"#;
/// let body = Value::parse(&format!(r#"{{"id": 7, "log": {log}, "price": 468.285}}"#))?;
/// assert_eq!(project(&body, 200, &[]), body);
/// assert_eq!(
///     project(&body, 100, &["price"]).to_string(),
///     r#"{"id":7,"log":["a line","another line","… 4 more items"],"price":468.285}"#
/// );
/// # Ok::<(), reknit_protocol::ParseError>(())
/// ```
pub fn project(value: &Value, limit: usize, wanted: &[&str]) -> Value {
    Projection::new(&Wanted::new(wanted)).value(value, limit)
}

/// The results of steps by their ids, all of them together within `limit` bytes: what a model may see that is to find
/// the `wanted` parameters in them.
///
/// Steps that have no result are left out. If there is no room for all, those that stand first in `steps` are shown.
pub fn project_results(sources: &dyn Sources, steps: &[StepId], limit: usize, wanted: &[&str]) -> Object {
    let mut results: Vec<(&str, &Value)> = Vec::new();
    let mut known: HashSet<&StepId> = HashSet::new();
    for step in steps.iter().filter(|step| known.insert(step)) {
        if let Source::Ready(body) = sources.source(step) {
            results.push((step.as_str(), body));
        }
    }
    Projection::new(&Wanted::new(wanted)).entries(&results, limit)
}
