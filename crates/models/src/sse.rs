//! A stream of events, cut out of bytes as they arrive.
//!
//! Linear in the bytes, whatever the pieces they come in, and nothing is decoded here: an event that is not valid text
//! is that event's problem and not the stream's.

use std::collections::VecDeque;

/// Cuts bytes into the data of events. Names, ids and comments are dropped: the data says what it is.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// The lines of data of the event so far, each with a line feed behind it.
    data: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
    /// The last byte was a carriage return: a line feed right behind it belongs to it.
    after_return: bool,
    /// The first line, which alone may begin with a byte order mark, is behind us.
    begun: bool,
}

impl Events {
    /// Takes the next piece.
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
                [b'\r', b'\n', behind @ ..] | [_, behind @ ..] => behind,
                [] => tail,
            };
            self.after_return = tail == b"\r";
        }
        self.line.extend_from_slice(rest);
    }

    /// Nothing will follow: what stands there is the last event, even without the empty line behind it.
    pub(crate) fn end(&mut self) {
        self.end_line();
        self.end_event();
    }

    /// The next whole event.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    fn end_line(&mut self) {
        let mark = if self.begun { "" } else { "\u{feff}" };
        self.begun = true;
        let line = self.line.strip_prefix(mark.as_bytes()).unwrap_or(&self.line);
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

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in pieces {
            events.feed(piece);
            found.extend(std::iter::from_fn(|| events.next()));
        }
        events.end();
        found.extend(std::iter::from_fn(|| events.next()));
        found.into_iter().map(|data| String::from_utf8_lossy(&data).into_owned()).collect()
    }

    #[test]
    fn events_are_found_in_every_form_they_come_in() {
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
            assert_eq!(read([stream.as_bytes()]), expected, "{stream:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_spoil_their_own_event_only() {
        assert_eq!(read([&b"data: \xff\n\ndata: b\n\n"[..]]), ["\u{fffd}", "b"]);
    }

    #[test]
    fn a_cut_anywhere_changes_nothing() {
        let stream = "\u{feff}data: a\r\ndata: é\r\n\r\ndata: c\r\rdata: d\n\n".as_bytes();
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(read([left, right]), ["a\né", "c", "d"], "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(
            stream in "(data: ?|[a-z:é \u{feff}]{0,3}|\r\n|\n|\r){0,20}",
            cuts in prop::collection::vec(0..60_usize, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(read(pieces), read([bytes]));
        }
    }
}
