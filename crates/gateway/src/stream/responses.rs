//! Streams of `responses`.

use reknit_model_api::{Api, ModelAnswer};
use reknit_protocol::{Object, Value};

use super::{ApiStream, comment, write};
use crate::json::{at, count, text};
use crate::response::reasoning;
use crate::response::responses::{finish, function_call, message, message_id, reasoning_item, skeleton, text_part};
use crate::response::{Identity, patch_response};

#[derive(Debug)]
pub(super) struct ResponseStream {
    identity: Identity,
    /// The response as the server has described it at its start; ours without a server.
    response: Object,
    has_begun: bool,
    has_observed: bool,
    next_sequence: u64,
    next_index: u64,
    open: Option<OpenMessage>,
    output: Vec<Value>,
}

#[derive(Debug)]
struct OpenMessage {
    id: String,
    index: u64,
    text: String,
}

impl ResponseStream {
    pub(super) fn new(identity: Identity, model: &str) -> Self {
        let response = skeleton(&identity.id, identity.created, model);
        let output = Vec::new();
        Self {
            identity,
            response,
            has_begun: false,
            has_observed: false,
            next_sequence: 0,
            next_index: 0,
            open: None,
            output,
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            for kind in ["response.created", "response.in_progress"] {
                self.write(kind, object! {"response": self.response.clone()}, out);
            }
        }
    }

    fn open_message(&mut self, out: &mut Vec<u8>) {
        if self.open.is_some() {
            return;
        }
        self.begin(out);
        let open = OpenMessage { id: message_id(&self.identity.id), index: self.next_index(), text: String::new() };
        let item = message(&open.id, "in_progress", Vec::new());
        self.write("response.output_item.added", object! {"output_index": open.index, "item": item}, out);
        let mut part = part_of(&open);
        part.insert("part", text_part(""));
        self.write("response.content_part.added", part, out);
        self.open = Some(open);
    }

    fn close_message(&mut self, out: &mut Vec<u8>) {
        let Some(open) = self.open.take() else { return };
        let mut done = part_of(&open);
        done.insert("text", open.text.as_str());
        done.insert("logprobs", Vec::<Value>::new());
        self.write("response.output_text.done", done, out);
        let mut part = part_of(&open);
        part.insert("part", text_part(&open.text));
        self.write("response.content_part.done", part, out);
        let item = message(&open.id, "completed", vec![Value::Object(text_part(&open.text))]);
        self.output.push(Value::Object(item.clone()));
        self.write("response.output_item.done", object! {"output_index": open.index, "item": item}, out);
    }

    fn next_index(&mut self) -> u64 {
        let index = self.next_index;
        self.next_index += 1;
        index
    }

    fn write(&mut self, kind: &str, fields: Object, out: &mut Vec<u8>) {
        let event = object! {"type": kind, "sequence_number": self.next_sequence};
        self.next_sequence += 1;
        write(kind, event, fields, out);
    }
}

impl ApiStream for ResponseStream {
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.open_message(out);
        let Some(mut open) = self.open.take() else { return };
        open.text.push_str(text);
        let mut event = part_of(&open);
        event.insert("delta", text);
        event.insert("logprobs", Vec::<Value>::new());
        self.write("response.output_text.delta", event, out);
        self.open = Some(open);
    }

    fn observe(&mut self, data: &Value) -> bool {
        if let Some(sequence) = count(data, &["sequence_number"]) {
            self.next_sequence = sequence + 1;
        }
        match text(data, &["type"]) {
            Some("response.created") => {
                self.has_begun = true;
                self.has_observed = true;
                if let Some(response) = at(data, &["response"]).and_then(Value::as_object) {
                    self.response = response.clone();
                }
            }
            Some("response.output_item.added") => {
                let index = count(data, &["output_index"]).unwrap_or(self.next_index);
                self.next_index = index + 1;
                if text(data, &["item", "type"]) == Some("message") {
                    let id = text(data, &["item", "id"]).unwrap_or_default().to_owned();
                    self.open = Some(OpenMessage { id, index, text: String::new() });
                }
            }
            Some("response.output_text.delta") => {
                if let Some(open) = &mut self.open {
                    open.text.push_str(text(data, &["delta"]).unwrap_or_default());
                }
            }
            Some("response.output_item.done") => {
                self.output.extend(at(data, &["item"]).cloned());
                self.open = None;
            }
            _ => {}
        }
        false
    }

    fn finish(&mut self, answer: &ModelAnswer, note: Option<&str>, out: &mut Vec<u8>) {
        let is_ours = !self.has_observed;
        self.begin(out);
        self.close_message(out);
        let reasoning = reasoning(&answer.reasoning);
        if is_ours && !reasoning.is_empty() {
            let (index, item) = (self.next_index(), reasoning_item(&self.identity.id, &reasoning));
            self.write("response.output_item.added", object! {"output_index": index, "item": item.clone()}, out);
            self.write("response.output_item.done", object! {"output_index": index, "item": item.clone()}, out);
            self.output.push(Value::Object(item));
        }
        for call in &answer.tool_calls {
            let index = self.next_index();
            let item = function_call(call, "in_progress", "");
            let id = text(&Value::Object(item.clone()), &["id"]).unwrap_or_default().to_owned();
            self.write("response.output_item.added", object! {"output_index": index, "item": item}, out);
            let piece = object! {"item_id": id.as_str(), "output_index": index, "delta": call.arguments.as_str()};
            self.write("response.function_call_arguments.delta", piece, out);
            let whole = object! {
                "item_id": id.as_str(), "output_index": index, "name": call.name.as_str(), "arguments": call.arguments.as_str(),
            };
            self.write("response.function_call_arguments.done", whole, out);
            let item = function_call(call, "completed", &call.arguments);
            self.write("response.output_item.done", object! {"output_index": index, "item": item}, out);
        }
        let mut response = std::mem::take(&mut self.response);
        response.insert("output", std::mem::take(&mut self.output));
        patch_response(Api::Responses, &mut response, answer);
        finish(&mut response, answer);
        comment(note, out);
        let kind = match response.get("status").and_then(Value::as_str) {
            Some("incomplete") => "response.incomplete",
            _ => "response.completed",
        };
        self.write(kind, object! {"response": response}, out);
    }
}

fn part_of(open: &OpenMessage) -> Object {
    object! {"item_id": open.id.as_str(), "output_index": open.index, "content_index": 0}
}
