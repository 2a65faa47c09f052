//! A limit for the size of single events in an event stream.

use futures_util::{Stream, StreamExt as _};

/// Why the events of a server are not read any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EventStreamError {
    #[error("an event is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the connection broke")]
    Broken(#[source] reqwest::Error),
}

/// The bytes of an event stream, which ends with an error if an event is too large.
pub(crate) fn limit_events<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = Result<B, reqwest::Error>>,
    limit: usize,
) -> impl Stream<Item = Result<B, EventStreamError>> {
    let mut event = EventSize::default();
    bytes.map(move |chunk| {
        let chunk = chunk.map_err(EventStreamError::Broken)?;
        if event.largest_after(chunk.as_ref()) > limit { Err(EventStreamError::TooLarge(limit)) } else { Ok(chunk) }
    })
}

/// How many bytes of the current event were read. An empty line ends an event.
#[derive(Debug, Default)]
struct EventSize {
    bytes: usize,
    line_is_empty: bool,
}

impl EventSize {
    /// Reads more bytes. Returns the size of the largest event in them.
    fn largest_after(&mut self, chunk: &[u8]) -> usize {
        let mut largest = self.bytes;
        for byte in chunk {
            self.bytes += 1;
            largest = largest.max(self.bytes);
            match byte {
                b'\n' if self.line_is_empty => self.bytes = 0,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_an_event() {
        for (chunks, expected) in [
            (&["data: abc\n\n", "data: d\n\n"][..], 11),
            (&["data: abc\r\n", "\r\ndata: d\r\n\r\n"], 13),
            (&["data: a\ndata: b\n", "\n"], 17),
            (&["xxxxx", "xxxxx", "xxxxx"], 15),
        ] {
            let mut size = EventSize::default();
            let largest = chunks.iter().map(|chunk| size.largest_after(chunk.as_bytes())).max();
            assert_eq!(largest, Some(expected), "case: {chunks:?}");
        }
    }
}
