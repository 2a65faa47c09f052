//! Reading and writing of JSON.

use reknit_protocol::{Number, Object, Value};

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

pub(crate) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys).and_then(Value::as_str)
}

pub(crate) fn list<'a>(value: &'a Value, keys: &[&str]) -> &'a [Value] {
    at(value, keys).and_then(Value::as_array).unwrap_or_default()
}

pub(crate) fn count(value: &Value, keys: &[&str]) -> Option<u64> {
    at(value, keys).and_then(Value::as_number).and_then(Number::as_u64)
}

pub(crate) fn or_null<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}
