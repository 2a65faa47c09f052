//! Events of streams that are passed on as they are.

/// An event of a stream, as it was received, or several that arrived together and add nothing but text.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'a> {
    /// All of its bytes, with the empty line at the end.
    pub bytes: &'a [u8],
    /// The text of the answer that it adds.
    pub text: &'a str,
    /// Whether it adds to the reasoning.
    pub has_reasoning: bool,
    /// Whether it adds to tool calls.
    pub has_calls: bool,
}
