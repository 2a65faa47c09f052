//! The wire format of `responses`, by `OpenAI`. Pure: values in, values out.

mod reading;
mod request;
mod stream;

pub(crate) use reading::whole;
pub(crate) use request::render;
pub(crate) use stream::event;

/// The mark of reasoning that may be sent back.
const SEAL: &str = "openai-responses";
