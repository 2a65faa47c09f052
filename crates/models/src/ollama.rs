//! Wire format of Ollama's `api/chat`. No I/O.

mod request;
mod response;

pub(crate) use request::render;
pub(crate) use response::{read_event, read_whole};
