//! Errors as text.

/// An error and its causes on one line.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
