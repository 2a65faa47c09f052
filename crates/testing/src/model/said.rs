//! What a model says besides words.

use crate::Reply;

impl Reply {
    /// The model calls this tool, without a word. The arguments are written as given, be they JSON or not.
    pub fn calling(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::text("").call(name, arguments)
    }

    /// The model calls this tool as well.
    #[must_use]
    pub fn call(mut self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.calls.push((name.into(), arguments.into()));
        self
    }

    /// The model thinks this first.
    #[must_use]
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = text.into();
        self
    }
}
