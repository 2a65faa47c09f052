//! The pieces of an answer, while several may try to give it.

use reknit_dialogue::{Answer, Delta};

/// A piece of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// More of the answer.
    More {
        /// By which attempt, from 1. Only attempts that were really made count.
        attempt: u32,
        /// What there is more of.
        delta: Delta<'a>,
    },
    /// All that came so far is void: that attempt broke off, and the answer begins again.
    Restarted {
        /// By which attempt it begins again.
        attempt: u32,
    },
}

/// How pieces are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stream {
    /// As they come. An attempt that breaks off in the middle is followed by [`Piece::Restarted`].
    #[default]
    Live,
    /// Held back until the answer is whole: nobody sees a part that becomes void. What comes then is one piece for each
    /// part of the answer.
    Hold,
}

/// Passes pieces on.
pub(super) struct Sink<'a> {
    stream: Stream,
    on_piece: &'a mut (dyn FnMut(Piece<'_>) + Send),
    attempt: u32,
    /// Whether something was passed on that counts.
    seen: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(stream: Stream, on_piece: &'a mut (dyn FnMut(Piece<'_>) + Send)) -> Self {
        Self { stream, on_piece, attempt: 0, seen: false }
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self) {
        self.attempt += 1;
        if std::mem::take(&mut self.seen) {
            (self.on_piece)(Piece::Restarted { attempt: self.attempt });
        }
    }

    pub(super) fn pass(&mut self, delta: Delta<'_>) {
        if self.stream == Stream::Live {
            self.seen = true;
            (self.on_piece)(Piece::More { attempt: self.attempt, delta });
        }
    }

    /// The answer is whole.
    pub(super) fn finish(&mut self, answer: &Answer) {
        if self.stream == Stream::Live {
            return;
        }
        let attempt = self.attempt;
        let mut pass = |delta| (self.on_piece)(Piece::More { attempt, delta });
        for thought in answer.reasoning.iter().filter(|thought| !thought.text.is_empty()) {
            pass(Delta::Reasoning(&thought.text));
        }
        if !answer.text.is_empty() {
            pass(Delta::Text(&answer.text));
        }
        for (index, call) in answer.tool_calls.iter().enumerate() {
            pass(Delta::ToolCall { index, name: Some(&call.name), arguments: &call.arguments });
        }
    }
}
