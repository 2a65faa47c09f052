//! Conversion between typed structs and JSON objects: errors with a path, and unknown fields that are kept.

mod error;
mod extra;
mod object_reader;
mod object_writer;
mod wire;

pub use error::{ActualShape, ShapeError};
pub use extra::ExtraFields;
pub(crate) use object_reader::{ObjectReader, flag, list, object, text};
pub(crate) use object_writer::ObjectWriter;
pub(crate) use wire::{Wire, wire};
