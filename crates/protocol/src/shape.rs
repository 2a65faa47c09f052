//! Conversion between typed structs and JSON objects: errors with a path, and unknown fields that are kept.

mod extra;
mod object_reader;

pub use extra::ExtraFields;
pub use extra::{ActualShape, ShapeError};
pub(crate) use object_reader::ObjectWriter;
pub(crate) use object_reader::{ObjectReader, flag, list, object, text};

use crate::{Path, Value};

/// A type that has a JSON form.
pub(crate) trait Wire: Sized {
    /// Converts the value, whose path is `path`.
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError>;

    fn write(&self) -> Value;
}

/// Implements the public conversions of a [`Wire`] type, all through [`Value`] so that no digit is lost.
macro_rules! wire {
    ($name:ty) => {
        impl $name {
            /// Reads the JSON form and keeps unknown fields. Fails at the first missing or wrong field.
            pub fn from_value(value: &$crate::Value) -> Result<Self, $crate::ShapeError> {
                Self::try_from(value.clone())
            }

            /// The JSON form, with the key order, digits and unknown fields of the original.
            pub fn to_value(&self) -> $crate::Value {
                $crate::shape::Wire::write(self)
            }
        }

        impl TryFrom<$crate::Value> for $name {
            type Error = $crate::ShapeError;

            /// Reads the JSON form without copying the value.
            fn try_from(value: $crate::Value) -> Result<Self, $crate::ShapeError> {
                $crate::shape::Wire::read(value, &$crate::Path::root())
            }
        }

        impl From<&$name> for $crate::Value {
            fn from(item: &$name) -> Self {
                item.to_value()
            }
        }

        impl $crate::exact::ExactJson for $name {
            fn to_json(&self) -> String {
                self.to_value().to_string()
            }
        }

        impl serde::Serialize for $name {
            /// Fails if a number does not fit serde's 64-bit numbers exactly; `to_value` has no such limit.
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(out)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let value = <$crate::Value as serde::Deserialize>::deserialize(from)?;
                Self::try_from(value).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use wire;
