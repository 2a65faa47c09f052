//! The table of all signals.

/// Defines signals as `NAME = kind, name, keys of the attributes;`, and a list of all of them. The doc comment of a signal
/// is its description in the documentation.
macro_rules! definitions {
    ($list:ident: $($(#[doc = $description:literal])+ $constant:ident = $kind:expr, $name:literal, $keys:expr;)*) => {
        $(
            pub(crate) static $constant: $crate::signal::Definition<{ $crate::signal::count(&$keys) }> =
                $crate::signal::Definition::new($kind, $name, &$keys, concat!($($description),+));
        )*
        pub(crate) static $list: &[$crate::table_entry::TableEntry] = &[$($constant.entry),*];
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
