//! Runs a request over tools and mends what breaks.
//!
//! This is the library that programs import; what it re-exports lives in crates of its own. Today it has the reader:
//!
//! ```text
//! model text --[read]--> JSON value --[fit to a schema]--> value that fits
//!                 |                        |
//!                 '------- fixes ----------'     every change is recorded
//! ```
//!
//! ```
//! use reknit::protocol::Value;
//! use reknit::salvage::{Completeness, Schema, read_as};
//!
//! let schema = Value::parse(r#"{"properties": {"price": {"type": "number"}}, "required": ["price"]}"#)?;
//! let schema = Schema::compile(&schema)?;
//!
//! let reading = read_as("The price: {'price': '12.50',}", &schema)?;
//! assert_eq!(reading.value.to_string(), r#"{"price":12.50}"#);
//! assert_eq!(reading.completeness, Completeness::Whole);
//!
//! // Valid JSON that fits is left alone.
//! assert!(read_as(r#"{"price": 12.50}"#, &schema)?.fixes.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`salvage::read`] for any JSON, [`salvage::read_as`] for JSON of a certain shape, [`salvage::fit`]
//! for a value that is read already, [`protocol::Value`] for what comes out.

#[doc(inline)]
pub use reknit_protocol as protocol;
#[doc(inline)]
pub use reknit_salvage as salvage;

/// Compiles and runs the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
