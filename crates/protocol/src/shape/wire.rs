//! What every type of the protocol can do with JSON.

use super::ShapeError;
use crate::{Path, Value};

/// A type that has a JSON form.
pub(crate) trait Wire: Sized {
    /// Reads a value that stands at `path`.
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError>;

    /// Writes the value.
    fn write(&self) -> Value;
}

/// Gives a [`Wire`] type its public conversions, all through [`Value`] so that no digit is lost on the way.
macro_rules! wire {
    ($name:ty) => {
        impl $name {
            /// Reads the JSON form; unknown fields are kept.
            ///
            /// Fails at the first field that is missing or of the wrong kind.
            pub fn from_value(value: &$crate::Value) -> Result<Self, $crate::ShapeError> {
                Self::try_from(value.clone())
            }

            /// The JSON form. What was read is written as it was: key order, digits, unknown fields.
            pub fn to_value(&self) -> $crate::Value {
                $crate::shape::Wire::write(self)
            }
        }

        impl TryFrom<$crate::Value> for $name {
            type Error = $crate::ShapeError;

            /// Reads the JSON form, taking the value apart instead of copying it.
            fn try_from(value: $crate::Value) -> Result<Self, $crate::ShapeError> {
                $crate::shape::Wire::read(value, &$crate::Path::root())
            }
        }

        impl From<&$name> for $crate::Value {
            fn from(thing: &$name) -> Self {
                thing.to_value()
            }
        }

        impl $crate::exact::Exact for $name {
            fn to_text(&self) -> String {
                self.to_value().to_string()
            }

            fn from_exact(value: $crate::Value) -> Result<Self, String> {
                Self::try_from(value).map_err(|error| error.to_string())
            }
        }

        impl serde::Serialize for $name {
            /// Fails if a number has more digits than serde can carry; `to_value` has no such limit.
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
