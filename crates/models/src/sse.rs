//! Server-sent events: the bytes of each event of a stream, and the data in them.
//!
//! Linear in the number of bytes, however they are split into chunks. Data is bytes: whoever reads it decides about an event
//! that is not valid UTF-8.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

/// Splits a stream after each empty line. No byte is lost or changed.
#[derive(Debug, Default)]
pub(crate) struct SseBlocks {
    bytes: Vec<u8>,
    /// Up to here the events were returned.
    taken: usize,
    /// Up to here there is no end of an event.
    searched: usize,
    ended: bool,
}

impl SseBlocks {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends the stream: what is left is the last event.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// The place of the next complete event, with the empty line that ends it. It follows the one before.
    pub(crate) fn next(&mut self) -> Option<Range<usize>> {
        let end = match self.find_end() {
            Some(end) => end,
            None if self.ended && self.taken < self.bytes.len() => self.bytes.len(),
            None => return None,
        };
        self.searched = end;
        Some(std::mem::replace(&mut self.taken, end)..end)
    }

    /// The bytes at a place, until the next chunk.
    pub(crate) fn bytes(&self, place: Range<usize>) -> &[u8] {
        self.bytes.get(place).unwrap_or_default()
    }

    /// The data of the next complete event that has data.
    pub(crate) fn next_data(&mut self) -> Option<Vec<u8>> {
        loop {
            let place = self.next()?;
            if let Some(data) = event_data(self.bytes(place)) {
                return Some(data.into_owned());
            }
        }
    }

    /// The place after the next empty line.
    fn find_end(&mut self) -> Option<usize> {
        while let Some(tail) = self.bytes.get(self.searched..) {
            let Some(at) = memchr2(b'\n', b'\r', tail).map(|at| self.searched + at) else {
                self.searched = self.bytes.len();
                return None;
            };
            let first = line_end(self.bytes.get(at..).unwrap_or_default());
            let second = line_end(self.bytes.get(at + first..).unwrap_or_default());
            match self.bytes.get(at + first + second..) {
                // The rest of the empty line, or of its end, may be in the next chunk.
                Some([]) if !self.ended && (second == 0 || self.bytes.ends_with(b"\r")) => {
                    self.searched = at;
                    return None;
                }
                _ if second > 0 => return Some(at + first + second),
                _ => self.searched = at + first,
            }
        }
        None
    }
}

/// The length of the line end at the beginning.
fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// The data of an event; none if it has no data. Event names, ids and comments are dropped.
pub(crate) fn event_data(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    // Nearly all events have one line.
    let single = event.strip_prefix(b"data: ").and_then(|event| event.strip_suffix(b"\n\n"));
    if let Some(line) = single.filter(|line| memchr2(b'\n', b'\r', line).is_none()) {
        return Some(Cow::Borrowed(line));
    }
    let lines = event.strip_prefix("\u{feff}".as_bytes()).unwrap_or(event).split(|byte| matches!(byte, b'\n' | b'\r'));
    let values = lines.filter_map(|line| line.strip_prefix(b"data:"));
    let values: Vec<&[u8]> = values.map(|value| value.strip_prefix(b" ").unwrap_or(value)).collect();
    (!values.is_empty()).then(|| values.join(&b'\n').into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(
        chunks: impl IntoIterator<Item = &'a [u8]>,
        next: impl Fn(&mut SseBlocks) -> Option<Vec<u8>>,
    ) -> Vec<Vec<u8>> {
        let mut events = SseBlocks::default();
        let mut found = Vec::new();
        for chunk in chunks {
            events.feed(chunk);
            found.extend(std::iter::from_fn(|| next(&mut events)));
        }
        events.end();
        found.extend(std::iter::from_fn(|| next(&mut events)));
        found
    }

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let next = |events: &mut SseBlocks| events.next_data();
        read(chunks, next).iter().map(|event| String::from_utf8_lossy(event).into_owned()).collect()
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
    fn events_are_split_after_empty_lines_whatever_the_line_ends_and_chunks_are() {
        for expected in [
            ["data: a\n\n", ": note\n\n", "event: x\ndata: b\n\n"],
            ["data: a\r\n\r\n", ": note\r\n\r\n", "data: b\r\n\r\n"],
            ["data: a\r\r", "data: b\r\r", "data: c"],
        ] {
            let whole = expected.concat();
            for size in [whole.len(), 1] {
                let next = |events: &mut SseBlocks| events.next().map(|place| events.bytes(place).to_vec());
                assert_eq!(read(whole.as_bytes().chunks(size), next), expected.map(str::as_bytes));
            }
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
