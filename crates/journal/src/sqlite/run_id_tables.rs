//! The tables with which the id of a run outlives what it did. A text of its own: a new file and an older one get them in the same
//! way.

/// `run_requests` has the digest of the request of each run in `runs`.
pub(crate) const RUN_ID_TABLES: &str = "
CREATE TABLE run_requests (
    run    INTEGER PRIMARY KEY,
    digest TEXT    NOT NULL
) STRICT;
";
