//! Looking into what servers say.

use reknit_protocol::Value;

/// Reads JSON; what is none, or no text, is nothing.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    Value::parse(std::str::from_utf8(bytes).ok()?).ok()
}

/// What stands at the end of this way through objects.
pub(crate) fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// A text that is not empty.
pub(crate) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A count of things.
pub(crate) fn count(value: &Value, keys: &[&str]) -> Option<u64> {
    at(value, keys).and_then(Value::as_number).and_then(reknit_protocol::Number::as_u64)
}

/// The members of a list; none if there is no list.
pub(crate) fn list<'a>(value: &'a Value, keys: &[&str]) -> &'a [Value] {
    at(value, keys).and_then(Value::as_array).unwrap_or_default()
}
