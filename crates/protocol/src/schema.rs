//! What values a capability takes and gives. JSON Schema is the inner truth; field hints are turned into it.
//!
//! ```text
//! Summary {required, optional: [FieldHint {name, type, example, description}]}
//!     -> {"type":"object","properties":{..},"required":[..],"additionalProperties":false}
//! ```

mod example;
mod field_hint;
mod summary;
mod type_word;

pub use field_hint::FieldHint;
pub use summary::{OtherFields, Summary};
pub use type_word::for_type;

/// The schema keyword under which a type word that JSON Schema does not know is kept.
pub const X_TYPE: &str = "x-type";
