//! Streams of `messages`.

use reknit_model_api::ModelAnswer;
use reknit_protocol::{Object, Value};

use super::{ApiStream, comment, write as write_event};
use crate::json::{count, or_null, text};
use crate::response::Identity;
use crate::response::messages::{stop_reason, tool_use, usage};

#[derive(Debug)]
pub(super) struct MessageStream {
    id: String,
    model: String,
    has_begun: bool,
    open: Option<OpenBlock>,
    next_index: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenBlock {
    index: u64,
    is_text: bool,
}

impl MessageStream {
    pub(super) fn new(identity: &Identity, model: &str) -> Self {
        let id = format!("msg_{}", identity.id);
        Self { id, model: model.to_owned(), has_begun: false, open: None, next_index: 0 }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let message = object! {
            "id": self.id.as_str(),
            "type": "message",
            "role": "assistant",
            "model": self.model.as_str(),
            "content": Vec::<Value>::new(),
            "stop_reason": Value::Null,
            "stop_sequence": Value::Null,
            "usage": object! {"input_tokens": 0, "output_tokens": 0},
        };
        write("message_start", object! {"message": message}, out);
    }

    /// The index of the open block of text or of reasoning, which is started if need be.
    fn open_block(&mut self, is_text: bool, out: &mut Vec<u8>) -> u64 {
        if let Some(open) = self.open.filter(|open| open.is_text == is_text) {
            return open.index;
        }
        self.begin(out);
        self.close_block(out);
        let block = if is_text {
            object! {"type": "text", "text": ""}
        } else {
            object! {"type": "thinking", "thinking": "", "signature": ""}
        };
        let index = self.start_block(block, out);
        self.open = Some(OpenBlock { index, is_text });
        index
    }

    fn start_block(&mut self, block: Object, out: &mut Vec<u8>) -> u64 {
        let index = self.next_index;
        self.next_index += 1;
        write("content_block_start", object! {"index": index, "content_block": block}, out);
        index
    }

    fn close_block(&mut self, out: &mut Vec<u8>) {
        if let Some(open) = self.open.take() {
            write("content_block_stop", object! {"index": open.index}, out);
        }
    }
}

impl ApiStream for MessageStream {
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        let index = self.open_block(true, out);
        block_delta(index, object! {"type": "text_delta", "text": text}, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        let index = self.open_block(false, out);
        block_delta(index, object! {"type": "thinking_delta", "thinking": text}, out);
    }

    fn observe(&mut self, data: &Value) -> bool {
        let index = count(data, &["index"]).unwrap_or(0);
        match text(data, &["type"]) {
            Some("message_start") => self.has_begun = true,
            Some("content_block_start") => {
                let is_text = text(data, &["content_block", "type"]) == Some("text");
                self.open = Some(OpenBlock { index, is_text });
                self.next_index = index + 1;
            }
            Some("content_block_stop") => self.open = None,
            _ => {}
        }
        false
    }

    fn finish(&mut self, answer: &ModelAnswer, note: Option<&str>, out: &mut Vec<u8>) {
        self.begin(out);
        self.close_block(out);
        for call in &answer.tool_calls {
            let mut block = tool_use(call);
            let input = block.insert("input", Object::new());
            let index = self.start_block(block, out);
            let json = input.map(|input| input.to_string()).unwrap_or_default();
            block_delta(index, object! {"type": "input_json_delta", "partial_json": json}, out);
            self.open = Some(OpenBlock { index, is_text: false });
            self.close_block(out);
        }
        let delta = object! {
            "stop_reason": stop_reason(answer), "stop_sequence": or_null(answer.stop_sequence.as_deref()),
        };
        write("message_delta", object! {"delta": delta, "usage": usage(&answer.usage)}, out);
        comment(note, out);
        write("message_stop", Object::new(), out);
    }
}

fn block_delta(index: u64, delta: Object, out: &mut Vec<u8>) {
    write("content_block_delta", object! {"index": index, "delta": delta}, out);
}

fn write(kind: &str, fields: Object, out: &mut Vec<u8>) {
    write_event(kind, object! {"type": kind}, fields, out);
}
