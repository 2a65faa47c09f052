//! Access to the JSON of servers.

use reknit_model_api::{Citation, Money};
use reknit_protocol::Value;

/// An object with these keys and values.
macro_rules! object {
    ($($key:literal: $value:expr),* $(,)?) => {{
        let mut object = reknit_protocol::Object::new();
        $(object.insert($key, $value);)*
        reknit_protocol::Value::Object(object)
    }};
}

/// Parses JSON; none if the bytes are not valid.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    Value::parse(std::str::from_utf8(bytes).ok()?).ok()
}

/// The value at a path of keys; none if it is missing or null.
pub(crate) fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// The text at a path; none if it is empty.
pub(crate) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys).and_then(Value::as_str).filter(|text| !text.is_empty())
}

pub(crate) fn count(value: &Value, keys: &[&str]) -> Option<u64> {
    at(value, keys).and_then(Value::as_number).and_then(reknit_protocol::Number::as_u64)
}

/// The amount of money at a path, in the currency's unit.
pub(crate) fn money(value: &Value, keys: &[&str]) -> Option<Money> {
    let number = at(value, keys).and_then(Value::as_number)?;
    Money::try_from(number.to_string().parse::<f64>().ok()?).ok()
}

/// A source with the address, the title and the text at these keys.
pub(crate) fn citation(value: &Value, url: &str, title: &str, quoted: &str) -> Citation {
    let owned = |key: &str| text(value, &[key]).map(str::to_owned);
    Citation { url: owned(url), title: owned(title), text: owned(quoted) }
}

pub(crate) fn list<'a>(value: &'a Value, keys: &[&str]) -> &'a [Value] {
    at(value, keys).and_then(Value::as_array).unwrap_or_default()
}

pub(crate) fn has_list(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(|value| value.as_array().is_some())
}
