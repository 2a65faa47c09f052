//! Out through serde, refusing what a format could not carry.

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::number::Carrier;
use crate::{Number, Object, Value};

impl Serialize for Number {
    /// Fails if the number has more digits than serde's 64-bit integers and floats can carry.
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.carrier() {
            Carrier::I64(value) => out.serialize_i64(value),
            Carrier::U64(value) => out.serialize_u64(value),
            Carrier::F64(value) if self.is_exactly(value) => out.serialize_f64(value),
            Carrier::F64(_) => Err(S::Error::custom(format!("the number {self} does not survive this format"))),
        }
    }
}

impl Serialize for Value {
    /// Fails if a number in it has more digits than serde's 64-bit integers and floats can carry.
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
    /// Fails if a number in it has more digits than serde's 64-bit integers and floats can carry.
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
