//! The wire format of `chat/completions`, which most servers speak. Pure: values in, values out.

mod family;
mod reading;
mod refusal;
mod request;
mod strict;

pub(crate) use family::family;
pub(crate) use reading::{event, whole};
pub(crate) use refusal::CLASSES;
pub(crate) use request::render;
pub(crate) use strict::is_strict;
