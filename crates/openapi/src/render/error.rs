//! Why a request cannot be made.

/// Why a request cannot be made from parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A required parameter has no value.
    #[error("the parameter `{parameter}` is missing")]
    Missing {
        /// The name of the parameter.
        parameter: String,
    },
    /// The operation has no such parameter.
    #[error("there is no parameter `{parameter}`")]
    Unknown {
        /// The name that was given.
        parameter: String,
    },
    /// The value has no form in the style of the parameter.
    #[error("the parameter `{parameter}` cannot be sent in the style {style}: {reason}")]
    NotRepresentable {
        /// The name of the parameter.
        parameter: String,
        /// The style.
        style: &'static str,
        /// What the style cannot express.
        reason: &'static str,
    },
    /// A value would leave a segment of the path empty, which can lead to another operation.
    #[error("the parameter `{parameter}` is empty, but is part of the path")]
    EmptyPathParameter {
        /// The name of the parameter.
        parameter: String,
    },
    /// The path would have a segment `.` or `..`, which leads to another place.
    #[error("the path `{path}` would lead to another place")]
    PathTraversal {
        /// The path that is not sent.
        path: String,
    },
    /// A value has characters that a header cannot have, such as line breaks.
    #[error("the parameter `{parameter}` has characters that a header cannot have")]
    InvalidHeader {
        /// The name of the parameter.
        parameter: String,
    },
    /// Two parameters would be sent under the same name.
    #[error("the parameter `{parameter}` has a key `{key}` that another parameter is sent under")]
    NameClash {
        /// The name of the parameter.
        parameter: String,
        /// The name that is sent.
        key: String,
    },
}

impl RenderError {
    pub(super) fn not_representable(parameter: &str, style: &'static str, reason: &'static str) -> Self {
        Self::NotRepresentable { parameter: parameter.to_owned(), style, reason }
    }
}
