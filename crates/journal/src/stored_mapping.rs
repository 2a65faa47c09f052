//! Mappings that runs learned, for later runs.

/// Where a run found a value for a parameter that its plan left open. A newer mapping replaces an older one for the same
/// producer, consumer and parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMapping {
    /// The capability whose answer had the value.
    pub producer: String,
    /// The capability whose parameter took the value.
    pub consumer: String,
    /// The parameter.
    pub parameter: String,
    /// The expression that finds the value in the answer, returned byte for byte.
    pub expression: String,
}
