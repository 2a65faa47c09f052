//! JSON values that keep digits and key order, with their parser and printer.

pub(crate) mod number;
pub(crate) mod parse;
pub(crate) mod path;
mod plain_bytes;
pub(crate) mod pointer;
mod print;
mod quote;
pub(crate) mod value;
