//! Wire format of Google's `generateContent`. No I/O.

mod error_names;
mod family;
mod parts;
mod request;
mod response;

pub(crate) use error_names::{ERROR_CLASSES, retry_after, specific_code};
pub(crate) use family::reasons_silently;
pub(crate) use parts::Parts;
pub(crate) use request::{path, render};
pub(crate) use response::{blocked, read};

/// Format of the provider state that must be sent back with a call.
const STATE_FORMAT: &str = "gemini";
