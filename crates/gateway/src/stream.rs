//! Writing and mending of streams.

mod chat;
mod messages;
mod responses;
mod stream_mender;

use reknit_model_api::{Api, ModelAnswer};
use reknit_protocol::{Object, Value};

use crate::response::Identity;
pub use stream_mender::StreamMender;

/// Writes an answer as a stream, piece by piece. It can go on after events that a server of the same API has written.
#[derive(Debug)]
pub struct StreamWriter {
    stream: Box<dyn ApiStream>,
}

/// A stream in one API.
trait ApiStream: std::fmt::Debug + Send + Sync {
    fn text(&mut self, text: &str, out: &mut Vec<u8>);

    /// Writes reasoning, where the API has a place for it while the answer comes.
    fn reasoning(&mut self, _text: &str, _out: &mut Vec<u8>) {}

    /// Takes over what an event of a server says; true if it needs no further event.
    fn observe(&mut self, data: &Value) -> bool;

    /// Writes the calls and the end.
    fn finish(&mut self, answer: &ModelAnswer, note: Option<&str>, out: &mut Vec<u8>);
}

impl StreamWriter {
    /// A writer in this API. `model` is the name that the caller is told until the answer names another.
    pub fn new(api: Api, identity: Identity, model: &str, include_usage: bool) -> Self {
        let stream: Box<dyn ApiStream> = match api {
            Api::ChatCompletions => Box::new(chat::ChatStream::new(identity, model, include_usage)),
            Api::Responses => Box::new(responses::ResponseStream::new(identity, model)),
            Api::Messages => Box::new(messages::MessageStream::new(&identity, model)),
        };
        Self { stream }
    }

    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.stream.text(text, out);
    }

    /// Writes reasoning, where the API has a place for it.
    pub fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        self.stream.reasoning(text, out);
    }

    /// Takes over what events of a server with the same API say, after they were passed on.
    pub fn observe(&mut self, events: &[u8]) {
        let _ = event_data(events).any(|data| self.stream.observe(&data));
    }

    /// Writes the rest of the answer: `text`, which was not written yet, the calls, and the end. `note` is written as a comment.
    pub fn finish(&mut self, answer: &ModelAnswer, text: &str, note: Option<&str>, out: &mut Vec<u8>) {
        if !text.is_empty() {
            self.text(text, out);
        }
        self.stream.finish(answer, note, out);
    }
}

fn event_data(events: &[u8]) -> impl Iterator<Item = Value> {
    let lines = events.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    lines.filter_map(|data| Value::parse(std::str::from_utf8(data).ok()?.trim()).ok())
}

/// Writes a comment, which clients ignore. A line break would end it.
fn comment(note: Option<&str>, out: &mut Vec<u8>) {
    if let Some(note) = note {
        out.extend(format!(": {}\n\n", note.replace(['\r', '\n'], " ")).into_bytes());
    }
}

/// Writes an event of this type, whose fields are those of `event` and then `fields`.
fn write(kind: &str, mut event: Object, fields: Object, out: &mut Vec<u8>) {
    event.extend(fields);
    out.extend(format!("event: {kind}\ndata: {event}\n\n").into_bytes());
}
