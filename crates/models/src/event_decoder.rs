//! Decoding of the bytes of a stream into events, in the framing of each wire format.

pub(crate) mod frames;

use std::collections::VecDeque;

use frames::FrameDecoder;

use crate::sse::SseBlocks;

/// Incremental decoder. How the bytes are split into chunks makes no difference.
#[derive(Debug)]
pub(crate) enum EventDecoder {
    ServerSentEvents(SseBlocks),
    /// One JSON value on each line.
    Lines(LineDecoder),
    /// Binary frames of AWS.
    Frames(FrameDecoder),
}

impl EventDecoder {
    /// Adds the next chunk; none ends the stream, and what is left may be the last event.
    pub(crate) fn feed(&mut self, chunk: Option<&[u8]>) {
        match (self, chunk) {
            (Self::ServerSentEvents(blocks), Some(bytes)) => blocks.feed(bytes),
            (Self::ServerSentEvents(blocks), None) => blocks.end(),
            (Self::Lines(decoder), Some(bytes)) => decoder.feed(bytes),
            (Self::Lines(decoder), None) => decoder.end(),
            (Self::Frames(decoder), Some(bytes)) => decoder.feed(bytes),
            (Self::Frames(_), None) => {}
        }
    }

    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::ServerSentEvents(blocks) => blocks.next_data(),
            Self::Lines(decoder) => decoder.ready.pop_front(),
            Self::Frames(decoder) => decoder.ready.pop_front(),
        }
    }
}

/// Extracts the lines that are not blank.
#[derive(Debug, Default)]
pub(crate) struct LineDecoder {
    line: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
}

impl LineDecoder {
    fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, tail) = rest.split_at(end);
            self.line.extend_from_slice(line);
            self.end();
            rest = tail.get(1..).unwrap_or_default();
        }
        self.line.extend_from_slice(rest);
    }

    /// Ends a line. The last one counts even without a line feed.
    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.ready.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_an_event_however_it_is_split() {
        let stream = b"{\"a\":1}\r\n\n {\"b\":2}\n{\"c\":3}";
        for size in [1, 4, stream.len()] {
            let mut lines = LineDecoder::default();
            stream.chunks(size).for_each(|chunk| lines.feed(chunk));
            lines.end();
            let found: Vec<String> =
                std::iter::from_fn(|| lines.ready.pop_front()).map(|line| String::from_utf8(line).unwrap()).collect();
            assert_eq!(found, ["{\"a\":1}\r", " {\"b\":2}", "{\"c\":3}"]);
        }
    }
}
