//! Decoding of server-sent events.
//!
//! Linear in the number of bytes, however they are split into chunks. Events are bytes: whoever reads
//! them decides about one that is not valid UTF-8.

use std::collections::VecDeque;

/// Incremental decoder that extracts the data of each event. Event names, ids and comments are dropped.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    line: Vec<u8>,
    /// The data lines of the current event, each followed by a line feed.
    data: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
    /// The last byte was a carriage return; a line feed after it belongs to it.
    after_return: bool,
    /// The first line, which may begin with a byte order mark, is complete.
    past_first_line: bool,
}

impl SseDecoder {
    /// Adds the next chunk.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            self.line.extend_from_slice(line);
            self.end_line();
            rest = match tail {
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => tail,
            };
            self.after_return = tail == b"\r";
        }
        self.line.extend_from_slice(rest);
    }

    /// Ends the stream. The last event counts even without the empty line after it.
    pub(crate) fn end(&mut self) {
        self.end_line();
        self.end_event();
    }

    /// The data of the next complete event.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    fn end_line(&mut self) {
        let byte_order_mark = if self.past_first_line { "" } else { "\u{feff}" };
        self.past_first_line = true;
        let line = self.line.strip_prefix(byte_order_mark.as_bytes()).unwrap_or(&self.line);
        if line.is_empty() {
            self.end_event();
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.data.push(b'\n');
        }
        self.line.clear();
    }

    fn end_event(&mut self) {
        if self.data.pop().is_some() {
            self.ready.push_back(std::mem::take(&mut self.data));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut events = SseDecoder::default();
        let mut data = Vec::new();
        for chunk in chunks {
            events.feed(chunk);
            data.extend(std::iter::from_fn(|| events.next()));
        }
        events.end();
        data.extend(std::iter::from_fn(|| events.next()));
        data.into_iter().map(|event| String::from_utf8_lossy(&event).into_owned()).collect()
    }

    #[test]
    fn events_are_decoded_in_every_valid_notation() {
        for (stream, expected) in [
            ("data: a\n\ndata: b\n\n", &["a", "b"][..]),
            ("data:a\r\n\r\ndata:  b\r\r", &["a", " b"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            (": alive\n\n:\n\ndata: a\n\n", &["a"]),
            ("event: error\nid: 7\ndata: a\nretry: 3\n\n", &["a"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data\n\ndatabase: x\n\n", &[]),
            ("data: \n\n", &[""]),
            ("data: a\n\ndata: [DONE]", &["a", "[DONE]"]),
            ("", &[]),
        ] {
            assert_eq!(decode([stream.as_bytes()]), expected, "{stream:?}");
        }
    }

    #[test]
    fn invalid_utf8_affects_only_its_own_event() {
        assert_eq!(decode([&b"data: \xff\n\ndata: b\n\n"[..]]), ["\u{fffd}", "b"]);
    }

    proptest! {
        #[test]
        fn the_split_into_chunks_does_not_matter(
            stream in "(data: ?|[a-z:é \u{feff}]{0,3}|\r\n|\n|\r){0,20}",
            cuts in prop::collection::vec(0..60_usize, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(decode(chunks), decode([bytes]));
        }
    }
}
