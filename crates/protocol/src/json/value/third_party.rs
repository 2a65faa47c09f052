//! Serde for JSON values, which fails rather than lose digits, and conversions to and from `serde_json::Value`.
//!
//! Loops instead of iterator chains halve the stack per level of nesting in debug builds.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::json::number::MachineNumber;
use crate::{Number, Object, Value};

impl Serialize for Number {
    /// Fails if the number does not fit a 64-bit integer or float exactly.
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.to_machine_number() {
            MachineNumber::I64(value) => out.serialize_i64(value),
            MachineNumber::U64(value) => out.serialize_u64(value),
            MachineNumber::F64(value) if self.has_decimal_text_of(value) => out.serialize_f64(value),
            MachineNumber::F64(_) => {
                Err(S::Error::custom(format!("the number {self} does not fit a 64-bit integer or float exactly")))
            }
        }
    }
}

impl Serialize for Value {
    /// Fails if a number in it does not fit a 64-bit integer or float exactly.
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => out.serialize_unit(),
            Self::Bool(value) => out.serialize_bool(*value),
            Self::Number(number) => number.serialize(out),
            Self::String(text) => out.serialize_str(text),
            Self::Array(items) => {
                let mut list = out.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(object) => object.serialize(out),
        }
    }
}

impl Serialize for Object {
    /// Fails if a number in it does not fit a 64-bit integer or float exactly.
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

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
            // The text is always a JSON number. Null is what serde_json itself writes for a number that is not finite.
            serde_json::Value::Number(number) => Number::parse(&number.to_string()).map_or(Self::Null, Self::Number),
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

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        Value::deserialize(inner)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::try_from(value).map(Value::Number).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
            }
            object.insert(key, entries.next_value::<Value>()?);
        }
        Ok(Value::Object(object))
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Fails on floats that are not finite and on duplicate keys.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Number {
    /// Fails unless the input is a finite number.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Number(number) => Ok(number),
            other => Err(D::Error::custom(format_args!("expected a number, found {}", other.kind().with_article()))),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    /// Fails unless the input is a map with string keys.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(object) => Ok(object),
            other => Err(D::Error::custom(format_args!("expected an object, found {}", other.kind().with_article()))),
        }
    }
}
