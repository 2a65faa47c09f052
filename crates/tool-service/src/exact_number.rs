//! A number that keeps its digits when serde reads and writes it.

#[cfg(feature = "schemars")]
use std::borrow::Cow;
use std::fmt;

use reknit_protocol::Number;
#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A number in arguments or answers that keeps its digits: money, ids, measurements.
///
/// A float field rounds, and serde numbers have at most 64 bits; this type is read and written as raw JSON text. It works
/// in JSON only, and not inside `tag`, `untagged` or `flatten`, which copy values through serde's own buffer.
///
/// ```
/// use reknit_tool_service::ExactNumber;
///
/// let amount: ExactNumber = serde_json::from_str("46828.50000000000000000001")?;
/// assert_eq!(serde_json::to_string(&amount)?, "46828.50000000000000000001");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExactNumber(pub Number);

impl<'de> Deserialize<'de> for ExactNumber {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(from)?;
        let number = Number::parse(text.get());
        number.map(Self).map_err(|error| D::Error::custom(format_args!("expected a number: {error}")))
    }
}

impl Serialize for ExactNumber {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(out)
    }
}

#[cfg(feature = "schemars")]
impl JsonSchema for ExactNumber {
    fn schema_name() -> Cow<'static, str> {
        "ExactNumber".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

impl From<Number> for ExactNumber {
    fn from(number: Number) -> Self {
        Self(number)
    }
}

impl fmt::Display for ExactNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}
