//! Reads JSON from the text of a language model, makes it fit a schema, and records every repair.
//!
//! ```text
//! text ---> read -----> Reading { value, fixes, completeness, expressions }
//! text ---> read_as --> the same, and the value fits the schema
//! chunks -> Reader ---> PartialReading while they arrive, then the same as read
//! value --> fit ------> FittedValue { value, fixes }, or a FitError that says what is wrong and where
//! ```
//!
//! Valid JSON that fits its schema comes back unchanged. Other text is repaired: each repair is a [`Fix`] with a penalty,
//! and the reading with the lowest total penalty that fits wins. Two different readings with the same penalty are an
//! error that shows both. A truncated text, or one with `...` in place of items, is flagged in
//! [`Reading::completeness`], because a caller should not act on half an answer.
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
//!     println!("{} {}: {} -> {}", fix.path, fix.kind.description(), fix.before, fix.after);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A text that arrives in chunks is read by a [`Reader`], which shows what is complete so far:
//!
//! ```
//! use reknit_salvage::Reader;
//!
//! let mut reader = Reader::default();
//! reader.push(r#"{"tool": "weather", "city": "Par"#);
//! let partial = reader.partial().expect("the value has begun");
//! assert_eq!(partial.value().to_string(), r#"{"tool":"weather","city":"Par"}"#);
//! assert_eq!(partial.open().to_string(), "$.city"); // All else is complete.
//! reader.push(r#"is"}"#);
//! assert_eq!(reader.finish()?.reading.value.to_string(), r#"{"tool":"weather","city":"Paris"}"#);
//! # Ok::<(), reknit_salvage::ReadTextError>(())
//! ```
//!
//! Start with [`read_as`]. [`FixKind`] lists every repair, [`ReadTextError`] every way in which reading can fail.

mod call_arguments;
mod fix;
mod repair;
mod schema;
mod stream;
mod text_call_verdict;
mod text_calls;
mod text_position;

pub use call_arguments::{CallArguments, describe_fixes, read_arguments, read_parameters};
pub use fix::{Fix, FixKind, conflicting_keys};
pub use repair::fit::{FittedValue, fit, write_plain_integers};
pub use repair::fit_error::FitError;
pub use repair::read::{Completeness, ReadOptions, ReadTextError, Reading, complete_reading, read, read_complete};
pub use repair::read_as::read_as;
pub use schema::{
    Comparison, FitProblem, FitProblemKind, Formats, LengthUnit, Schema, SchemaError, SchemaType, UnambiguousDate,
};
pub use stream::{FinishedReading, PartialReading, PartialState, Reader};
pub use text_call_verdict::{TextCallContext, TextCallVerdict, text_call_verdict};
pub use text_calls::{
    LineStart, TextCall, TextCallForm, TextCalls, TokenInLine, call_of_object, calls_in_text, line_start,
    reasoning_end, token_in_line, without_reasoning,
};
pub use text_position::TextPosition;
