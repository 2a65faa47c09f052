//! Pieces of a streamed answer, and events that are passed on as they are.

/// A piece of a streamed answer. All pieces of a variant, concatenated, are that part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    Text(&'a str),
    Reasoning(&'a str),
    ToolCall {
        /// The index of the call in the answer, from 0.
        index: usize,
        name: Option<&'a str>,
        arguments: &'a str,
    },
}

/// An event of a stream, as it was received, or several that arrived together and add nothing but text.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'a> {
    /// All of its bytes, with the empty line at the end.
    pub bytes: &'a [u8],
    pub text: &'a str,
    pub has_reasoning: bool,
    pub has_calls: bool,
}
