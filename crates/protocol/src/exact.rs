//! Values inside types that are written as JSON text, digit for digit.
//!
//! serde carries numbers of 64 bits and nothing longer, so [`Value`] as a field of a derived type fails on a number with
//! thirty digits. With this module the field travels as the text it is. Formats other than JSON text refuse it; so do
//! tagged and flattened types, which copy what they hold through serde's own buffer: enums around it must carry their
//! name outside (serde's default).
//!
//! ```
//! use reknit_protocol::{Value, exact};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Answer {
//!     #[serde(with = "exact")]
//!     body: Value,
//! }
//! let text = r#"{"body":{"id":123456789012345678901234567890,"price":0.10}}"#;
//! let answer: Answer = serde_json::from_str(text)?;
//! assert_eq!(serde_json::to_string(&answer)?, text);
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Object, Value};

/// What has an exact form in JSON text: [`Value`], [`Object`] and everything of this crate that converts to a value.
pub trait Exact: Sized {
    /// The JSON text.
    fn to_text(&self) -> String;
    /// Reads it back; fails with words if the value has another shape.
    fn from_exact(value: Value) -> Result<Self, String>;
}

impl Exact for Value {
    fn to_text(&self) -> String {
        self.to_string()
    }

    fn from_exact(value: Value) -> Result<Self, String> {
        Ok(value)
    }
}

impl Exact for Object {
    fn to_text(&self) -> String {
        self.to_string()
    }

    fn from_exact(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(object) => Ok(object),
            other => Err(format!("expected an object, found {}", other.kind())),
        }
    }
}

fn raw<E: serde::ser::Error>(thing: &impl Exact) -> Result<Box<RawValue>, E> {
    RawValue::from_string(thing.to_text()).map_err(E::custom)
}

fn read<T: Exact, E: serde::de::Error>(text: &RawValue) -> Result<T, E> {
    let value = Value::parse(text.get()).map_err(E::custom)?;
    T::from_exact(value).map_err(E::custom)
}

/// Writes a field.
pub fn serialize<T: Exact, S: Serializer>(thing: &T, out: S) -> Result<S::Ok, S::Error> {
    raw::<S::Error>(thing)?.serialize(out)
}

/// Reads it back.
pub fn deserialize<'de, T: Exact, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    read(&Box::<RawValue>::deserialize(from)?)
}

/// The same for what may be absent. An absent field is written as `null`, so `Some(Value::Null)` comes back as `None`.
pub mod option {
    use super::{Deserialize, Deserializer, Exact, RawValue, Serializer, raw, read};

    /// Writes a field.
    pub fn serialize<T: Exact, S: Serializer>(thing: &Option<T>, out: S) -> Result<S::Ok, S::Error> {
        match thing {
            None => out.serialize_none(),
            Some(thing) => out.serialize_some(&raw::<S::Error>(thing)?),
        }
    }

    /// Reads it back.
    pub fn deserialize<'de, T: Exact, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        Option::<Box<RawValue>>::deserialize(from)?.map(|text| read(&text)).transpose()
    }
}
