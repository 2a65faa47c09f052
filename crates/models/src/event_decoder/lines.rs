//! One JSON value on each line.

use std::collections::VecDeque;

/// Incremental decoder that extracts the lines that are not blank.
#[derive(Debug, Default)]
pub(crate) struct LineDecoder {
    line: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
}

impl LineDecoder {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
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
    pub(super) fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.ready.push_back(line);
        }
    }

    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
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
                std::iter::from_fn(|| lines.next()).map(|line| String::from_utf8(line).unwrap()).collect();
            assert_eq!(found, ["{\"a\":1}\r", " {\"b\":2}", "{\"c\":3}"]);
        }
    }
}
