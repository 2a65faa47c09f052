//! Methods of HTTP.

use crate::{SideEffect, word_enum};

word_enum! {
    /// The method of an HTTP request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum HttpMethod {
        /// Reads.
        Get = "get",
        /// Replaces.
        Put = "put",
        /// Adds, or does anything else.
        Post = "post",
        /// Removes.
        Delete = "delete",
        /// Asks what is possible.
        Options = "options",
        /// Reads the headers only.
        Head = "head",
        /// Changes a part.
        Patch = "patch",
        /// Returns the request.
        Trace = "trace",
    }
}

impl HttpMethod {
    /// The class of side effect of a request with this method, if nothing else is known.
    pub fn side_effect(self) -> SideEffect {
        match self {
            Self::Get | Self::Head | Self::Options | Self::Trace => SideEffect::Read,
            Self::Put | Self::Delete => SideEffect::Idempotent,
            Self::Post | Self::Patch => SideEffect::Unsafe,
        }
    }
}
