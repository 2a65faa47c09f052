//! Reading and writing of JSON.

use reknit_protocol::{Number, Object, Value};

/// An object with these keys and values.
macro_rules! object {
    ($($key:literal: $value:expr),* $(,)?) => {{
        let mut object = reknit_protocol::Object::new();
        $(object.insert($key, $value);)*
        object
    }};
}

/// The value under a key; none if it is missing or null.
pub(crate) fn field<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// The value at a path of keys; none if it is missing or null.
pub(crate) fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// The text at a path.
pub(crate) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys).and_then(Value::as_str)
}

/// The items of the list at a path; empty if there is no list.
pub(crate) fn list<'a>(value: &'a Value, keys: &[&str]) -> &'a [Value] {
    at(value, keys).and_then(Value::as_array).unwrap_or_default()
}

/// The non-negative integer at a path.
pub(crate) fn count(value: &Value, keys: &[&str]) -> Option<u64> {
    at(value, keys).and_then(Value::as_number).and_then(Number::as_u64)
}

/// Null if there is no value.
pub(crate) fn or_null<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}
