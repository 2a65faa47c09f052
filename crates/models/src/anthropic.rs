//! The wire format of Anthropic's `messages`. Pure: values in, values out.

mod family;
mod reading;
mod refusal;
mod request;
mod stream;

pub(crate) use reading::whole;
pub(crate) use refusal::CLASSES;
pub(crate) use request::render;
pub(crate) use stream::{Blocks, event};

/// The mark of reasoning that must be sent back, and of reasoning that nobody can read.
const SEAL: &str = "anthropic";
const HIDDEN_SEAL: &str = "anthropic-hidden";
