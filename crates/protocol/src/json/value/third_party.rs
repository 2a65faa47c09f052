//! Conversions for third-party libraries: `serde_json::Value` and serde.

mod serialize;
