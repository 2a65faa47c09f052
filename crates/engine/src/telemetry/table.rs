//! Every name that is told, in one table.

pub(crate) mod events;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod session;
pub(crate) mod spans;

use super::entry::Name;

/// The value of the label `module` for all that a run tells.
pub(crate) const ORCHESTRATION: &str = "orchestration";
/// The same for a session.
pub(crate) const AGENT: &str = "agent";

/// Every name that is told: spans, then what happens in them, then metrics, then lines.
pub fn table() -> Vec<Name> {
    [spans::ALL, events::ALL, metrics::ALL, session::METRICS, logs::ALL, session::LOGS].concat()
}
