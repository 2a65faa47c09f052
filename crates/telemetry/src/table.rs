//! The table of all signals.

/// Defines signals as `NAME: number of attributes = definition;`, and a list of all of them.
macro_rules! definitions {
    ($list:ident: $($name:ident: $attributes:literal = $definition:expr;)*) => {
        $(pub(crate) static $name: Definition<$attributes> = $definition;)*
        pub(crate) static $list: &[crate::table_entry::TableEntry] = &[$($name.entry()),*];
    };
}

pub(crate) mod events;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod session;
pub(crate) mod spans;

use crate::table_entry::TableEntry;

/// The label `module` of a run's metrics.
pub(crate) const ORCHESTRATION: &str = "orchestration";
/// The label `module` of a session's metrics.
pub(crate) const AGENT: &str = "agent";

/// The table of all signals: spans, span events, metrics, then log lines.
pub fn table() -> Vec<TableEntry> {
    [spans::ALL, events::ALL, metrics::ALL, session::METRICS, logs::ALL, session::LOGS].concat()
}
