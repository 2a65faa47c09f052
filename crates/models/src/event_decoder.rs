//! Decoding of the bytes of a stream into events, in the framing of each wire format.

pub(crate) mod frames;
mod lines;

use frames::FrameDecoder;
use lines::LineDecoder;

use crate::sse::SseDecoder;

/// How the events of a stream follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    ServerSentEvents,
    /// One JSON value on each line.
    Lines,
    /// Binary frames of AWS.
    Frames,
}

/// Incremental decoder. How the bytes are split into chunks makes no difference.
#[derive(Debug)]
pub(crate) enum EventDecoder {
    ServerSentEvents(SseDecoder),
    Lines(LineDecoder),
    Frames(FrameDecoder),
}

impl EventDecoder {
    /// A decoder for this framing.
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::ServerSentEvents => Self::ServerSentEvents(SseDecoder::default()),
            Framing::Lines => Self::Lines(LineDecoder::default()),
            Framing::Frames => Self::Frames(FrameDecoder::default()),
        }
    }

    /// Adds the next chunk.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        match self {
            Self::ServerSentEvents(decoder) => decoder.feed(bytes),
            Self::Lines(decoder) => decoder.feed(bytes),
            Self::Frames(decoder) => decoder.feed(bytes),
        }
    }

    /// Ends the stream.
    pub(crate) fn end(&mut self) {
        match self {
            Self::ServerSentEvents(decoder) => decoder.end(),
            Self::Lines(decoder) => decoder.end(),
            Self::Frames(_) => {}
        }
    }

    /// The next complete event.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::ServerSentEvents(decoder) => decoder.next(),
            Self::Lines(decoder) => decoder.next(),
            Self::Frames(decoder) => decoder.next(),
        }
    }
}
