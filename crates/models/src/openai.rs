//! The wire format of `chat/completions`, which most servers speak. Pure: bytes in, bytes out.

mod family;
mod reading;
mod refusal;
mod request;
mod strict;

pub(crate) use reading::{Refused, Seen, event, whole};
pub(crate) use refusal::evidence;
pub(crate) use request::render;
