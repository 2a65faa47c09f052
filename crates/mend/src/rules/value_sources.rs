//! Where a missing value may come from: the schema, the results or the request.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Value};

use super::{RejectedCall, only, request_values};

/// Keys under which tools wrap their data.
const WRAPPERS: [&str; 3] = ["data", "response", "result"];

/// The only value that the schema allows at a path.
pub(super) fn only_value_in_schema(call: &RejectedCall<'_>, at: &Path) -> Option<Value> {
    let schema = call.schema_at(at)?;
    let single = schema.get("enum").and_then(Value::as_array).and_then(|values| only(values.iter()));
    schema.get("const").or(single).cloned()
}

/// The value under a name in the results, if all results that have one agree.
pub(super) fn only_value_in_results(call: &RejectedCall<'_>, name: &str) -> Option<Value> {
    let bodies = call.results.iter().filter_map(|(_, body)| body.as_object());
    let objects = bodies
        .flat_map(|body| std::iter::once(body).chain(WRAPPERS.iter().filter_map(|key| body.get(key)?.as_object())));
    all_equal(objects.flat_map(|object| values_named(object, name)))
}

/// The value after a name in the request (`amount: 5`, `city=Paris`), if there is only one.
pub(super) fn only_value_in_request(call: &RejectedCall<'_>, name: &str) -> Option<Value> {
    let values: Vec<Value> = call.request.iter().flat_map(|text| request_values::values_after(text, name)).collect();
    all_equal(values.iter())
}

fn values_named<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = &'a Value> {
    let alike = || only(object.iter().filter(|(key, _)| are_alike(key, name))).map(|(_, value)| value);
    object.get(name).or_else(alike).into_iter().filter(|value| !value.is_null())
}

fn all_equal<'a>(mut values: impl Iterator<Item = &'a Value>) -> Option<Value> {
    let first = values.next()?;
    values.all(|other| other == first).then(|| first.clone())
}
