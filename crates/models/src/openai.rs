//! The wire format of `chat/completions`, which most servers speak. Pure: bytes in, bytes out.

mod reading;
mod refusal;
mod request;
mod strict;

pub(crate) use reading::{Reading, Refused, Seen, Whole};
pub(crate) use refusal::evidence;
pub(crate) use request::body;
