//! Wire format of Anthropic's `messages`. No I/O.

mod error_names;
mod family;
mod request;
mod response;
mod stream;

pub(crate) use error_names::ERROR_CLASSES;
pub(crate) use request::render;
pub(crate) use response::read_whole;
pub(crate) use stream::{Blocks, read_event};

/// Format of the signature of a thinking block, which must be sent back.
const STATE_FORMAT: &str = "anthropic";
/// Format of a thinking block that the provider has encrypted.
const REDACTED_STATE_FORMAT: &str = "anthropic-hidden";
