//! The wire format of Google's `generateContent`. Pure: values in, values out.

mod family;
mod reading;
mod request;

pub(crate) use reading::{event, whole};
pub(crate) use request::{path, render};

/// The mark of what must be sent back with a call.
const SEAL: &str = "gemini";
