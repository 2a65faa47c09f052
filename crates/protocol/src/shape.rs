//! Conversion between typed structs and JSON objects: errors with a path, and unknown fields that are kept.

mod extra;
mod object_reader;
mod wire;

pub use extra::ExtraFields;
pub use extra::{ActualShape, ShapeError};
pub(crate) use object_reader::ObjectWriter;
pub(crate) use object_reader::{ObjectReader, flag, list, object, text};
pub(crate) use wire::{Wire, wire};
