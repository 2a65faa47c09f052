//! The parts of an answer that several attempts may stream.

use reknit_model_api::{Delta, ModelAnswer};

/// An item in the stream of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamItem<'a> {
    Delta {
        /// The attempt that it belongs to, from 1. An attempt that an open breaker prevented does not count.
        attempt: u32,
        delta: Delta<'a>,
    },
    /// The attempt failed after a part of its answer had been passed on. Discard all earlier items: the answer starts over.
    Restarted {
        /// The attempt with which it starts over.
        attempt: u32,
    },
}

/// When the parts of an answer are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamMode {
    /// As they arrive. If an attempt fails in the middle of its answer, [`StreamItem::Restarted`] follows.
    #[default]
    Live,
    /// Once the answer is complete, so that nothing is ever discarded. Each thought, the text and each tool call is then one
    /// item.
    Buffered,
}

/// Writes the items of a stream.
pub(super) struct StreamWriter<'a> {
    mode: StreamMode,
    on_item: &'a mut (dyn FnMut(StreamItem<'_>) + Send),
    attempt: u32,
    /// Whether parts of the current attempt were written.
    has_written: bool,
}

impl<'a> StreamWriter<'a> {
    pub(super) fn new(mode: StreamMode, on_item: &'a mut (dyn FnMut(StreamItem<'_>) + Send)) -> Self {
        Self { mode, on_item, attempt: 0, has_written: false }
    }

    pub(super) fn start_attempt(&mut self) {
        self.attempt += 1;
        if std::mem::take(&mut self.has_written) {
            (self.on_item)(StreamItem::Restarted { attempt: self.attempt });
        }
    }

    pub(super) fn write(&mut self, delta: Delta<'_>) {
        if self.mode == StreamMode::Live {
            self.has_written = true;
            (self.on_item)(StreamItem::Delta { attempt: self.attempt, delta });
        }
    }

    /// Writes the complete answer, unless its parts were written live.
    pub(super) fn finish(&mut self, answer: &ModelAnswer) {
        if self.mode == StreamMode::Live {
            return;
        }
        let attempt = self.attempt;
        let mut write = |delta| (self.on_item)(StreamItem::Delta { attempt, delta });
        for thought in answer.reasoning.iter().filter(|thought| !thought.text.is_empty()) {
            write(Delta::Reasoning(&thought.text));
        }
        if !answer.text.is_empty() {
            write(Delta::Text(&answer.text));
        }
        for (index, call) in answer.tool_calls.iter().enumerate() {
            write(Delta::ToolCall { index, name: Some(&call.name), arguments: &call.arguments });
        }
    }
}
