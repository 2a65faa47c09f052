//! Reading JSON from text, and fitting it to a schema.
//!
//! A string that holds JSON is read while a value is fitted, so fitting is above reading. Reading a value that fits is above both.

pub(crate) mod fit;
pub(crate) mod fit_error;
pub(crate) mod notation;
pub(crate) mod read;
pub(crate) mod read_as;
