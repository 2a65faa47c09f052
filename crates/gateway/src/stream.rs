//! Writing and mending of streams.

mod chat;
mod messages;
mod responses;
mod stream_mender;

use reknit_model_api::{Api, ModelAnswer};

use crate::response::Identity;
pub use stream_mender::StreamMender;

/// Writes an answer as a stream, piece by piece. It can go on after events that a server of the same API has written.
#[derive(Debug)]
pub struct StreamWriter {
    state: WriterState,
}

#[derive(Debug)]
enum WriterState {
    Chat(chat::ChatStream),
    Responses(Box<responses::ResponseStream>),
    Messages(messages::MessageStream),
}

impl StreamWriter {
    /// A writer in this API. `model` is the name that the caller is told until the answer names another.
    pub fn new(api: Api, identity: Identity, model: &str, include_usage: bool) -> Self {
        let state = match api {
            Api::ChatCompletions => WriterState::Chat(chat::ChatStream::new(identity, model, include_usage)),
            Api::Responses => WriterState::Responses(Box::new(responses::ResponseStream::new(identity, model))),
            Api::Messages => WriterState::Messages(messages::MessageStream::new(&identity, model)),
        };
        Self { state }
    }

    /// Writes text of the answer.
    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        match &mut self.state {
            WriterState::Chat(stream) => stream.text(text, out),
            WriterState::Responses(stream) => stream.text(text, out),
            WriterState::Messages(stream) => stream.text(text, out),
        }
    }

    /// Writes reasoning, where the API has a place for it.
    pub fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        match &mut self.state {
            WriterState::Chat(stream) => stream.reasoning(text, out),
            // Reasoning is a whole item there, which is written at the end.
            WriterState::Responses(_) => {}
            WriterState::Messages(stream) => stream.reasoning(text, out),
        }
    }

    /// Takes over what events of a server with the same API say, after they were passed on.
    pub fn observe(&mut self, events: &[u8]) {
        let mut events = event_data(events);
        // The first event of a chat says all that is needed.
        while !matches!(&self.state, WriterState::Chat(stream) if stream.has_begun())
            && let Some(data) = events.next()
        {
            match &mut self.state {
                WriterState::Chat(stream) => stream.observe(&data),
                WriterState::Responses(stream) => stream.observe(&data),
                WriterState::Messages(stream) => stream.observe(&data),
            }
        }
    }

    /// Writes the rest of the answer: `text`, which was not written yet, the calls, and the end. `note` is written as a comment.
    pub fn finish(&mut self, answer: &ModelAnswer, text: &str, note: Option<&str>, out: &mut Vec<u8>) {
        if !text.is_empty() {
            self.text(text, out);
        }
        match &mut self.state {
            WriterState::Chat(stream) => stream.finish(answer, note, out),
            WriterState::Responses(stream) => stream.finish(answer, note, out),
            WriterState::Messages(stream) => stream.finish(answer, note, out),
        }
    }
}

/// The JSON of events.
fn event_data(events: &[u8]) -> impl Iterator<Item = reknit_protocol::Value> {
    let lines = events.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    lines.filter_map(|data| reknit_protocol::Value::parse(std::str::from_utf8(data).ok()?.trim()).ok())
}

/// Writes a comment, which clients ignore. A line break would end it.
fn comment(note: Option<&str>, out: &mut Vec<u8>) {
    if let Some(note) = note {
        out.extend(format!(": {}\n\n", note.replace(['\r', '\n'], " ")).into_bytes());
    }
}
