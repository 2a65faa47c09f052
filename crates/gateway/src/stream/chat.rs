//! Streams of `chat/completions`.

use reknit_model_api::ModelAnswer;
use reknit_protocol::{Object, Value};

use super::{ApiStream, comment};
use crate::json::{count, list, text};
use crate::response::Identity;
use crate::response::chat::{finish_reason, tool_call, usage};

#[derive(Debug)]
pub(super) struct ChatStream {
    id: String,
    created: i64,
    model: String,
    include_usage: bool,
    has_begun: bool,
}

impl ChatStream {
    pub(super) fn new(Identity { id, created }: Identity, model: &str, include_usage: bool) -> Self {
        Self { id: format!("chatcmpl-{id}"), created, model: model.to_owned(), include_usage, has_begun: false }
    }

    fn delta(&mut self, mut delta: Object, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            delta.insert("role", "assistant");
        }
        self.chunk(delta, Value::Null, out);
    }

    fn chunk(&self, delta: Object, finish_reason: Value, out: &mut Vec<u8>) {
        let choice = object! {"index": 0, "delta": delta, "logprobs": Value::Null, "finish_reason": finish_reason};
        write(&self.envelope(vec![Value::Object(choice)]), out);
    }

    fn envelope(&self, choices: Vec<Value>) -> Object {
        object! {
            "id": self.id.as_str(),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model.as_str(),
            "choices": choices,
        }
    }
}

impl ApiStream for ChatStream {
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(object! {"content": text}, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(object! {"reasoning_content": text}, out);
    }

    fn observe(&mut self, data: &Value) -> bool {
        if let Some(id) = text(data, &["id"]) {
            id.clone_into(&mut self.id);
        }
        if let Some(model) = text(data, &["model"]) {
            model.clone_into(&mut self.model);
        }
        if let Some(created) = count(data, &["created"]).and_then(|created| i64::try_from(created).ok()) {
            self.created = created;
        }
        // The first event says all that is needed.
        self.has_begun |= !list(data, &["choices"]).is_empty();
        self.has_begun
    }

    fn finish(&mut self, answer: &ModelAnswer, note: Option<&str>, out: &mut Vec<u8>) {
        for (index, call) in answer.tool_calls.iter().enumerate() {
            let mut call = tool_call(call);
            call.insert("index", index);
            self.delta(object! {"tool_calls": vec![Value::Object(call)]}, out);
        }
        self.chunk(Object::new(), finish_reason(&answer.finish).into(), out);
        if self.include_usage {
            let mut last = self.envelope(Vec::new());
            last.insert("usage", usage(&answer.usage));
            write(&last, out);
        }
        comment(note, out);
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
}

fn write(event: &Object, out: &mut Vec<u8>) {
    out.extend(format!("data: {event}\n\n").into_bytes());
}
