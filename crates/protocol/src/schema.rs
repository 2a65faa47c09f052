//! Field hints of capabilities, and their conversion to JSON Schema, which the other crates work with.
//!
//! ```text
//! Summary {required, optional: [FieldHint {name, type, example, description}]}
//!     -> {"type":"object","properties":{..},"required":[..],"additionalProperties":false}
//! ```

mod field_hint;
mod normalise;
mod summary;
mod type_word;
mod unknown_types;

pub use field_hint::FieldHint;
pub use normalise::{MAP_KEYWORDS, SCHEMA_KEYWORDS, normalise_types};
pub use summary::{AdditionalProperties, Summary};
pub use type_word::for_type;
pub use unknown_types::{UnknownType, unknown_types};

/// The schema keyword that keeps a type word without an equivalent in JSON Schema.
pub const X_TYPE: &str = "x-type";
