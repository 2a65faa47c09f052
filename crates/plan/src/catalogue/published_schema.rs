//! The schema that a tool publishes: a value, or a function that makes it.

use std::fmt;
use std::sync::Arc;

use reknit_protocol::{Value, exact};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The JSON Schema of the parameters, if the tool publishes one.
#[derive(Clone, Default)]
pub(super) enum PublishedSchema {
    #[default]
    None,
    Value(Value),
    /// Made whenever it is needed, because many of them would not fit into memory.
    Deferred(Arc<dyn Fn() -> Value + Send + Sync>),
}

impl PublishedSchema {
    pub(super) fn get(&self) -> Option<Value> {
        match self {
            Self::None => None,
            Self::Value(schema) => Some(schema.clone()),
            Self::Deferred(schema) => Some(schema()),
        }
    }
}

impl PartialEq for PublishedSchema {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => one == other,
            (Self::Deferred(one), Self::Deferred(other)) if Arc::ptr_eq(one, other) => true,
            _ => self.get() == other.get(),
        }
    }
}

impl fmt::Debug for PublishedSchema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("None"),
            Self::Value(schema) => schema.fmt(out),
            Self::Deferred(_) => out.write_str("Deferred"),
        }
    }
}

impl Serialize for PublishedSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(schema) => exact::serialize(schema, serializer),
            Self::None | Self::Deferred(_) => exact::option::serialize(&self.get(), serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PublishedSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(exact::option::deserialize(deserializer)?.map_or(Self::None, Self::Value))
    }
}
