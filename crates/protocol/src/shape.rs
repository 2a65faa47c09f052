//! Conversion between typed structs and JSON objects: errors with a path, and unknown fields that are kept.

mod extra;
mod object_reader;

pub use extra::ExtraFields;
pub use extra::{ActualShape, ShapeError};
pub(crate) use object_reader::{ObjectReader, ObjectWriter};

use crate::{Object, Path, Value};

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

/// Implements [`Wire`] for a struct with extra fields. Each line is a field, its key, and whether the field is `required` (with
/// what is expected there), `optional`, or has its default value if it is absent (`or_default`).
macro_rules! wire_object {
    ($name:ident { $($field:ident: $key:literal $kind:ident $(($expected:literal))?,)* }) => {
        impl $crate::shape::Wire for $name {
            fn read(value: $crate::Value, path: &$crate::Path) -> Result<Self, $crate::ShapeError> {
                let mut fields = $crate::shape::ObjectReader::new(value, path)?;
                Ok(Self {
                    $($field: fields.$kind($key $(, $expected)?)?,)*
                    extra: fields.finish(),
                })
            }

            fn write(&self) -> $crate::Value {
                $crate::shape::ObjectWriter::new(&self.extra)$(.$kind($key, &self.$field))*.finish()
            }
        }

        $crate::shape::wire!($name);
    };
}

pub(crate) use wire_object;

/// Implements [`Wire`] for types that are one kind of JSON value.
macro_rules! wire_kind {
    ($($type:ty: $variant:ident $expected:literal,)*) => {$(
        impl Wire for $type {
            fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
                match value {
                    Value::$variant(inner) => Ok(inner),
                    other => Err(ShapeError::kind(path.clone(), $expected, &other)),
                }
            }

            fn write(&self) -> Value {
                Value::$variant(Self::clone(self))
            }
        }
    )*};
}

wire_kind! {
    bool: Bool "a boolean",
    String: String "a string",
    Object: Object "an object",
}

impl Wire for Value {
    fn read(value: Value, _path: &Path) -> Result<Self, ShapeError> {
        Ok(value)
    }

    fn write(&self) -> Value {
        self.clone()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        match value {
            Value::Array(items) => {
                items.into_iter().enumerate().map(|(index, value)| T::read(value, &path.index(index))).collect()
            }
            other => Err(ShapeError::kind(path.clone(), "an array", &other)),
        }
    }

    fn write(&self) -> Value {
        self.iter().map(T::write).collect()
    }
}

/// An object of named items, in the order of the text.
impl<T: Wire> Wire for Vec<(String, T)> {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let entries = Object::read(value, path)?.into_iter();
        entries.map(|(name, value)| T::read(value, &path.key(&name)).map(|item| (name, item))).collect()
    }

    fn write(&self) -> Value {
        Value::Object(self.iter().map(|(name, item)| (name.clone(), item.write())).collect())
    }
}
