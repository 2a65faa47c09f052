//! Why a request cannot be made.

/// Why a request cannot be made from parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error("the parameter `{parameter}` is missing")]
    Missing { parameter: String },
    #[error("there is no parameter `{parameter}`")]
    Unknown { parameter: String },
    #[error("the parameter `{parameter}` cannot be sent in the style {style}: {reason}")]
    NotRepresentable { parameter: String, style: &'static str, reason: &'static str },
    /// A value would leave a segment of the path empty, which can lead to another operation.
    #[error("the parameter `{parameter}` is empty, but is part of the path")]
    EmptyPathParameter { parameter: String },
    /// The path would have a segment `.` or `..`, which leads to another place.
    #[error("the path `{path}` would lead to another place")]
    PathTraversal { path: String },
    /// A value has characters that a header cannot have, such as line breaks.
    #[error("the parameter `{parameter}` has characters that a header cannot have")]
    InvalidHeader { parameter: String },
    #[error("the parameter `{parameter}` has a key `{key}` that another parameter is sent under")]
    NameClash { parameter: String, key: String },
}

impl RenderError {
    pub(super) fn not_representable(parameter: &str, style: &'static str, reason: &'static str) -> Self {
        Self::NotRepresentable { parameter: parameter.to_owned(), style, reason }
    }
}
