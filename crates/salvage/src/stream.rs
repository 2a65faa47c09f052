//! Reading a text that arrives in chunks.

mod partial;
mod scanner;

use crate::{ReadOptions, ReadTextError, Reading, Schema, read, read_as};
pub use partial::{PartialReading, PartialState};
use scanner::Scanner;

/// Reads a text that arrives in chunks, and shows what it says so far.
///
/// [`Reader::finish`] returns the same as [`read`] of the whole text, whatever the chunks. Until then, [`Reader::partial`] returns
/// the part of the value that was read, and where it may still change. All chunks together take time in proportion to the text.
///
/// Chunks may end inside of a character. Bytes that are not UTF-8 become U+FFFD, as in [`String::from_utf8_lossy`].
#[derive(Debug, Default)]
pub struct Reader {
    options: ReadOptions,
    text: String,
    /// The beginning of a character whose other bytes have not arrived.
    unfinished: Vec<u8>,
    /// The size of the text, including what was dropped because the text is too large.
    size: usize,
    scanner: Scanner,
}

/// The result of [`Reader::finish`].
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedReading {
    /// What [`read`] returns for the whole text.
    pub reading: Reading,
    /// Whether every part that was reported as complete is in the value as it was reported. It is not if the text goes on after
    /// the value with another answer, repeats a key, or is damaged so that all of it had to be read in another way.
    pub confirms_partial: bool,
}

impl Reader {
    pub fn new(options: ReadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds the next chunk of the text.
    pub fn push(&mut self, chunk: impl AsRef<[u8]>) {
        let before = self.text.len();
        let mut bytes = chunk.as_ref();
        // The next bytes finish the unfinished character, or show that it is none.
        while !self.unfinished.is_empty()
            && let [next, rest @ ..] = bytes
        {
            self.unfinished.push(*next);
            bytes = rest;
            let joined = std::mem::take(&mut self.unfinished);
            self.decode(&joined);
        }
        self.decode(bytes);
        self.size += self.text.len() - before;
        if self.size > self.options.max_bytes {
            self.text.truncate(before);
        } else {
            self.scanner.advance(&self.text);
        }
    }

    /// Appends bytes to the text, except for an unfinished character at their end.
    fn decode(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let is_last = std::ptr::eq(invalid.as_ptr_range().end, bytes.as_ptr_range().end);
            let is_unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if is_last && is_unfinished {
                self.unfinished = invalid.to_vec();
            } else {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// What the text says so far; `None` as long as no array or object has begun.
    pub fn partial(&self) -> Option<PartialReading<'_>> {
        self.scanner.partial()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn finish(mut self) -> Result<FinishedReading, ReadTextError> {
        self.end_text()?;
        let reading = read(&self.text, &self.options)?;
        let confirms_partial = self.partial().is_none_or(|partial| partial.is_confirmed_by(&reading.value));
        Ok(FinishedReading { reading, confirms_partial })
    }

    /// Reads the whole text and makes its value fit a schema, like [`read_as`]. A partial reading is not fitted.
    pub fn finish_as(mut self, schema: &Schema) -> Result<Reading, ReadTextError> {
        self.end_text()?;
        read_as(&self.text, schema)
    }

    fn end_text(&mut self) -> Result<(), ReadTextError> {
        if !std::mem::take(&mut self.unfinished).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            self.size += char::REPLACEMENT_CHARACTER.len_utf8();
        }
        if self.size > self.options.max_bytes {
            return Err(ReadTextError::TooLarge { size: self.size, limit: self.options.max_bytes });
        }
        Ok(())
    }
}
