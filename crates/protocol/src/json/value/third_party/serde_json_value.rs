//! Conversions to and from `serde_json::Value`, whose numbers have 64 bits.
//!
//! Loops instead of iterator chains halve the stack per level of nesting in debug builds.

use crate::json::number::MachineNumber;
use crate::{Number, Object, Value};

impl Value {
    /// Converts to `serde_json::Value`, for libraries that need one.
    ///
    /// The conversion may lose digits: integers are exact within `i64` and `u64`, any other number becomes the nearest
    /// float, and a number out of the range of floats becomes the largest or smallest float. [`Value::parse`] and
    /// `Display` lose nothing.
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
    match number.to_machine_number() {
        MachineNumber::I64(value) => value.into(),
        MachineNumber::U64(value) => value.into(),
        MachineNumber::F64(value) => value.clamp(f64::MIN, f64::MAX).into(),
    }
}

impl From<serde_json::Value> for Value {
    /// Converts without loss.
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
    // The text is always a JSON number. Null is what serde_json itself writes for a number that is not finite.
    Number::parse(&number.to_string()).map_or(Value::Null, Value::Number)
}
