//! Reading JSON from text, and fitting it to a schema. Each uses the other: a text is read so that it fits, and a string that
//! holds JSON is read while a value is fitted.

pub(crate) mod fit;
pub(crate) mod read;
