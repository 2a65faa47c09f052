//! Splits a stream of server-sent events into the bytes of each event.

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
    /// Adds the next chunk.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(chunks: &[&str]) -> Vec<String> {
        let mut splitter = SseBlocks::default();
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk.as_bytes());
            found.extend(std::iter::from_fn(|| splitter.next().map(|place| splitter.bytes(place).to_vec())));
        }
        splitter.end();
        found.extend(std::iter::from_fn(|| splitter.next().map(|place| splitter.bytes(place).to_vec())));
        found.into_iter().map(|block| String::from_utf8(block).unwrap()).collect()
    }

    #[test]
    fn events_are_split_after_empty_lines_whatever_the_line_ends_and_chunks_are() {
        for expected in [
            &["data: a\n\n", ": note\n\n", "event: x\ndata: b\n\n"][..],
            &["data: a\r\n\r\n", ": note\r\n\r\n", "data: b\r\n\r\n"],
            &["data: a\r\r", "data: b"],
        ] {
            let whole = expected.concat();
            assert_eq!(blocks(&[&whole]), expected);
            let single: Vec<&str> = whole.split("").filter(|letter| !letter.is_empty()).collect();
            assert_eq!(blocks(&single), expected);
        }
    }
}
