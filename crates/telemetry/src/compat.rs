//! Label names that the dashboards of the systems that Reknit grew from know. They stay, whatever they hold.

/// Holds the purpose of a question to a model. The label `purpose` has the same value.
pub(crate) const PROVIDER: &str = "provider";
/// Holds the name of a tool.
pub(crate) const AGENT: &str = "agent";
