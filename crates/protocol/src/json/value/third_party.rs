//! Conversions for third-party libraries: `serde_json::Value` and serde.

mod deserialize;
mod serde_json_value;
mod serialize;
