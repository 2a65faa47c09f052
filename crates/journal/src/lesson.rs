//! What runs learn from each other.

/// Where a value was found that a plan had left open. A new one takes the place of an older one for the same parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Whose answer had it.
    pub producer: String,
    /// Whose parameter it is.
    pub consumer: String,
    /// The parameter.
    pub parameter: String,
    /// Where it was, given back byte for byte.
    pub expression: String,
}
