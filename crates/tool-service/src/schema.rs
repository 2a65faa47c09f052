//! What JSON Schemas say to people and planners, and schemas from Rust types.

mod description;
mod field_hints;
#[cfg(feature = "schemars")]
mod from_type;

pub(crate) use description::{Form, allowed_values, alternatives, describe_type};
pub(crate) use field_hints::{example, summary};
#[cfg(feature = "schemars")]
pub(crate) use from_type::{for_input, for_output};
