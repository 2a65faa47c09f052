//! To and from `serde_json::Value`, which keeps 64 bits of a number and no more.
//!
//! Loops rather than iterator chains: a level of nesting then takes half the stack in a debug build.

use crate::number::Carrier;
use crate::{Number, Object, Value};

impl Value {
    /// The same value for a library that speaks `serde_json`.
    ///
    /// This edge may lose digits: integers are exact within `i64` and `u64`, every other number becomes the nearest
    /// float, and one beyond the range of floats becomes the largest float of its sign. Compare with [`Value::parse`]
    /// and `Display`, which lose nothing.
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Number(number) => number_to_serde(number),
            Self::String(text) => text.clone().into(),
            Self::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(item.to_serde());
                }
                list.into()
            }
            Self::Object(object) => {
                let mut map = serde_json::Map::with_capacity(object.len());
                for (key, value) in object {
                    map.insert(key.to_owned(), value.to_serde());
                }
                map.into()
            }
        }
    }
}

fn number_to_serde(number: &Number) -> serde_json::Value {
    match number.carrier() {
        Carrier::I64(value) => value.into(),
        Carrier::U64(value) => value.into(),
        Carrier::F64(value) => value.clamp(f64::MIN, f64::MAX).into(),
    }
}

impl From<serde_json::Value> for Value {
    /// Exact for everything such a value can hold.
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => number_from_serde(&number),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(Self::from(item));
                }
                Self::Array(list)
            }
            serde_json::Value::Object(map) => {
                let mut object = Object::with_capacity(map.len());
                for (key, value) in map {
                    object.insert(key, Self::from(value));
                }
                Self::Object(object)
            }
        }
    }
}

fn number_from_serde(number: &serde_json::Number) -> Value {
    // Its text is a JSON number by the type's own promise; null is what serde_json itself makes of what is not.
    Number::parse(&number.to_string()).map_or(Value::Null, Value::Number)
}
