//! Optional properties where every property is required: the value may be null.

use reknit_protocol::Value;

/// The schema that also allows null; none if it cannot be said.
pub(super) fn nullable(schema: Value) -> Option<Value> {
    let Value::Object(mut object) = schema else { return None };
    let null = || Value::from([("type", "null".into())]);
    if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
        if !alternatives.contains(&null()) {
            alternatives.push(null());
        }
        return Some(object.into());
    }
    if object.contains_key("$ref") || object.contains_key("const") {
        return Some(Value::from([("anyOf", vec![Value::from(object), null()].into())]));
    }
    let types = match object.get("type")? {
        Value::String(only) if only == "null" => return Some(object.into()),
        Value::String(only) => vec![Value::from(only.as_str()), "null".into()],
        Value::Array(several) if several.contains(&"null".into()) => several.clone(),
        Value::Array(several) => several.iter().cloned().chain(["null".into()]).collect(),
        _ => return None,
    };
    object.insert("type", types);
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Some(object.into())
}
