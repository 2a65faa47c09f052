//! The edges to other people's types: `serde_json::Value` and serde.

mod deserialize;
mod json;
mod serialize;
