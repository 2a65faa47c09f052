//! The wire format of Google's `generateContent`. Pure: values in, values out.

mod family;
mod reading;
mod refusal;
mod request;

pub(crate) use family::thinks_unseen;
pub(crate) use reading::{event, whole};
pub(crate) use refusal::{CLASSES, code, retry_after};
pub(crate) use request::{path, render};

/// The mark of what must be sent back with a call.
const SEAL: &str = "gemini";
