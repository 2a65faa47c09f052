//! Wire format of `OpenAI`'s `responses`. No I/O.

mod request;
mod response;
mod stream;

pub(crate) use request::render;
pub(crate) use response::read_whole;
pub(crate) use stream::read_event;

/// Format of encrypted reasoning items that are sent back.
const STATE_FORMAT: &str = "openai-responses";
