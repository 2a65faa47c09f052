//! `Serialize` for JSON values, which fails rather than lose digits.

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

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
