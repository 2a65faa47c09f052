//! Tests of the public API. They are one binary, because linking several takes longer than running them.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a helper that panics fails its test")]

mod arbitrary;
mod capabilities;
mod deep_values;
mod json_laws;
mod numbers;
mod objects_and_paths;
mod plans;
mod printing;
mod serde_json_agreement;
mod strict_parser;
mod third_party;
mod tool_responses;

use reknit_protocol::{Number, Value};

fn parse(text: &str) -> Value {
    Value::parse(text).expect("the test's own JSON")
}

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
