//! Mending of a stream while it passes.

use reknit_model_api::{Delta, RawEvent};

use super::{StreamWriter, comment};
use crate::mend::{AnswerMender, MendedAnswer};
use crate::text_gate::{GateMode, TextGate};

/// Passes a stream on and mends it. Text passes at once; what may be a tool call is held until it is complete, and so is text that
/// must be JSON.
#[derive(Debug)]
pub struct StreamMender {
    writer: StreamWriter,
    gate: TextGate,
    /// Events that are not passed on yet, with the text in them.
    held: Vec<u8>,
    held_text: String,
    /// Events before the first call that are held but stay as they are, such as the signature of the reasoning.
    before_call: Vec<u8>,
    passed_text: String,
    /// Whether all that follows is held: a call has begun.
    is_closed: bool,
    has_calls: bool,
    has_passed: bool,
}

impl StreamMender {
    /// A mender of the answer to one request; none mends nothing. With `is_buffered` nothing passes before the answer is whole, so
    /// that another model can take over at any time.
    pub fn new(writer: StreamWriter, mender: Option<&AnswerMender<'_>>, is_buffered: bool) -> Self {
        let mode = match mender {
            Some(mender) if mender.wants_json() => GateMode::Everything,
            Some(mender) if mender.offers_tools() => GateMode::Calls,
            Some(_) | None => GateMode::Nothing,
        };
        Self {
            writer,
            gate: TextGate::new(mode),
            held: Vec::new(),
            held_text: String::new(),
            before_call: Vec::new(),
            passed_text: String::new(),
            is_closed: is_buffered,
            has_calls: false,
            has_passed: false,
        }
    }

    /// Whether a part of the answer was passed on, so that no other answer can take its place.
    pub fn has_passed(&self) -> bool {
        self.has_passed
    }

    /// Takes an event of a server with the same API, and returns what can be passed on now. Events without content wait for the
    /// next that has some: until then another model may take over.
    pub fn event(&mut self, event: RawEvent<'_>) -> Vec<u8> {
        // Without tools and JSON nothing is mended: all passes from the first content on.
        let is_open = self.gate.is_open();
        let is_first_call = event.has_calls && !std::mem::replace(&mut self.has_calls, true);
        if is_first_call && !is_open && !self.gate.holds() {
            self.before_call = std::mem::take(&mut self.held);
            self.passed_text.push_str(&std::mem::take(&mut self.held_text));
        }
        self.held.extend_from_slice(event.bytes);
        self.held_text.push_str(event.text);
        self.gate.push(event.text);
        self.is_closed |= event.has_calls && !is_open;
        let has_content = event.has_reasoning || !event.text.is_empty();
        let may_pass = has_content || (is_open && (self.has_passed || event.has_calls));
        if self.is_closed || !may_pass || self.gate.holds() {
            return Vec::new();
        }
        self.has_passed = true;
        self.passed_text.push_str(&std::mem::take(&mut self.held_text));
        let passed = std::mem::take(&mut self.held);
        self.writer.observe(&passed);
        passed
    }

    /// Takes a piece of an answer in another API, and returns what can be passed on now.
    pub fn delta(&mut self, delta: Delta<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        match delta {
            Delta::Text(text) if !self.is_closed => {
                let passed = self.gate.push(text);
                if !passed.is_empty() {
                    self.passed_text.push_str(passed);
                    self.writer.text(passed, &mut out);
                }
            }
            Delta::Reasoning(text) if !self.is_closed && !self.gate.holds() => self.writer.reasoning(text, &mut out),
            Delta::ToolCall { .. } => self.is_closed = true,
            Delta::Text(_) | Delta::Reasoning(_) => {}
        }
        self.has_passed |= !out.is_empty();
        out
    }

    /// Ends the stream with the mended answer, and returns what is left to pass on. `was_raw` says that the answer came as events of a
    /// server with the same API.
    pub fn end(&mut self, mended: &MendedAnswer, was_raw: bool) -> Vec<u8> {
        let note = note(mended);
        let mut out = std::mem::take(&mut self.before_call);
        self.writer.observe(&out);
        if was_raw && mended.changes.is_empty() {
            comment(note.as_deref(), &mut out);
            out.append(&mut self.held);
            return out;
        }
        let rest = self.rest(&mended.answer.text).to_owned();
        self.writer.finish(&mended.answer, &rest, note.as_deref(), &mut out);
        out
    }

    /// The text that was not passed on. Calls were taken out of it, and the space around them.
    fn rest<'a>(&self, text: &'a str) -> &'a str {
        let passed = self.passed_text.as_str();
        text.strip_prefix(passed).or_else(|| text.strip_prefix(passed.trim())).unwrap_or_default()
    }
}

/// What the caller is told about an answer; none if there is nothing to tell.
fn note(mended: &MendedAnswer) -> Option<String> {
    let changes = (!mended.changes.is_empty()).then(|| format!("x-reknit-mended: {}", mended.changes.join("; ")));
    let doubts = (!mended.doubts.is_empty()).then(|| format!("x-reknit-unmended: {}", mended.doubts.join("; ")));
    let left =
        (!mended.left_as_text.is_empty()).then(|| format!("x-reknit-left-as-text: {}", mended.left_as_text.join("; ")));
    let skipped = match mended.answer.skipped_events {
        0 => None,
        count => Some(format!("x-reknit-unmended: {count} unreadable events of the stream were left out")),
    };
    let notes: Vec<String> = changes.into_iter().chain(doubts).chain(left).chain(skipped).collect();
    (!notes.is_empty()).then(|| notes.join(" | "))
}
