//! Conversions from Rust types to [`Value`].

use crate::{Number, Object, Value};

macro_rules! from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! {
    &str => String, String => String, bool => Bool, Vec<Value> => Array, Object => Object,
    Number => Number, i32 => Number, u32 => Number, i64 => Number, u64 => Number, usize => Number,
}

impl<const N: usize> From<[(&str, Value); N]> for Value {
    /// An object.
    fn from(entries: [(&str, Value); N]) -> Self {
        Self::Object(entries.into())
    }
}

impl FromIterator<Value> for Value {
    /// An array.
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::Array(items.into_iter().collect())
    }
}
