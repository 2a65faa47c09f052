//! A piece of a streamed answer.

/// A piece of a streamed answer. All pieces of a variant, concatenated, are that part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of the answer's text.
    Text(&'a str),
    /// More of the model's reasoning.
    Reasoning(&'a str),
    /// A piece of a tool call.
    ToolCall {
        /// The index of the call in the answer, from 0.
        index: usize,
        /// The name of the tool, in the first piece of the call.
        name: Option<&'a str>,
        /// More of the arguments' text.
        arguments: &'a str,
    },
}
