//! Wire format of `OpenAI`'s `responses`. No I/O.

mod request;
mod response;

pub(crate) use request::render;
pub(crate) use response::{read_event, read_whole};

/// Format of encrypted reasoning items that are sent back.
const STATE_FORMAT: &str = "openai-responses";
