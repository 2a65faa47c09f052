//! JSON values that keep digits and key order, with their parser and printer.

pub(crate) mod number;
pub mod object;
pub(crate) mod parse;
pub(crate) mod path;
pub(crate) mod print;
pub(crate) mod value;
