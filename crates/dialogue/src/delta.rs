//! A piece of an answer that is still coming.

/// A piece of an answer that is still coming. All pieces of a kind, put together, are that part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Words of the answer.
    Text(&'a str),
    /// Words of the model's reasoning.
    Reasoning(&'a str),
    /// A piece of a call of a tool.
    ToolCall {
        /// Which call of the answer, from 0.
        index: usize,
        /// The tool, with the first piece of the call.
        name: Option<&'a str>,
        /// More of the arguments.
        arguments: &'a str,
    },
}
