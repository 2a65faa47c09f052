//! The lines of the input, one in memory at a time.

use std::io::{self, BufRead, BufReader, Read};

use reknit_salvage::ReadOptions;

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number in the input, from 1.
    pub(super) number: usize,
    pub(super) content: Content<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Bytes(&'a [u8]),
    /// The line is longer than this limit and was skipped.
    TooLong(usize),
}

/// Reads an input line by line.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    bytes: Vec<u8>,
    number: usize,
    limit: usize,
}

impl<R: Read> Lines<R> {
    /// The limit of a line is that of a text.
    pub(super) fn new(input: BufReader<R>) -> Self {
        Self { input, bytes: Vec::new(), number: 0, limit: ReadOptions::default().max_bytes }
    }

    /// The next line that is not blank; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.bytes.clear();
            let take = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
            if self.input.by_ref().take(take).read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.bytes.len() > self.limit && self.bytes.last() != Some(&b'\n') {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Line { number: self.number, content: Content::TooLong(self.limit) }));
            }
            if !self.bytes.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Line { number: self.number, content: Content::Bytes(self.bytes.trim_ascii_end()) }))
    }

    /// Whether the next line is not buffered, so that reading it may block.
    pub(super) fn may_block(&self) -> bool {
        self.input.buffer().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_when_long_or_blank_lines_are_skipped() {
        let input = "one\r\n\n  \nfour\n12345678\n123456789\nseven";
        let mut lines = Lines { limit: 8, ..Lines::new(BufReader::with_capacity(3, input.as_bytes())) };
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(match line.content {
                Content::Bytes(bytes) => format!("{}: {}", line.number, String::from_utf8_lossy(bytes)),
                Content::TooLong(limit) => format!("{}: longer than {limit}", line.number),
            });
        }
        assert_eq!(seen, ["1: one", "4: four", "5: 12345678", "6: longer than 8", "7: seven"]);
    }
}
