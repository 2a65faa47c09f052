//! Serde support that keeps every digit of the numbers in a field: `#[serde(with = "exact")]`.
//!
//! Serde's data model has numbers of at most 64 bits, so serialising a [`Value`] that holds a number of thirty digits
//! fails. This module serialises the field as raw JSON text instead. It works only with `serde_json`'s text format. It
//! fails inside flattened types and inside enums that are not externally tagged (serde's default), because serde
//! buffers their content.
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

use std::fmt::Display;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Object, Value};

/// A type with a lossless JSON form: [`Value`], [`Object`] and every type of this crate that converts to a value.
pub trait ExactJson: TryFrom<Value, Error: Display> {
    fn to_json(&self) -> String;
}

impl ExactJson for Value {
    fn to_json(&self) -> String {
        self.to_string()
    }
}

impl ExactJson for Object {
    fn to_json(&self) -> String {
        self.to_string()
    }
}

fn to_raw<E: serde::ser::Error>(field: &impl ExactJson) -> Result<Box<RawValue>, E> {
    RawValue::from_string(field.to_json()).map_err(E::custom)
}

fn from_raw<T: ExactJson, E: serde::de::Error>(text: &RawValue) -> Result<T, E> {
    let value = Value::parse(text.get()).map_err(E::custom)?;
    T::try_from(value).map_err(E::custom)
}

pub fn serialize<T: ExactJson, S: Serializer>(field: &T, out: S) -> Result<S::Ok, S::Error> {
    to_raw::<S::Error>(field)?.serialize(out)
}

pub fn deserialize<'de, T: ExactJson, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from_raw(&Box::<RawValue>::deserialize(from)?)
}

/// The same for an `Option`. `None` is serialised as `null`, so `Some(Value::Null)` comes back as `None`.
pub mod option {
    use super::{Deserialize, Deserializer, ExactJson, RawValue, Serializer, from_raw, to_raw};

    pub fn serialize<T: ExactJson, S: Serializer>(field: &Option<T>, out: S) -> Result<S::Ok, S::Error> {
        match field {
            None => out.serialize_none(),
            Some(field) => out.serialize_some(&to_raw::<S::Error>(field)?),
        }
    }

    pub fn deserialize<'de, T: ExactJson, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        Option::<Box<RawValue>>::deserialize(from)?.map(|text| from_raw(&text)).transpose()
    }
}
