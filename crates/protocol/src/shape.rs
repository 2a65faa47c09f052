//! Between typed things and JSON: errors that say where, and fields that survive although nobody knows them.

mod error;
mod extra;
mod fields;
mod wire;
mod writer;

pub use error::{Actual, ShapeError};
pub use extra::Extra;
pub(crate) use fields::{Fields, object, text};
pub(crate) use wire::{Wire, wire};
pub(crate) use writer::Writer;
