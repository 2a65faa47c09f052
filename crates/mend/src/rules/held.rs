//! Values that somebody holds under a name.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Value};

use super::{Case, written};

/// The layers that tools put around what they answer.
const LAYERS: [&str; 3] = ["data", "response", "result"];

/// The one value that the schema allows at a place.
pub(super) fn by_schema(case: &Case<'_>, at: &Path) -> Option<Value> {
    let schema = case.schema_at(at)?;
    let single = schema.get("enum").and_then(Value::as_array).and_then(|values| match values {
        [only] => Some(only),
        _ => None,
    });
    schema.get("const").or(single).cloned()
}

/// The value that the schema takes for a place where nobody gives one.
pub(super) fn by_default(case: &Case<'_>, at: &Path) -> Option<Value> {
    case.schema_at(at)?.get("default").cloned()
}

/// The one value that the results hold under a name.
pub(super) fn by_results(case: &Case<'_>, name: &str) -> Option<Value> {
    let bodies = case.results.iter().filter_map(|(_, body)| body.as_object());
    let objects = bodies
        .flat_map(|body| std::iter::once(body).chain(LAYERS.iter().filter_map(|layer| body.get(layer)?.as_object())));
    only(objects.flat_map(|object| named(object, name)))
}

/// The one value that the request writes after a name: `amount: 5`, `city=Paris`.
pub(super) fn by_request(case: &Case<'_>, name: &str) -> Option<Value> {
    let values: Vec<Value> = case.request.iter().flat_map(|text| written::after(text, name)).collect();
    only(values.iter())
}

fn named<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = &'a Value> {
    let value = object.get(name).or_else(|| {
        let mut alike = object.iter().filter(|(key, _)| are_alike(key, name));
        match (alike.next(), alike.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    });
    value.into_iter().filter(|value| !value.is_null())
}

fn only<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Value> {
    let mut values = values;
    let first = values.next()?;
    values.all(|other| other == first).then(|| first.clone())
}
