//! Writing of responses.

pub(crate) mod chat;
pub(crate) mod messages;
pub(crate) mod responses;

use reknit_model_api::{Api, ModelAnswer, Thought};
use reknit_protocol::{Object, Value};

/// What a response is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// An id that no other response has.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
}

pub fn write_response(api: Api, answer: &ModelAnswer, identity: &Identity) -> Object {
    match api {
        Api::ChatCompletions => chat::write(answer, identity),
        Api::Responses => responses::write(answer, identity),
        Api::Messages => messages::write(answer, identity),
    }
}

/// Puts the text and the calls of a mended answer into the response that a server of the same API sent. All other fields stay.
pub fn patch_response(api: Api, response: &mut Object, answer: &ModelAnswer) {
    match api {
        Api::ChatCompletions => chat::patch(response, answer),
        Api::Responses => responses::patch(response, answer),
        Api::Messages => messages::patch(response, answer),
    }
}

pub(crate) fn reasoning(thoughts: &[Thought]) -> String {
    thoughts.iter().map(|thought| thought.text.as_str()).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}
