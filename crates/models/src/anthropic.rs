//! Wire format of Anthropic's `messages`. No I/O.

mod content_state;
mod error_names;
mod family;
mod request;
mod response;
mod stream;

pub(crate) use error_names::ERROR_CLASSES;
pub(crate) use request::{reasoning_budget, render, takes_budget};
pub(crate) use response::read_whole;
pub(crate) use stream::{Blocks, read_event};

/// The path in Vertex AI after the base URL.
pub(crate) fn vertex_path(model: &str, streaming: crate::Streaming) -> String {
    let method = if streaming == crate::Streaming::On { "streamRawPredict" } else { "rawPredict" };
    format!("/models/{model}:{method}")
}

/// Whether an answer of the model can be constrained to a schema.
pub(crate) fn constrains_answers(model: &str) -> bool {
    family::family(model).schema
}

/// Format of the signature of a thinking block, which must be sent back.
const STATE_FORMAT: &str = "anthropic";
/// Format of a thinking block that the provider has encrypted.
const REDACTED_STATE_FORMAT: &str = "anthropic-hidden";
