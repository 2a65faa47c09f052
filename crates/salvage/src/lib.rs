//! Model text in, JSON that fits a schema out; every repair is scored and recorded.
//!
//! ```text
//! text ---> read -----> Reading { value, fixes, completeness, expressions }
//! text ---> read_as --> the same, and the value fits the schema
//! value --> fit ------> Fitted { value, fixes }, or a Misfit that says what is wrong and where
//! ```
//!
//! Valid JSON that fits comes back untouched. Everything else is repaired where the defect is, each repair is a
//! [`Fix`] with a price, and the cheapest reading that fits wins. Two readings at one price are an error that shows
//! both. Text that is cut or says `...` is flagged, because nobody should act on half an answer.
//!
//! ```
//! use reknit_protocol::Value;
//! use reknit_salvage::{read_as, Schema};
//!
//! let schema = Schema::compile(&Value::parse(
//!     r#"{"type": "object", "properties": {"city": {"type": "string"}, "max_results": {"type": "integer"}}}"#,
//! )?)?;
//! let reading = read_as("Sure! Here you go:\n```json\n{city: 'Paris', \"maxResults\": \"5\",}\n```", &schema)?;
//! assert_eq!(reading.value.to_string(), r#"{"city":"Paris","max_results":5}"#);
//! for fix in &reading.fixes {
//!     println!("{} {}: {} -> {}", fix.path, fix.kind.words(), fix.before, fix.after);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`read_as`]; [`FixKind`] lists every repair there is, [`ReadError`] everything that can go wrong.

mod fit;
mod fix;
mod read;
mod reading;
mod schema;

pub use fit::{Fitted, Misfit, fit};
pub use fix::{Fix, FixKind};
pub use read::{ReadOptions, read, read_as};
pub use reading::{Completeness, Place, ReadError, Reading};
pub use schema::{Bound, Problem, ProblemKind, Schema, SchemaError, Type, Unit};
