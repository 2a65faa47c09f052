//! What the crate promises, through its public API only. One binary, because linking many takes longer than testing.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a helper that panics fails its test")]

mod against_serde_json;
mod any;
mod capabilities;
mod deep_values;
mod json_laws;
mod numbers;
mod objects_and_paths;
mod plans;
mod printing;
mod strict_parser;
mod third_party;
mod tool_responses;
